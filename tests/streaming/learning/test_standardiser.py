"""Standardised units of each channel."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.moments import CLIPPED_AT, Standardiser


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
