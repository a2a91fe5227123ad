"""The machine of events: where they begin, go on, grow and end, in any grouping of rows."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.decision.machine import (
    AFTERMATH_ROWS,
    CLOSED,
    OPENED,
    UPDATED,
    EventChange,
    EventMachine,
)


def run(severity: list[float], close_after: int = 2, cuts: tuple[int, ...] = ()) -> Any:
    machine, changes = EventMachine(close_after), []
    for first, last in pairwise([0, *cuts, len(severity)]):
        rows = np.array(severity[first:last])
        changes += machine.push(rows, rows >= 1)
    return machine, changes


def told(changes: list[EventChange]) -> list[tuple[int, str, int, int, float]]:
    return [(row, state, event.first, event.last, event.severity) for row, state, event in changes]


def test_an_event_by_hand() -> None:
    _, changes = run([0, 1.5, 0, 2.5, 0, 0, 0, 0])
    assert told(changes) == [
        (1, OPENED, 1, 1, 1.5),
        # three rows are more than twice one
        (3, UPDATED, 1, 3, 2.5),
        # with two quiet rows it goes on, with the third it is over
        (6, CLOSED, 1, 3, 2.5),
    ]
    assert changes[-1].event.peak == 3


def test_as_many_rows_as_said_may_lie_between() -> None:
    for quiet, events in ((2, 1), (3, 2)):
        # the second is worse, and no aftermath
        machine, _ = run([1.0, *[0.0] * quiet, 3.0, 0, 0, 0], close_after=2)
        assert machine.opened == events


def test_a_weaker_event_soon_after_another_is_its_aftermath() -> None:
    strong = 4.0
    # it takes so many rows until severity 2 stands out again
    rows = math.ceil(AFTERMATH_ROWS * math.log(strong / 2.0))
    for quiet, opened in ((rows - 2, 1), (rows - 1, 2)):
        machine, _ = run([strong, *[0.0] * quiet, 2.0])
        assert machine.opened == opened
    # what grows out of an aftermath begins with it
    _, changes = run([4.0, 0, 0, 0, 0, 1.2, 5.0])
    assert told(changes)[-1] == (6, OPENED, 5, 6, 5.0)


def test_a_return_to_normal_that_is_known_late_is_the_end_of_the_event_just_before_it() -> None:
    # rows 0 and 1 stand out; at row 7 or 8 it is known that the series came back three rows before
    for row, opened in ((7, 1), (8, 2)):
        machine, severity = EventMachine(2), np.zeros(12)
        severity[[0, 1, row]] = 2.0, 2.0, 3.0
        since = np.where(np.arange(12) == row, 3, 0)
        changes = machine.push(severity, severity >= 1, since)
        assert machine.opened == opened
        assert [change.event.first for change in changes if change.state == OPENED][1:] == (
            [5] if opened == 2 else []
        )


def test_a_row_may_keep_an_event_going_without_beginning_one() -> None:
    machine = EventMachine(2)
    severity, is_high = np.array([0.7, 1.0, 0.7, 0, 0]), np.array([1, 1, 1, 0, 0], dtype=bool)
    changes = machine.push(severity, is_high, np.array([0, 1, 0, 0, 0]))
    # and an event may have gone on before the row that begins it
    assert told(changes) == [(1, OPENED, 0, 1, 1.0)]
    assert machine.event is not None
    assert machine.event.last == 2


def test_no_event_reaches_into_the_next_segment() -> None:
    machine, changes = run([0, 2.0])
    assert told(machine.end_segment()) == [(1, CLOSED, 1, 1, 2.0)]
    assert told(machine.push(np.array([3.0]), np.array([True]))) == [(2, OPENED, 2, 2, 3.0)]
    assert len(changes) == 1


def test_events_before_a_row_are_known() -> None:
    machine, _ = run([0, 0, 0, 0])
    assert machine.known_until == 1
    machine, _ = run([0, 1.0, 0, 0])
    assert machine.known_until == 1
    machine, _ = run([0, 1.0, 0, 0, 0])
    assert machine.known_until == 2


SEVERITIES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.3, 2.0, 5.0]), max_size=60)


@given(SEVERITIES, st.integers(1, 6), st.lists(st.integers(0, 60), max_size=4))
def test_grouping_of_rows_and_a_stop_change_nothing(
    severity: list[float], close_after: int, cuts: list[int]
) -> None:
    _, whole = run(severity, close_after)
    inside = sorted({min(cut, len(severity)) for cut in cuts})
    machine, changes = EventMachine(close_after), []
    for first, last in pairwise([0, *inside, len(severity)]):
        stopped = EventMachine(close_after)
        stopped.restore(machine.state())
        machine = stopped
        rows = np.array(severity[first:last])
        changes += machine.push(rows, rows >= 1)
    assert told(changes) == told(whole)


@given(SEVERITIES, st.integers(1, 6))
def test_events_are_disjoint_and_hold_every_severe_row_without_an_aftermath(
    severity: list[float], close_after: int
) -> None:
    machine, changes = run(severity, close_after)
    changes += machine.end_segment()
    events = [change.event for change in changes if change.state == CLOSED]
    assert [event.number for event in events] == list(range(1, machine.opened + 1))
    for before, after in pairwise(events):
        assert after.first - before.last - 1 > close_after
    for event in events:
        assert event.severity == max(severity[event.first : event.last + 1])
        assert severity[event.peak] == event.severity
    if severity and max(severity) >= 1:
        assert max(event.severity for event in events) == max(severity)
