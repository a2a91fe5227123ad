"""When the next question is due."""

from __future__ import annotations

from subadjacent.service.watch.schedule import SAVE_EVERY, Schedule
from subadjacent.service.watch.settings import Query


def test_tries_get_rarer_up_to_one_a_minute_until_one_is_answered() -> None:
    schedule = Schedule(Query(name="q", expr="q"))
    waits = [schedule.failed() // 1_000 for _ in range(8)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert schedule.answered(90_000) == 30_000
    assert schedule.failed() == 1_000


def test_what_is_shown_lasts_five_rows_and_five_minutes() -> None:
    often = Schedule(Query(name="q", expr="q", step="1s", history="100s", offset="10s"))
    assert not often.too_old(1_310_000, 1_000_000)
    assert often.too_old(1_310_001, 1_000_000)
    assert often.too_old(1_310_001, None)
    seldom = Schedule(Query(name="q", expr="q", step="2m", history="1d"))
    assert not seldom.too_old(1_600_000, 1_000_000)
    assert seldom.too_old(1_600_001, 1_000_000)


def test_what_was_learned_is_kept_at_once_and_then_now_and_then() -> None:
    schedule = Schedule(Query(name="q", expr="q"))
    assert schedule.should_save(1_000)
    assert not schedule.should_save(1_000 + SAVE_EVERY - 1)
    assert schedule.should_save(1_000 + SAVE_EVERY)
    assert not schedule.should_save(1_000 + SAVE_EVERY + 1)
