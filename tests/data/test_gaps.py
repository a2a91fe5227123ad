"""Gaps in rows that arrive a few at a time: carried over, or settled as in a batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.cleaning import clean
from subadjacent.data.gaps import ForwardFill, GapFiller
from subadjacent.data.missing import stand_in
from subadjacent.data.series import TrainSeries

NAN = np.nan


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


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


def test_a_row_waits_until_its_gap_is_short_or_long() -> None:
    gaps = GapFiller(np.array([7.0]), fill_limit=2)
    assert gaps.settle(column(1, NAN))[0].tolist() == [[1]]
    assert gaps.settle(column(NAN, 3))[0].tolist() == [[1], [1], [3]]
    values, apart = gaps.settle(column(NAN, NAN, NAN))
    assert values.tolist() == [[7], [7], [7]]
    assert apart.tolist() == [True] * 3
    # and all that follow, until a value comes
    values, apart = gaps.settle(column(NAN, 4, NAN))
    assert values.tolist() == [[7], [4]]
    assert apart.tolist() == [True, False]
    assert gaps.settle(column(), ends=True)[0].tolist() == [[4]]


def test_the_first_gap_of_a_segment_takes_the_value_after_it() -> None:
    gaps = GapFiller(np.array([7.0]), fill_limit=2)
    assert gaps.settle(column(NAN, NAN))[0].tolist() == []
    assert gaps.settle(column(3))[0].tolist() == [[3], [3], [3]]
    gaps.begin()
    values, apart = gaps.settle(column(NAN), ends=True)
    assert (values.tolist(), apart.tolist()) == ([[7]], [True])


cells = st.sampled_from([NAN, NAN, 1.0, 2.0, 3.0])
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=40)


@given(tables, st.integers(0, 4), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_rows_are_filled_as_in_a_batch_however_they_are_grouped(
    rows: list[tuple[float, float]], limit: int, sizes: list[int]
) -> None:
    table, typical = np.array(rows), np.array([70.0, 80.0])
    values, missing = clean(table, ("a", "b"), limit)
    series = stand_in(TrainSeries(values, missing=missing), typical)
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
