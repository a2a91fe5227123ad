"""Units of channels, and running moments."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.moments import CLIPPED_AT, RunningMoments, Standardiser


def test_the_first_rows_give_mean_and_variance() -> None:
    moments = RunningMoments(2)
    moments.begin(np.array([[0.0, 4.0], [2.0, 4.0]]))
    assert moments.mean.tolist() == [1, 4]
    assert moments.variance.tolist() == [1, 0]
    assert moments.negligible == pytest.approx([0.1, 0], abs=1e-5)


def test_rows_and_residuals_are_clipped_to_a_number_of_deviations() -> None:
    moments = RunningMoments(1)
    moments.begin(np.array([[-1.0], [1.0]]))
    # the deviation is 1, and a tenth is added for channels that have none
    assert moments.clip_rows(np.array([[50.0], [-50.0], [2.0]]), 6.0)[:, 0].tolist() == [
        pytest.approx(6.6),
        pytest.approx(-6.6),
        2.0,
    ]
    assert moments.clip_residuals(np.array([[9.0]]), np.array([[-5.0]]), 6.0).tolist() == [
        [[6], [-5]]
    ]


def test_moments_are_learned_and_forgotten() -> None:
    moments = RunningMoments(1)
    moments.begin(np.zeros((10, 1)))
    ones = np.ones((10, 1))
    residuals = np.stack([2 * ones, 3 * ones], axis=1)
    moments.learn(ones, residuals, 1.0)
    # ten rows beside ten
    assert moments.mean.item() == 0.5
    assert moments.variance.item() == 0.125
    assert moments.residual_squares[:, 0].tolist() == [2.5, 5.0]
    assert moments.half_range.item() == pytest.approx(3 * np.sqrt(5))
    moments.learn(ones, residuals, 0.0)
    assert moments.mean.item() == 1.0
    other = RunningMoments(1)
    other.restore(moments.state())
    assert (other.rows, other.mean.item(), other.half_range.item()) == (
        10,
        1,
        moments.half_range.item(),
    )


def test_units_are_deviations_from_the_median() -> None:
    standardiser = Standardiser(1)
    standardiser.fit(np.array([[1.0], [3.0], [8.0]]))
    deviation = np.std([1, 3, 8])
    rows = np.array([[3.0], [3 + 2 * deviation]])
    assert standardiser.standardise(rows)[:, 0].tolist() == pytest.approx([0, 2])
    np.testing.assert_allclose(standardiser.original_units(standardiser.standardise(rows)), rows)


def test_a_channel_that_stands_still_has_a_unit_by_its_size() -> None:
    standardiser = Standardiser(3)
    standardiser.fit(np.tile([0.0, 5.0, -2e9], (9, 1)))
    assert standardiser.unit.tolist() == [1, 5e-3, 2e6]


def test_before_it_is_fitted_rows_stay_as_they_are_and_huge_ones_are_clipped() -> None:
    rows = np.array([[7.0, -1e50, 1e13]])
    assert Standardiser(3).standardise(rows).tolist() == [[7, -CLIPPED_AT, CLIPPED_AT]]


def test_units_are_restored() -> None:
    standardiser, other = Standardiser(1), Standardiser(1)
    standardiser.fit(np.array([[1.0], [3.0], [8.0]]))
    other.restore(standardiser.state())
    rows = np.array([[4.0]])
    assert other.standardise(rows) == standardiser.standardise(rows)
