"""What is shown of a series, and which departures count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from subadjacent.service.watch.settings import Query
from subadjacent.service.watch.watched import WatchedSeries

KEY = (("machine", "1"),)
ROWS = 300


def watched(**settings: Any) -> WatchedSeries:
    query = Query(name="load", expr="load", step="1s", history="300s", **settings)
    series = WatchedSeries(KEY, {"load": KEY}, query)
    calm = np.random.default_rng(5).normal(10, 1, (ROWS, 1))
    series.push(calm, range(0, ROWS * 1_000, 1_000))
    assert series.shown is not None
    assert not series.shown.alarm
    series.watch_from_here()
    return series


def push(series: WatchedSeries, *values: float) -> list[str]:
    """Rows that follow those so far."""
    rows = np.array([values]).T
    first = series.rows * 1_000
    return series.push(rows, range(first, first + len(rows) * 1_000, 1_000))


def test_an_alarm_is_shown_and_told_once() -> None:
    series = watched()
    told = push(series, 60.0)
    assert len(told) == 1
    assert "load" in told[0]
    shown = series.shown
    assert shown is not None
    assert shown.alarm
    assert shown.score >= 1
    assert shown.value == (60.0,)
    assert shown.low[0] < shown.expected[0] < shown.high[0] < 60
    assert push(series, 60.0) == []
    assert series.shown is not None
    assert series.shown.alarm


@pytest.mark.parametrize(
    ("settings", "up", "down"),
    [
        ({}, True, True),
        ({"detection_direction": "above_expected"}, True, False),
        ({"detection_direction": "below_expected"}, False, True),
        ({"min_dev_from_expected": 45}, True, True),
        ({"min_dev_from_expected": 55}, False, False),
        ({"min_dev_from_expected": 45, "detection_direction": "above_expected"}, True, False),
    ],
)
def test_only_departures_that_are_asked_for_count(
    settings: dict[str, Any], up: bool, down: bool
) -> None:
    for value, counts in ((60.0, up), (-40.0, down)):
        series = watched(**settings)
        assert bool(push(series, value)) == counts
        assert series.shown is not None
        assert series.shown.alarm == counts
        assert (series.shown.score >= 1) == counts
        # what was expected is shown in any case
        assert series.shown.value == (value,)


def test_a_row_that_barely_departs_does_not_turn_another_alarm_into_one() -> None:
    series = watched(detection_direction="above_expected")
    assert push(series, -40.0, 10.5, 10.5) == []
    assert series.shown is not None
    assert not series.shown.alarm
    assert len(push(series, 80_000.0)) == 1


def test_nothing_is_shown_of_a_series_that_has_no_value_now() -> None:
    series = watched()
    rows = series.rows
    series.push(np.array([[10.0], [np.nan]]), [ROWS * 1_000, (ROWS + 1) * 1_000])
    assert series.shown is None
    assert series.rows == rows + 1
    series.push(np.array([[np.nan]]), [(ROWS + 2) * 1_000])
    assert series.rows == rows + 1
    series.push(np.array([[10.0]]), [(ROWS + 3) * 1_000])
    assert series.shown is not None
    assert series.shown.value == (10.0,)


def test_a_series_goes_on_from_its_state() -> None:
    settings = {"detection_direction": "above_expected", "false_alarms": "1/day"}
    series = watched(**settings)
    push(series, 60.0)
    query = Query(name="load", expr="load", step="1s", history="300s", **settings)
    again = WatchedSeries.restore(KEY, series.state(), query)
    assert again.shown == series.shown
    assert again.channels == series.channels
    for value in (60.0, 10.0, 11.0):
        # the alarm is the same one: it is not told again
        assert push(again, value) == push(series, value) == []
        assert again.shown == series.shown


def test_a_budget_holds_alarms_back() -> None:
    def alarms(**settings: Any) -> int:
        series = watched(**settings)
        calm = np.random.default_rng(6).normal(10, 1, 600).tolist()
        # the second is far larger: what comes again is no alarm
        return sum(len(push(series, *event)) for event in ([60.0, *calm], [6_000.0, *calm]))

    assert alarms() == 2
    assert alarms(false_alarms="1/day") == 1
