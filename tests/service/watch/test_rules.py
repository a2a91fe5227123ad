"""Which departures count, and which alarms are reported."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from subadjacent.methods.method import State
from subadjacent.service.watch.rules import WatchedStream, WatchRules
from subadjacent.streaming.alarms import CLOSED, OPENED
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.series import SeriesStream

ROWS = 300


class Rows:
    """A stream that has learned from normal rows, and takes more of them one second apart."""

    def __init__(self, **rules: Any) -> None:
        learned = SeriesStream(("load",), None, "load")
        self.count = ROWS
        learned.push(np.random.default_rng(5).normal(10, 1, (ROWS, 1)), self.times(0, ROWS))
        self.stream = WatchedStream.begin(learned, WatchRules("load", "mark", **rules))

    def times(self, first: int, count: int) -> list[Any]:
        return [datetime.fromtimestamp(1e9 + n, UTC) for n in range(first, first + count)]

    def push(self, *values: float) -> list[Answer]:
        times = self.times(self.count, len(values))
        self.count += len(values)
        return self.stream.push(np.array([values]).T, times)


def opened(answers: list[Answer]) -> int:
    return sum(answer.alarm is not None and answer.alarm.state == OPENED for answer in answers)


def test_an_alarm_is_reported_once_until_it_closes() -> None:
    rows = Rows()
    (first,) = rows.push(60.0)
    assert opened([first]) == 1
    assert (first.anomalous, first.severity >= 1) == (True, True)
    normal = np.random.default_rng(6).normal(10, 1, 200).tolist()
    later = rows.push(60.0, *normal)
    assert opened(later) == 0
    assert [one.alarm.state for one in later if one.alarm][-1] == CLOSED
    assert not later[-1].anomalous


@pytest.mark.parametrize(
    ("rules", "up", "down"),
    [
        ({}, True, True),
        ({"direction": "above_expected"}, True, False),
        ({"direction": "below_expected"}, False, True),
        ({"min_deviation": 45}, True, True),
        ({"min_deviation": 55}, False, False),
        ({"min_deviation": 45, "direction": "above_expected"}, True, False),
    ],
)
def test_only_departures_that_are_requested_count(
    rules: dict[str, Any], up: bool, down: bool
) -> None:
    for value, counts in ((60.0, up), (-40.0, down)):
        watched = Rows(**rules)
        (answer,) = watched.push(value)
        assert (opened([answer]) == 1) == answer.anomalous == (answer.severity >= 1) == counts
        if not counts:
            # the end of an alarm that nobody heard of is not reported either
            normal = np.random.default_rng(6).normal(10, 1, 200).tolist()
            assert all(one.alarm is None for one in watched.push(*normal))


def test_a_row_that_barely_departs_does_not_turn_another_alarm_into_one() -> None:
    rows = Rows(direction="above_expected")
    assert opened(rows.push(-40.0, 10.5, 10.5)) == 0
    assert opened(rows.push(80_000.0)) == 1


def test_a_stream_goes_on_from_its_state() -> None:
    rows = Rows(direction="above_expected", contamination="1/day")
    rows.push(60.0)
    state = rows.stream.state()
    facts = json.loads(json.dumps(state.facts))
    other = Rows()
    other.stream, other.count = WatchedStream.restore(State(state.arrays, facts)), rows.count
    for value in (60.0, 10.0, 11.0):
        (one,), (two,) = rows.push(value), other.push(value)
        assert (one.severity, one.anomalous, one.alarm) == (two.severity, two.anomalous, two.alarm)
    assert json.loads(json.dumps(other.stream.state().facts))["watch"]["fingerprint"] == "mark"


def test_an_alarm_that_is_marked_as_normal_is_over() -> None:
    rows = Rows()
    (answer,) = rows.push(60.0)
    assert answer.alarm is not None
    assert rows.stream.accept(answer.alarm.number).state == CLOSED
    assert not rows.push(10.0)[0].anomalous


def test_a_budget_holds_alarms_back() -> None:
    def alarms(**rules: Any) -> int:
        rows = Rows(**rules)
        normal = np.random.default_rng(6).normal(10, 1, 600).tolist()
        # the second is far larger: what comes again is no alarm
        return sum(opened(rows.push(*event)) for event in ([60.0, *normal], [6_000.0, *normal]))

    assert alarms() == 2
    assert alarms(contamination="1/day") == 1
