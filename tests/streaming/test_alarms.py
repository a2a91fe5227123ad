"""An alarm opens once, is looked at again, closes after a quiet period, and may become normal."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from subadjacent.streaming.alarms import (
    CLOSED,
    OPENED,
    UPDATED,
    AlarmChange,
    AlarmRules,
    AlarmTracker,
    LiveAlarm,
    Severities,
    alarm_from_json,
    alarm_to_json,
)

from subadjacent import InputError
from subadjacent.scoring.causes import Cause


class Followed:
    """A keeper that is given severities, and all that it told."""

    def __init__(self, **rules: Any) -> None:
        self.keeper = AlarmTracker(AlarmRules(**rules))
        self.row = 0
        self.changes: list[AlarmChange] = []
        self.alarmed: list[bool] = []
        self.normal: list[bool] = []
        self.accepted: list[int] = []

    def push(self, severities: list[float], since: int = 0) -> Followed:
        """Rows one by one: each may be the last of a mini-batch."""
        for severity in severities:
            self.push_together([severity], since)
        return self

    def push_together(self, severities: list[float], since: int = 0, **options: bool) -> Followed:
        reported = np.array(severities, dtype=float)
        now = np.arange(self.row, self.row + len(reported), dtype=float)
        rows = Severities(reported, reported, np.full(len(reported), since), now)
        progress = self.keeper.follow(self.row, rows, **options)
        self.changes += progress.changes
        self.alarmed += progress.alarmed.tolist()
        self.normal += progress.normal.tolist()
        self.row += len(reported)
        if progress.accepted is not None:
            self.accepted.append(progress.accepted.first)
        return self

    @property
    def told(self) -> list[tuple[int, str]]:
        return [(change.row, change.state) for change in self.changes]


def test_an_alarm_opens_goes_on_through_a_lull_and_closes_after_the_quiet_period() -> None:
    found = Followed(close_after=3).push([0, 0.9, 1, 0.1, 0.1, 0.7, 0, 0, 0, 0, 0.9])
    assert found.told == [(2, OPENED), (3, UPDATED), (5, UPDATED), (8, CLOSED)]
    closed = found.changes[-1].event
    assert (closed.first, closed.last, closed.severity, closed.number) == (2, 5, 1.0, 1)
    assert np.flatnonzero(found.alarmed).tolist() == [2, 3, 4, 5, 6, 7]
    assert not found.changes[-1].permanent


def test_what_a_great_event_leaves_behind_is_no_part_of_it() -> None:
    # 0.4 of the worst, 5, is 2: 1.9 keeps it no longer, though 0.7 would keep an event of 1
    found = Followed(close_after=3).push([5, 2, 1.9, 1.9, 1.9])
    assert found.told[0] == (0, OPENED)
    assert found.told[-1] == (4, CLOSED)
    assert found.changes[-1].event.last == 1


def test_what_goes_on_is_looked_at_after_twice_the_time_or_at_twice_the_severity() -> None:
    found = Followed(adapt_after=None).push([1.0] * 70)
    assert found.told == [(0, OPENED), *((row, UPDATED) for row in (1, 3, 7, 15, 31, 63))]
    found = Followed().push([1, 1, 1, 1, 1, 1.9, 2.0, 3.9])
    assert found.told == [(0, OPENED), (1, UPDATED), (3, UPDATED), (6, UPDATED)]
    assert [change.event.severity for change in found.changes] == [1, 1, 1, 2]


def test_what_lasts_is_the_new_normal() -> None:
    found = Followed(adapt_after=5).push([1.0] * 6)
    assert found.told[-2:] == [(4, CLOSED), (5, OPENED)]
    assert found.changes[-2].permanent
    assert found.accepted == [0]


def test_what_lasts_is_accepted_at_the_end_of_a_block_only() -> None:
    found = Followed(adapt_after=5).push_together([1.0] * 7, may_accept=False)
    assert found.accepted == []
    found.push_together([1.0] * 3)
    assert (found.told[-1], found.accepted) == ((9, CLOSED), [0])
    # of the row at which it is closed nothing else is told
    rows = [row for row, _ in found.told]
    assert rows == sorted(set(rows))


def test_what_is_no_news_any_more_keeps_an_alarm_open() -> None:
    keeper = AlarmTracker(AlarmRules(close_after=2))
    reported, ongoing = np.array([1.0, 0, 0, 0, 0, 0]), np.array([1.0, 0.7, 0, 0.7, 0.6, 0.6])
    progress = keeper.follow(0, Severities(reported, ongoing, np.zeros(6, int), np.arange(6.0)))
    assert [(one.row, one.state) for one in progress.changes][-1] == (5, CLOSED)
    assert progress.changes[-1].event.last == 3
    assert progress.changes[-1].event.severity == 1
    assert progress.alarmed.tolist() == [True, True, True, True, True, False]


def test_without_adapting_an_alarm_lasts_as_long_as_its_rows() -> None:
    assert CLOSED not in [what for _, what in Followed(adapt_after=None).push([1.0] * 5000).told]


def test_what_was_silent_before_began_before() -> None:
    found = Followed().push([0.0] * 20).push([2.0], since=15)
    assert found.changes[0].event.first == 5


def test_beyond_the_budget_an_event_is_no_alarm_and_nothing_is_learned_from_it() -> None:
    found = Followed(close_after=2, contamination=1 / 20).push([1, 0, 0, 9, 0, 0])
    assert found.told == [(0, OPENED), (1, UPDATED), (2, CLOSED)]
    assert found.alarmed == [True, True, False, False, False, False]
    assert found.normal == [False] * 6
    assert found.push([0]).normal[-1]


def test_an_event_becomes_an_alarm_when_the_budget_allows_for_it() -> None:
    found = Followed(close_after=2, contamination=1 / 5).push([1, 0, 0, 9, 9, 9, 9])
    opened = [change for change in found.changes if change.state == OPENED]
    assert [(change.row, change.event.first, change.event.number) for change in opened] == [
        (0, 0, 1),
        (5, 3, 2),
    ]


def test_a_row_that_is_no_part_of_an_event_does_not_open_its_alarm() -> None:
    # at row 7 the budget allows for an alarm, and 1 is below 0.4 of the worst, 3: the event is over
    found = Followed(close_after=2, adapt_after=None, contamination=1 / 7).push(
        [1, 0, 0, 0, 0, 3, 0, 1]
    )
    assert found.told == [(0, OPENED), (1, UPDATED), (2, CLOSED)]
    assert found.keeper.normal


def test_with_half_of_the_budget_left_twice_the_severity_opens_an_alarm() -> None:
    keeper = AlarmTracker(AlarmRules(close_after=1, contamination="2/100s"))

    def opens(row: int, severity: float) -> bool:
        reported = np.array([severity])
        rows = Severities(reported, reported, np.zeros(1, int), np.array([float(row)]))
        progress = keeper.follow(row, rows)
        keeper.end()
        return bool(progress.changes)

    assert opens(0, 1.0)
    assert not opens(1, 1.9)
    assert opens(2, 2.0)
    assert not opens(3, 99.0)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"close_after": 0}, "close_after"),
        ({"adapt_after": 0}, "adapt_after"),
        ({"contamination": "never"}, "contamination"),
    ],
)
def test_bad_rules_are_refused(rules: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"^{said} must be"):
        AlarmRules(**rules)


severities = st.lists(st.sampled_from([0.0, 0.4, 0.5, 0.9, 1.0, 3.0]), max_size=120)


@given(
    severities,
    st.integers(1, 6),
    st.sampled_from([None, 4, 20]),
    st.sampled_from(["auto", 1 / 7, "2/30s"]),
    st.lists(st.integers(1, 30), min_size=1, max_size=5),
)
def test_grouping_and_stopping_change_nothing_and_no_alarm_flaps(
    rows: list[float], close_after: int, adapt_after: int | None, budget: Any, sizes: list[int]
) -> None:
    rules = {"close_after": close_after, "adapt_after": adapt_after, "contamination": budget}
    whole, parts = Followed(**rules), Followed(**rules)
    for begin in range(0, len(rows), 16):
        whole.push_together(rows[begin : begin + 16], may_accept=begin + 16 <= len(rows))
    turn = 0
    while parts.row < len(rows):
        room = 16 - parts.row % 16
        size = min(sizes[turn % len(sizes)], room)
        together = rows[parts.row : parts.row + size]
        parts.push_together(together, may_accept=len(together) == room)
        saved = json.loads(json.dumps(parts.keeper.state()))
        parts.keeper = AlarmTracker(AlarmRules(**rules))
        parts.keeper.restore(saved)
        turn += 1
    assert parts.changes == whole.changes
    assert parts.alarmed == whole.alarmed
    assert parts.normal == whole.normal
    assert parts.accepted == whole.accepted
    numbers = [change.event.number for change in whole.changes if change.state == OPENED]
    assert numbers == list(range(1, len(numbers) + 1))
    closed = {n.event.number: n for n in whole.changes if n.state == CLOSED and not n.permanent}
    for change in whole.changes:
        if change.state == OPENED and change.event.number in closed:
            assert closed[change.event.number].row - change.row >= close_after


def test_an_alarm_comes_back_from_json_as_it_was() -> None:
    cause = Cause("flow", 2.0, 7, 1.0, 5.0, 0.0, 2.0, "spike", "flow jumped")
    alarm = LiveAlarm(1, OPENED, "pump", 7, 9, 7, 9, 2.0, "spike", "flow jumped", (cause,))
    saved = json.loads(json.dumps(alarm_to_json(alarm, str)))
    assert alarm_from_json(saved, int) == alarm
    assert alarm_from_json(saved, int) != replace(alarm, severity=3.0)
