"""Missing values are filled in a graph as the library fills them."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.onnx.graphs import run
from subadjacent.data.cleaning import clean
from subadjacent.data.missing import stand_in
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.onnx.missing import fill

NAN = np.nan


def filled(rows: np.ndarray, fill_limit: int, typical: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, missing = run(lambda x: fill(x, fill_limit, typical), [float, bool], rows)
    return values, missing


def test_a_short_gap_takes_the_value_before_it_and_a_long_one_what_is_typical() -> None:
    rows = np.array([[NAN, 1.0, NAN, 3.0, NAN, NAN, NAN, np.inf, 8.0, NAN]]).T
    values, missing = filled(rows, 2, np.array([-1.0]))
    assert values[:, 0].tolist() == [1.0, 1.0, 1.0, 3.0, -1.0, -1.0, -1.0, -1.0, 8.0, 8.0]
    assert np.flatnonzero(missing).tolist() == [4, 5, 6, 7]


def test_a_channel_without_any_value_is_missing_whatever_the_limit() -> None:
    rows = np.array([[NAN, 1.0], [NAN, 2.0]])
    values, missing = filled(rows, 10, np.array([5.0, 6.0]))
    assert values.tolist() == [[5.0, 1.0], [5.0, 2.0]]
    assert missing.tolist() == [True, True]


def test_complete_rows_stay_as_they_are() -> None:
    rows = np.array([[1.0, -1e99], [2.0, 0.0]])
    values, missing = filled(rows, 0, np.zeros(2))
    assert values.tolist() == rows.tolist()
    assert missing.tolist() == [False, False]


@pytest.mark.parametrize("limit", [0, 1, 3, 100])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_any_gaps_are_filled_as_the_library_fills_them(n: int, limit: int) -> None:
    chance = np.random.default_rng(100 * n + limit)
    typical = np.array([10.0, 20.0, 30.0])
    for often in (0.1, 0.5, 0.9):
        rows = np.where(chance.random((n, 3)) < often, NAN, chance.normal(size=(n, 3)))
        cleaned = clean(rows, ("a", "b", "c"), limit)
        wanted = stand_in(TrainSeries(cleaned.values, missing=cleaned.missing), typical)
        values, missing = filled(rows, limit, typical)
        assert values.tolist() == wanted.values.tolist()
        rows_missing = wanted.missing_rows
        assert missing.tolist() == ([False] * n if rows_missing is None else rows_missing.tolist())
