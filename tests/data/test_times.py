"""Times of any kind are numbers that can be compared."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

from subadjacent import InputError
from subadjacent.data.times import from_json, read_times, to_json

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_a_moment_is_the_same_however_it_is_written() -> None:
    cases: list[Any] = [
        "2026-01-31T12:00",
        " 2026-01-31 12:00:00 ",
        "2026-01-31T12:00:00Z",
        "2026-01-31T14:00+02:00",
        NOON,
        NOON.replace(tzinfo=None),
        NOON.astimezone(timezone(timedelta(hours=2))),
        np.datetime64("2026-01-31T12:00"),
        pd.Timestamp("2026-01-31T12:00"),
    ]
    for time in cases:
        assert read_times([time]) == (pytest.approx([NOON.timestamp()]), "seconds")


def test_dates_are_in_seconds_and_numbers_in_a_unit_of_their_own() -> None:
    cases: list[Any] = [
        ([date(1970, 1, 2)], [86400.0], "seconds"),
        (np.array(["1970-01-01T00:00:01.5"], dtype="datetime64[ms]"), [1.5], "seconds"),
        *(([time], [7.0], "own") for time in (7, 7.0, np.float32(7), "7", np.int64(7))),
        ([], [], "own"),
    ]
    for times, ticks, unit in cases:
        found = read_times(times)
        assert (found.ticks.tolist(), found.unit) == (ticks, unit)


def test_a_time_that_is_none_is_refused_with_its_row() -> None:
    missing: list[Any] = [None, "soon", True, float("nan"), pd.NaT, np.datetime64("NaT"), "inf"]
    cases: list[Any] = [
        *([0 if isinstance(time, float | str) else NOON, time] for time in missing),
        np.array(["2026-01-31", "NaT"], dtype="datetime64[s]"),
    ]
    for times in cases:
        with pytest.raises(InputError, match=r"^times must be .*row 1 has"):
            read_times(times)
    for times in ([1, 1e101], np.array([0.0, -1e300])):
        with pytest.raises(InputError, match="must not exceed 1e\\+100 in magnitude; row 1 has"):
            read_times(times)


def test_what_is_no_time_is_refused_with_its_row_and_shown_in_short() -> None:
    for times, row in [([[1], [2]], 0), ([1, [2, 3]], 1), ([{"at": 1}], 0), (["x" * 999], 0)]:
        with pytest.raises(
            InputError, match=f"must be numbers, dates, or text.*; row {row} has"
        ) as it:
            read_times(times)
        assert len(str(it.value)) < 150


def test_numbers_among_dates_are_refused() -> None:
    with pytest.raises(InputError, match="all dates or all numbers"):
        read_times(["2026-01-31", 7])


def test_a_time_comes_back_from_json_and_numpys_as_pythons() -> None:
    for time in [None, 7, 7.5, "2026-01-31", NOON]:
        assert from_json(to_json(time)) == time
    assert from_json(to_json(np.datetime64("2026-01-31T12:00"))) == NOON.replace(tzinfo=None)
    assert from_json(to_json(np.int64(7))) == 7
