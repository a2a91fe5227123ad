"""Averages over rows: of scores, and of explanations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from subadjacent.methods.views.residual_scale import CHUNK
from subadjacent.methods.views.smoothing import smoothed, smoothing_lengths, unusual


def test_a_score_is_the_mean_of_three_averages_by_hand() -> None:
    rows = np.zeros(7)
    rows[3] = 9.0
    # the row itself 9; over 2 rows 4.5; over 6 rows 1.5, from row 1 to row 6
    assert smoothed(rows, 2, 0)[3] == pytest.approx((9 + 4.5 + 9 / 4) / 3)
    assert smoothed(rows, 2, 0)[6] == pytest.approx((0 + 0 + 1.5) / 3)
    assert smoothed(rows, 1, 0).tolist() == [0, 0, 0, 9, 0, 0, 0]


def test_rows_that_a_short_segment_lacks_count_as_silent_beyond_half_by_hand() -> None:
    rows = np.full(3, 6.0)
    # over 4 rows there are 2 or 3 around each; over 12 rows 3, and 6 are the least
    assert smoothed(rows, 4, None).tolist() == [(6 + 6 + 18 / 6) / 3] * 3
    # looking back, the first row has one of four, the second two
    assert smoothed(rows, 4, 0) == pytest.approx(
        [(6 + 3 + 1) / 3, (6 + 6 + 2) / 3, (6 + 6 + 3) / 3]
    )
    # half of 5 rows are 3
    assert smoothed(rows[:2], 5, 0) == pytest.approx([(6 + 2 + 6 / 8) / 3, (6 + 4 + 12 / 8) / 3])


def test_scores_are_averaged_over_the_row_some_rows_and_three_times_as_many() -> None:
    assert smoothing_lengths(20) == (1, 20, 60)
    assert smoothing_lengths(1) == (1,)


def test_rows_that_are_alike_tie() -> None:
    rows = 0.1 + np.array([1e-12, 0, -1e-12, 0])
    assert len(set(smoothed(rows, 1, 0))) == 1


@pytest.mark.parametrize("chunk", [7, CHUNK])
@pytest.mark.parametrize(("smoothing", "lookahead"), [(1, None), (2, 0), (20, 3), (20, None)])
def test_explanations_are_averages_as_squares(
    smoothing: int, lookahead: int | None, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The definition read aloud."""
    rows = 130
    monkeypatch.setattr("subadjacent.methods.views.residual_scale.CHUNK", chunk)
    values = np.random.default_rng(rows).exponential(size=(rows, 2)).astype(np.float32)
    found = unusual(values, smoothing, lookahead, 0, rows)
    ahead = (smoothing - 1) // 2
    if lookahead is not None:
        ahead = min(ahead, lookahead)
    for row in range(rows):
        near = values[max(row + ahead + 1 - smoothing, 0) : row + ahead + 1]
        for channel in range(2):
            mean = float(near[:, channel].astype(np.float64).mean())
            assert found[row, channel] == pytest.approx(100 * (math.exp(mean) - 1), rel=1e-5)


@pytest.mark.parametrize(("smoothing", "lookahead"), [(1, None), (4, 0), (30, 3), (30, None)])
def test_some_rows_are_averaged_as_among_all(smoothing: int, lookahead: int | None) -> None:
    rows = 60
    drawn = np.random.default_rng(rows).uniform(size=(rows, 2))
    scores = smoothed(drawn[:, 0], smoothing, lookahead)
    values = unusual(drawn, smoothing, lookahead, 0, rows)
    for first in range(0, rows, 3):
        for last in (first, min(first + 1, rows), min(first + 8, rows)):
            some = smoothed(drawn[:, 0], smoothing, lookahead, first, last)
            np.testing.assert_array_equal(some, scores[first:last])
            own = unusual(drawn, smoothing, lookahead, first, last)
            np.testing.assert_array_equal(own, values[first:last])


def test_no_rows_have_no_scores() -> None:
    assert smoothed(np.zeros(0), 20, None).tolist() == []
