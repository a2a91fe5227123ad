"""A rule for each thing that can be wrong with the time of a row."""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent import InputError
from subadjacent.data.clock import read_clock
from subadjacent.streaming.arrivals import AcceptedRows, Arrivals


def take(arrivals: Arrivals, times: Any) -> AcceptedRows:
    return arrivals.accept(arrivals.read(times, len(times)), len(times))


def test_late_rows_and_duplicates_are_not_taken_and_counted() -> None:
    arrivals = Arrivals(10)
    assert take(arrivals, [0, 1, 1, 3, 2, 3, 4]).places.tolist() == [0, 1, 3, 6]
    assert take(arrivals, [4, 3, 5]).places.tolist() == [2]
    counts = arrivals.counts
    assert (counts.accepted, counts.late, counts.duplicates) == (5, 2, 3)


def test_a_gap_of_up_to_the_limit_is_bridged_and_a_longer_one_begins_a_segment() -> None:
    arrivals = Arrivals(fill_limit=2)
    taken = take(arrivals, [0, 1, 2, 5, 6, 10, 11])
    # from 2 to 5 two rows are missing, from 6 to 10 three are
    assert taken.skipped.tolist() == [0, 0, 0, 0, 0, 3, 0]
    assert taken.starts.tolist() == (taken.skipped > 0).tolist()
    assert arrivals.counts.gaps == 1


def test_a_row_that_is_a_little_late_after_a_short_gap_begins_no_segment() -> None:
    # two rows are missing: the third is due after 3, and may be a twentieth late
    assert not take(Arrivals(2), [0, 1, 2, 5.04]).starts.any()
    assert take(Arrivals(2), [0, 1, 2, 5.06]).starts[-1]


def test_a_gap_that_begins_a_segment_is_not_irregular_too() -> None:
    arrivals = Arrivals(2)
    take(arrivals, [0, 1, 2, 9.5])
    assert (arrivals.counts.gaps, arrivals.counts.irregular) == (1, 0)


def test_the_first_steps_are_followed_one_by_one_and_of_two_the_shorter_counts() -> None:
    # before the first row there is no step; of the steps 1 and 99 the interval is 1
    arrivals = Arrivals(2)
    assert take(arrivals, [0, 1, 100, 199]).starts.tolist() == [False, False, True, True]
    json.dumps(arrivals.state(), allow_nan=False)
    # of 1, 1, 5, 5, 5 it is 5
    starts = take(Arrivals(2), [0, 1, 2, 7, 12, 17, 22]).starts
    assert starts.tolist() == [False, False, False, True, True, True, False]


def test_without_an_interval_no_gap_is_told() -> None:
    assert take(Arrivals(0), [0, 1000, 2000, 3000]).starts.tolist() == [False] * 4


def test_rows_without_times_are_all_taken_in_one_segment() -> None:
    arrivals = Arrivals(0)
    places, starts, skipped = arrivals.accept(arrivals.read(None, 3), 3)
    assert (places.tolist(), starts.tolist()) == ([0, 1, 2], [False] * 3)
    assert not skipped.any()
    assert arrivals.counts.accepted == 3
    assert arrivals.seconds is None


def test_rows_between_two_ticks_are_taken_counted_and_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arrivals = Arrivals(10, "'pump'")
    times = np.arange(400.0)
    times[::5] += 0.5
    with caplog.at_level(logging.WARNING):
        assert len(take(arrivals, times).places) == 400
        take(arrivals, times + 400)
        # nor once it goes on from a state
        again = Arrivals(10, "'pump'")
        again.restore(arrivals.state())
        take(again, times + 800)
    assert again.counts.irregular > 200
    assert len(caplog.records) == 1
    assert "'pump'" in caplog.text


def test_of_few_rows_it_is_not_said_that_many_are_irregular(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arrivals = Arrivals(10)
    take(arrivals, [0, 1, 2, 3.5, 4.5, 6, 7.5, 8.2])
    assert arrivals.counts.irregular > 3
    assert not caplog.records


def test_a_row_within_a_twentieth_of_its_tick_is_on_time() -> None:
    arrivals = Arrivals(10)
    take(arrivals, [0, 1, 2, 3.04, 4, 5.06])
    assert arrivals.counts.irregular == 1


def test_a_clock_that_slows_down_is_followed() -> None:
    arrivals = Arrivals(fill_limit=3)
    take(arrivals, np.arange(200))
    starts = take(arrivals, 200 + 60 * np.arange(1, 301)).starts
    assert starts[:40].all()
    assert not starts[200:].any()


def test_dates_have_an_interval_in_seconds() -> None:
    arrivals = Arrivals(10)
    take(arrivals, ["2026-01-01T00:00", "2026-01-01T00:01", "2026-01-01T00:02"])
    assert arrivals.seconds == 60.0
    numbers = Arrivals(10)
    take(numbers, [0, 60, 120])
    assert numbers.seconds is None


@pytest.mark.parametrize("second", [None, [3], ["2026-01-01"]])
@pytest.mark.parametrize("first", [None, [1], ["2025-01-01"]])
def test_times_are_of_one_kind(first: Any, second: Any) -> None:
    arrivals = Arrivals(10)
    arrivals.accept(arrivals.read(first, 1), 1)
    if type(first) is type(second) and (first is None or type(first[0]) is type(second[0])):
        arrivals.read(second, 1)
    else:
        with pytest.raises(InputError, match="one kind"):
            arrivals.read(second, 1)


def test_a_refusal_names_the_series_if_it_has_a_name() -> None:
    for arrivals, said in (
        (Arrivals(10), "for all rows; got dates after numbers"),
        (Arrivals(10, "'pump'"), "for all rows of 'pump'; got dates after numbers"),
    ):
        take(arrivals, [1])
        with pytest.raises(InputError, match=said):
            arrivals.read(["2026-01-01"], 1)
        # no rows are of any kind
        assert arrivals.read(None, 0) is None


def test_there_is_a_time_for_each_row() -> None:
    with pytest.raises(InputError, match="one a row, for 2 rows; got 1"):
        Arrivals(10).read([1], 2)


gaps = st.lists(st.sampled_from([1, 1, 1, 1, 2, 4, 9]), min_size=30, max_size=200)


@given(gaps, st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 5))
def test_grouping_changes_nothing(steps: list[int], sizes: list[int], limit: int) -> None:
    times = np.cumsum([0, *steps])
    whole, parts = Arrivals(limit), Arrivals(limit)
    expected = take(whole, times).starts
    found, begin = [], 0
    while begin < len(times):
        size = sizes[len(found) % len(sizes)]
        found.append(take(parts, times[begin : begin + size]).starts)
        # a stop and a start in between change nothing either
        saved = json.loads(json.dumps(parts.state()))
        parts = Arrivals(limit)
        parts.restore(saved)
        begin += size
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert parts.state() == whole.state()


@given(gaps, st.integers(0, 5))
def test_segments_begin_where_they_do_in_a_batch(steps: list[int], limit: int) -> None:
    # a clock that is known well before its first gap
    times = np.cumsum([0, *[1] * 120, *steps]).astype(float)
    starts = take(Arrivals(limit), times).starts
    clock = read_clock(times, fill_limit=limit, name="X")
    assert clock.interval == 1
    assert (0, *np.flatnonzero(starts).tolist()) == clock.starts
