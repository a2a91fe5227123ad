"""Rows that wait for the end of a gap are filled as a batch fills them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent import PCADetector, SubAdjacentDetector
from subadjacent.data.cleaning import clean
from subadjacent.data.missing import stand_in
from subadjacent.data.series import TrainSeries
from subadjacent.streaming.scores import Gaps, ModelScores

NAN = np.nan


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def test_a_row_waits_until_its_gap_is_short_or_long() -> None:
    gaps = Gaps(np.array([7.0]), fill_limit=2)
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
    gaps = Gaps(np.array([7.0]), fill_limit=2)
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
    gaps, found, start = Gaps(typical, limit), [], 0
    while start < len(table):
        part = table[start : start + sizes[len(found) % len(sizes)]]
        found.append(gaps.settle(part))
        assert len(gaps.held) <= limit or not limit
        again = Gaps(typical, limit)
        again.restore(gaps.state())
        gaps, start = again, start + len(part)
    found.append(gaps.settle(table[:0], ends=True))
    np.testing.assert_array_equal(np.concatenate([one.values for one in found]), series.values)
    np.testing.assert_array_equal(np.concatenate([one.apart for one in found]), apart)


@pytest.mark.parametrize("kind", [PCADetector, SubAdjacentDetector])
def test_without_a_causal_twin_a_row_is_scored_as_the_last_of_its_segment(kind: Any) -> None:
    rng = np.random.default_rng(0)
    detector = kind().fit(rng.normal(size=(600, 2)))
    rows = rng.normal(size=(12, 2))
    scores = ModelScores(detector.models_.of(None), None, 10)
    found = scores.at_once(rows, np.zeros(rows.shape, bool), start=False)
    expected = [detector.decision_function(rows[: row + 1])[-1] for row in range(len(rows))]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_stands_in_for_a_channel_that_is_missing_for_long_is_what_is_typical() -> None:
    rng = np.random.default_rng(0)
    model = PCADetector().fit(5 + rng.normal(size=(600, 2))).models_.of(None)
    rows = 5 + rng.normal(size=(12, 2))
    missing = np.zeros(rows.shape, bool)
    missing[4:8, 1] = True
    carried, typical = rows.copy(), rows.copy()
    carried[4:8, 1], typical[4:8, 1] = 99.0, model.typical_values[1]
    found = ModelScores(model, None, 2).at_once(carried, missing)
    np.testing.assert_allclose(found[4:8], model.assess(typical[4:8]).score, rtol=1e-6)
    np.testing.assert_allclose(found[8:], model.assess(rows[8:]).score, rtol=1e-6)


def test_a_stop_within_a_long_gap_changes_no_score() -> None:
    rng = np.random.default_rng(0)
    model = SubAdjacentDetector(lookahead=0).fit(rng.normal(size=(600, 2))).models_.of(None)
    rows, missing = rng.normal(size=(12, 2)), np.zeros((12, 2), bool)
    missing[4:8, 1] = True
    expected = ModelScores(model, None, 2).at_once(rows, missing)
    first, second = ModelScores(model, None, 2), ModelScores(model, None, 2)
    found = [first.at_once(rows[:6], missing[:6])]
    second.restore(first.state())
    found.append(second.at_once(rows[6:], missing[6:]))
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-9)
