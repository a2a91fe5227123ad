"""Durations as people type them, and clocks as data comes with them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting import calls
from subadjacent.data.clock import Clock, duration, read_clock
from subadjacent.errors import InputError

NOON = np.datetime64("2024-03-01T12:00:00")


def at(*seconds: float) -> np.ndarray:
    """Dates so many seconds after noon."""
    return NOON + (np.array(seconds) * 1000).astype("timedelta64[ms]")


def test_a_duration_is_so_many_seconds() -> None:
    cases: list[Any] = [
        ("90s", 90),
        ("2m", 120),
        ("1h30m", 5400),
        ("1h 30 min", 5400),
        ("1d", 86400),
        ("1week", 604800),
        ("500ms", 0.5),
        ("1min", 60),
        ("2 hours", 7200),
        (" 1.5 hours ", 5400),
        ("3 days", 259200),
        ("1w", 604800),
        ("2 months", 60 * 86400),
        ("1y", 365 * 86400),
        ("10 sec", 10),
        ("1D", 86400),
        ("week", 604800),
        ("min", 60),
        (90, 90),
        (0.25, 0.25),
        (np.int64(4), 4),
        (np.float32(0.5), 0.5),
        (timedelta(minutes=2), 120),
        (np.timedelta64(2, "h"), 7200),
        (pd.Timedelta("15min"), 900),
    ]
    for text, seconds in cases:
        found = duration(text)
        assert found == seconds
        assert type(found) is float


def test_what_is_no_duration_is_refused_by_name() -> None:
    cases: list[Any] = [
        *["", "5", "s5", "-5s", "0s", "1 fortnight", "1h-3m", "1h,3m", "h30m", "1e3s"],
        *["1M", "1MS", "9" * 400 + "s"],
        *[0, -1, float("nan"), float("inf"), 10**400, True, None, [], 1 + 2j],
        *[timedelta(0), np.timedelta64("NaT"), np.timedelta64(1, "M"), np.bool_(True)],
    ]
    for bad in cases:
        with pytest.raises(InputError) as caught:
            duration(bad, name="interval")
        assert str(caught.value) == (
            "interval must be a time longer than none, such as '90s', '5min', '1h30m', '2 days' "
            f"or '1week', or a number of seconds; got {bad!r}"
        )


def test_rows_are_cut_into_segments_by_long_gaps() -> None:
    # one row is missing after 120, four after 240
    gaps = at(0, 60, 120, 240, 540, 600)
    days = np.arange("2024-03-01", "2024-03-05", dtype="datetime64[D]")
    months = np.array(["2023-07", "2023-08", "2023-09"], dtype="datetime64[M]")
    cases: list[Any] = [
        (gaps, 1, Clock(60.0, (0, 4))),
        (gaps, 4, Clock(60.0, (0,))),
        (gaps, 0, Clock(60.0, (0, 3, 4))),
        # plain numbers keep their own unit
        (np.array([0.5, 0.75, 1.0, 3.0, 3.25]), 2, Clock(0.25, (0, 3), unit="own")),
        *(
            (days.astype(f"datetime64[{unit}]"), 0, Clock(86400.0))
            for unit in ("D", "h", "m", "s", "ms", "us", "ns")
        ),
        (months, 0, Clock(31 * 86400.0)),
        (at(), 5, Clock(None)),
        (at(0), 5, Clock(None)),
        # the lower median, so that a gap is a gap
        (at(0, 1, 101), 5, Clock(1.0, (0, 2))),
        # jitter of a twentieth is fine, also across a gap
        (at(0, 60, 120, 183, 240, 300, 423, 480, 540), 1, Clock(60.0)),
        # integers of every type are subtracted exactly
        (np.array([-128, 127], dtype=np.int8), 0, Clock(255.0, unit="own")),
        (np.array([0, 1, 2], dtype=np.int64) + 2**62, 0, Clock(1.0, unit="own")),
        (np.array([3, 5, 7], dtype=np.uint64), 0, Clock(2.0, unit="own")),
    ]
    for times, fill_limit, clock in cases:
        assert read_clock(times, fill_limit=fill_limit, name="X") == clock
        assert clock.seconds == (None if clock.unit == "own" else clock.interval)


def test_one_row_in_a_hundred_may_be_off() -> None:
    seconds = np.arange(0, 6060, 60.0)
    seconds[50] += 20  # two differences of a hundred: one too long, one too short
    with pytest.raises(InputError, match="2 of 100 are off"):
        read_clock(at(*seconds), fill_limit=5, name="X")
    longer = np.append(seconds, np.arange(6060, 18000, 60.0))
    assert read_clock(at(*longer), fill_limit=5, name="X") == Clock(60.0, (0,))


def test_a_bad_clock_is_described_with_a_way_out() -> None:
    order, known = "must increase from row to row; row", "must be known in every row; row"
    kind = "must be dates (datetime64) or numbers, one a row; got"
    ticks = "must tick regularly; the differences have median"
    days = np.array(["2024-03-01", "2024-02-01", "2024-02-01"], dtype="datetime64[D]")
    cases: list[Any] = [
        (np.array([3, 5, 5], np.uint8), f"{order} 2 has 5 after 5: drop duplicates first"),
        (np.array([3, 5, 4], np.uint8), f"{order} 2 has 4 after 5: sort the rows by time first"),
        (days, f"{order} 1 has 2024-02-01 after 2024-03-01: sort the rows by time first"),
        (np.array(["2024-03-01", "NaT"], "datetime64[D]"), f"{known} 1 has NaT: drop it first"),
        (np.array([np.nan, 1.0]), f"{known} 0 has nan: drop it first"),
        (np.array(["noon"]), f"{kind} <U4 of shape (1,)"),
        (np.zeros((2, 2)), f"{kind} float64 of shape (2, 2)"),
        (
            np.array([0, 10, 13, 20, 34.25]),
            (
                f"{ticks} 7, smallest 3 and largest 14.25, and 2 of 4 are off: "
                "resample first to one row every 7, with numpy.interp for instance"
            ),
        ),
        (
            at(0, 60, 120, 150, 210, 301),
            (
                f"{ticks} 60, smallest 30 and largest 91 seconds, and 2 of 5 are off: "
                'resample first, in pandas frame.resample("60s").mean(), '
                'in polars frame.group_by_dynamic(time, every="60s").agg(pl.all().mean())'
            ),
        ),
    ]
    for times, message in cases:
        with pytest.raises(InputError) as caught:
            read_clock(times, fill_limit=5, name="X")
        assert str(caught.value) == f"times of X {message}"


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_months_are_refused_with_a_way_out_that_is_not_a_number_of_seconds(unit: str) -> None:
    months = np.arange("2020-01", "2024-01", dtype="datetime64[M]").astype("datetime64[D]")
    with pytest.raises(InputError) as caught:
        read_clock(months.astype(f"datetime64[{unit}]"), fill_limit=5, name="X")
    assert str(caught.value) == (
        "times of X must tick regularly; the differences have median 31, smallest 28 and "
        "largest 31 days, and 4 of 47 are off: months differ in seconds, so leave the times out "
        "(no time column, no dates in the index), and give lengths of time as numbers of rows"
    )


def test_the_advice_in_the_message_works() -> None:
    for scale in [1e-6, 2e-6, 1e-3, 0.25, 1.0, 600.0]:
        rng = np.random.default_rng(0)
        nanoseconds = np.cumsum(rng.uniform(0.5, 1.5, size=50) * scale * 1e9).astype(np.int64)
        times = nanoseconds.astype("datetime64[ns]")
        with pytest.raises(InputError) as caught:
            read_clock(times, fill_limit=5, name="X")
        every = str(caught.value).split('resample("')[1].split('"')[0]
        frame = pd.DataFrame({"a": rng.normal(size=50)}, index=pd.DatetimeIndex(times))
        again = frame.resample(every).mean().index.to_numpy()
        assert read_clock(again, fill_limit=5, name="X").starts == (0,)
        polar = pl.DataFrame({"t": times, "a": frame["a"].to_numpy()})
        polar = polar.group_by_dynamic("t", every=every).agg(pl.all().mean())
        # polars leaves empty bins out: they are gaps, which may be bridged
        assert read_clock(polar["t"].to_numpy(), fill_limit=5, name="X").starts == (0,)


@given(
    missing=st.lists(st.integers(0, 9), min_size=3, max_size=60),
    fill_limit=st.integers(0, 9),
    interval=st.sampled_from([0.001, 1.0, 60.0, 1e6]),
    jitter=st.integers(0, 2**32 - 1),
)
def test_segments_are_cut_where_too_many_rows_are_missing(
    missing: list[int], fill_limit: int, interval: float, jitter: int
) -> None:
    # enough rows on time for the median to be the interval
    counts = np.array([0] * (len(missing) + 1) + missing)
    ticks = np.concatenate([[0], np.cumsum(counts + 1)]).astype(float)
    ticks += np.random.default_rng(jitter).uniform(-0.002, 0.002, size=len(ticks))
    clock = read_clock(ticks * interval, fill_limit=fill_limit, name="X")
    expected = [0, *(row + 1 for row, gap in enumerate(counts.tolist()) if gap > fill_limit)]
    assert clock.starts == tuple(expected)
    assert clock.interval == pytest.approx(interval, rel=0.01)


def test_no_loop_goes_over_rows() -> None:
    def work(rows: int) -> int:
        times = NOON + np.arange(rows) * np.timedelta64(60, "s")
        return calls(lambda: read_clock(times, fill_limit=5, name="X"))

    assert work(100_000) == work(1_000)
