"""Gaps: filled by hand, against a loop, never from later rows; long ones are told apart."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data import scaling
from subadjacent.data.cleaning import clean
from subadjacent.data.gaps import ForwardFill, GapFiller
from subadjacent.data.missing import replace_missing
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

NAN, INF = math.nan, math.inf


def column(*values: float, dtype: Any = float) -> np.ndarray:
    return np.array(values, dtype=dtype)[:, None]


def filled(values: np.ndarray, *arguments: Any, **options: Any) -> np.ndarray:
    return clean(values, *arguments, **options).values


def missing_rows(values: np.ndarray, fill_limit: int, starts: tuple[int, ...] = (0,)) -> list[int]:
    """Rows of one column that are missing for long."""
    missing = clean(values, ("a",), fill_limit, starts=starts).missing
    return [] if missing is None else np.flatnonzero(missing[:, 0]).tolist()


def fill_oracle(values: list[float], starts: tuple[int, ...] = (0,)) -> list[float]:
    """Each segment: the last value seen, or its first, or else that of another segment."""
    filled: list[float] = []
    for start, stop in pairwise((*starts, len(values))):
        seen = [value for value in values[start:stop] if math.isfinite(value)]
        before = [value for value in values[:start] if math.isfinite(value)]
        later = [value for value in values[stop:] if math.isfinite(value)]
        last = [*seen[:1], *before[-1:], *later[:1], 0.0][0]
        for value in values[start:stop]:
            last = value if math.isfinite(value) else last
            filled.append(last)
    return filled


def long_oracle(values: list[float], limit: int, starts: tuple[int, ...]) -> list[int]:
    """Rows of gaps of more rows than the limit, and of segments without any value."""
    found: list[int] = []
    for start, stop in pairwise((*starts, len(values))):
        gap: list[int] = []
        # a known value after the last row ends its gap
        for row, value in enumerate([*values[start:stop], 0.0], start):
            if not math.isfinite(value):
                gap.append(row)
            else:
                found += gap if len(gap) > limit or len(gap) == stop - start else []
                gap = []
    return found


@given(
    st.lists(st.sampled_from([1.0, 2.0, -3.5, NAN, INF, -INF]), min_size=1, max_size=30),
    st.integers(0, 5),
    st.sets(st.integers(1, 29), max_size=6),
)
def test_every_gap_is_filled_as_by_hand(values: list[float], limit: int, breaks: set[int]) -> None:
    starts = (0, *sorted(row for row in breaks if row < len(values)))
    found = filled(column(*values), ("a",), limit, starts=starts)
    assert found[:, 0].tolist() == fill_oracle(values, starts)
    assert missing_rows(column(*values), limit, starts) == long_oracle(values, limit, starts)


def test_what_is_missing_for_long_is_said_of_its_channel() -> None:
    values = np.ones((9, 3))
    values[1, 1] = NAN  # short enough
    values[4:7, 1] = INF
    values[7:9, 2] = NAN
    missing = clean(values, ("a", "flow", "c"), fill_limit=2).missing
    assert missing is not None
    assert np.argwhere(missing).tolist() == [[4, 1], [5, 1], [6, 1]]


def test_values_that_cannot_be_squared_are_refused_where_they_stand() -> None:
    for sign in [1, -1]:
        assert filled(column(1, sign * 1e100), ("a",), 1).tolist() == [[1], [sign * 1e100]]
        with pytest.raises(InputError) as caught:
            clean(column(1, 2, sign * 1.1e100), ("flow",), fill_limit=1)
        assert str(caught.value) == (
            f"X must not exceed 1e+100 in magnitude; column 'flow' is {sign * 1.1e100} at row 2"
        )
    # not where they would fill
    with pytest.raises(InputError, match=r"column 'a' is 1e\+200 at row 1"):
        clean(column(NAN, 1e200, 3), ("a",), fill_limit=1)


def test_floats_of_every_size_keep_their_type() -> None:
    for dtype in [np.float16, np.float32, np.float64, np.longdouble]:
        largest = min(float(np.finfo(dtype).max), 1e100)
        found = filled(column(largest, NAN, -1, INF, dtype=dtype), ("a",), fill_limit=1)
        assert found.dtype == dtype
        assert found[:, 0].tolist() == [dtype(largest), dtype(largest), -1, -1]


def test_values_are_copied_only_to_be_filled_and_the_input_is_never_changed() -> None:
    whole = [column(0, 1, dtype=dtype) for dtype in (np.int8, np.int64, np.uint64, bool)]
    for values in (np.ones((5, 1)), np.empty((0, 1)), *whole):
        assert filled(values, ("a",), fill_limit=0) is values
    holed = np.array([[1.0, NAN], [NAN, 2.0]])
    holed.flags.writeable = False
    assert filled(holed, ("a", "b"), fill_limit=1).tolist() == [[1, 2], [1, 2]]
    # unless the caller owns the array
    own = holed.copy()
    assert filled(own, ("a", "b"), fill_limit=1, in_place=True) is own
    assert own.tolist() == [[1, 2], [1, 2]]


def test_a_gap_is_found_in_any_chunk_of_a_long_series() -> None:
    n = 2 * scaling.CHUNK + 3
    values = np.ones((n, 2), dtype=np.float32)
    values[-1, 1] = NAN
    # across the border of two chunks
    values[scaling.CHUNK - 1 : scaling.CHUNK + 1, 0] = NAN
    found = clean(values, ("a", "b"), fill_limit=2)
    assert (found.values == 1).all()
    assert found.missing is None
    missing = clean(values, ("a", "b"), fill_limit=1).missing
    assert missing is not None
    assert np.argwhere(missing).tolist() == [[scaling.CHUNK - 1, 0], [scaling.CHUNK, 0]]


def test_the_last_value_is_carried_over_gaps() -> None:
    filler = ForwardFill(np.array([7.0]))
    values, gaps = filler.step(column(NAN, 1, NAN, NAN, 2, NAN))
    assert values[:, 0].tolist() == [7, 1, 1, 1, 2, 2]
    assert gaps[:, 0].tolist() == [1, 0, 1, 2, 0, 1]
    values, gaps = filler.step(column(NAN, 3))
    assert values[:, 0].tolist() == [2, 3]
    assert gaps[:, 0].tolist() == [2, 0]


def test_rows_are_told_in_which_channels_speak_first() -> None:
    filler = ForwardFill(np.zeros(3))
    rows = np.array([[1, NAN, NAN], [NAN, NAN, 2], [1, NAN, 2]])
    assert filler.first_values(rows) == {0: [0], 1: [2]}
    filler.step(rows)
    assert filler.first_values(np.array([[NAN, 5, 5]])) == {0: [1]}
    filler.step(np.ones((1, 3)))
    assert filler.first_values(rows) == {}


cells = st.sampled_from([NAN, NAN, 1.0, 2.0, 3.0])
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=40)


@given(tables, st.integers(0, 4), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_rows_are_filled_as_in_a_batch_however_they_are_grouped(
    rows: list[tuple[float, float]], limit: int, sizes: list[int]
) -> None:
    table, typical = np.array(rows), np.array([70.0, 80.0])
    values, missing = clean(table, ("a", "b"), limit)
    series = replace_missing(TrainSeries(values, missing=missing), typical)
    apart = np.zeros(len(table), bool) if missing is None else missing.any(axis=1)
    gaps, found, start = GapFiller(typical, limit), [], 0
    while start < len(table):
        part = table[start : start + sizes[len(found) % len(sizes)]]
        found.append(gaps.settle(part))
        assert len(gaps.held) <= limit or not limit
        again = GapFiller(typical, limit)
        again.restore(gaps.state())
        gaps, start = again, start + len(part)
    found.append(gaps.settle(table[:0], ends=True))
    np.testing.assert_array_equal(np.concatenate([one.values for one in found]), series.values)
    np.testing.assert_array_equal(np.concatenate([one.apart for one in found]), apart)
