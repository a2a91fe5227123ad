"""Rows on the time axis, for every kind of index."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from subadjacent.data.inputs import read
from subadjacent.data.series import TrainSeries
from subadjacent.report.timeline import Timeline, timeline, timelines

START = datetime(2026, 1, 2, 12, 15)
MS = START.replace(tzinfo=UTC).timestamp() * 1000
STAMPS = [START + timedelta(minutes=5 * n) for n in range(3)]


def of(X: Any) -> Timeline:
    return timeline(read(X).series[0])


def with_index(index: Any) -> Timeline:
    return timeline(TrainSeries(np.zeros((len(index), 1)), index=index))


def test_times_of_any_frame_are_milliseconds() -> None:
    values = {"a": [1.0, 2, 3]}
    for X in (
        pd.DataFrame(values, index=pd.DatetimeIndex(STAMPS)),
        pd.DataFrame({"timestamp": STAMPS} | values),
        pl.DataFrame({"ds": STAMPS} | values),
    ):
        found = of(X)
        assert found.kind == "time"
        assert found.places.tolist() == [MS, MS + 300_000, MS + 600_000]
        assert found.name(1) == "2026-01-02 12:20"


def test_a_time_zone_is_that_of_the_first_row_throughout() -> None:
    hours = pd.date_range("2026-03-29 00:30", periods=4, freq="h", tz="Europe/Berlin")
    found = of(pd.DataFrame({"a": [1.0, 2, 3, 4]}, index=hours))
    assert found.offset == timedelta(hours=1)
    # the clock jumps to summer time at two; the axis does not
    assert [found.name(row)[-5:] for row in range(4)] == ["00:30", "01:30", "02:30", "03:30"]


def test_plain_lists_of_times_and_dates_are_understood() -> None:
    aware = [one.replace(tzinfo=UTC) for one in STAMPS]
    assert with_index(STAMPS).places[0] == MS
    assert with_index(aware).places[0] == MS
    assert with_index([date(2026, 1, 1), date(2026, 1, 2)]).name(1) == "2026-01-02 00:00"


def test_numbers_that_increase_stand_as_they_are() -> None:
    found = with_index([10.5, 11.0, 11.5])
    assert (found.kind, found.name(2)) == ("number", "11.5")
    assert with_index(np.array([0, 60], "timedelta64[s]")).places.tolist() == [0, 60]


def test_anything_else_is_numbered() -> None:
    for index in (None, ["a", "b"], [2, 1]):
        found = timeline(TrainSeries(np.zeros((2, 1)), index=index))
        assert (found.kind, found.name(1)) == ("row", "row 1")


def test_series_of_different_kinds_are_numbered_for_they_share_an_axis() -> None:
    one, other = TrainSeries(np.zeros((2, 1)), index=[1, 5]), TrainSeries(np.zeros((2, 1)))
    assert [found.kind for found in timelines([one, other])] == ["row", "row"]
    assert [found.kind for found in timelines([one])] == ["number"]


def test_anchors_stand_where_the_clock_bends() -> None:
    assert with_index([0, 1, 2, 10, 11, 12]).anchors() == ([0, 2, 3, 5], [0, 2, 10, 12])
    assert with_index([7]).anchors() == ([0], [7])


def test_seconds_and_fractions_are_named_only_where_there_are_any() -> None:
    at = Timeline("time", np.array([0.0, 1_000.0, 1_500.0]))
    assert [at.name(row)[11:] for row in range(3)] == ["00:00", "00:00:01", "00:00:01.500"]
