"""Answers that wait for later rows."""

from __future__ import annotations

import json
from datetime import datetime

import numpy as np
from subadjacent.streaming.alarms import OPENED, LiveAlarm

from subadjacent.streaming.answer import Answer, Pending

ALARM = LiveAlarm(1, OPENED, "pump", 0, 0, 0, 0, 2.0, "spike", "flow jumped")
NONE = np.zeros(0)


def answer(row: int, alarm: LiveAlarm | None = None) -> Answer:
    channels = [np.full(2, row + part / 10) for part in range(4)]
    time = datetime(2026, 1, 31, 12, row)
    return Answer(row, time, "pump", False, 0.5, 1.5, True, 0.25, *channels, alarm)


def told(answers: list[Answer]) -> list[tuple[int, bool, bool]]:
    return [(one.row, one.final, one.alarm is not None) for one in answers]


def test_what_is_final_at_once_is_told_once_with_its_alarm() -> None:
    found = Pending().give([answer(0), answer(1, ALARM)], np.array([7.0, 8.0]), twice=False)
    assert told(found) == [(0, True, False), (1, True, True)]
    assert [one.score for one in found] == [7.0, 8.0]


def test_an_alarm_of_a_row_that_waited_is_not_told_again() -> None:
    pending = Pending()
    assert told(pending.give([answer(0, ALARM)], NONE, twice=False)) == [(0, False, True)]
    found = pending.give([answer(1, ALARM)], np.array([7.0, 8.0]), twice=False)
    assert told(found) == [(0, True, False), (1, True, True)]


def test_rows_that_come_while_others_wait_are_all_answered() -> None:
    pending = Pending()
    pending.give([answer(0), answer(1)], NONE, twice=False)
    found = pending.give([answer(2), answer(3), answer(4)], np.array([7.0]), twice=False)
    assert told(found) == [(0, True, False), *((row, False, False) for row in (2, 3, 4))]


def test_what_is_told_twice_has_its_alarm_with_the_first() -> None:
    found = Pending().give([answer(0, ALARM)], np.array([7.0]), twice=True)
    assert told(found) == [(0, False, True), (0, True, False)]


def test_rows_wait_on_after_a_stop_as_they_were() -> None:
    pending, again = Pending(), Pending()
    pending.give([answer(0), answer(1)], NONE, twice=True)
    arrays, facts = pending.state()
    again.restore(arrays, json.loads(json.dumps(facts)))
    final = np.array([7.0, 8.0])
    for one, other in zip(
        again.give([], final, twice=True), pending.give([], final, twice=True), strict=True
    ):
        for name in ("row", "time", "entity", "score", "severity", "anomalous", "warm_up"):
            assert getattr(one, name) == getattr(other, name)
        for name in ("by_channel", "expected", "low", "high"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert Pending().state()[1] == {"times": [], "entity": None}
