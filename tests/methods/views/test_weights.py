"""How large parts of a score are on a typical row, and which get less weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.weights import (
    MIN_COMMON,
    PartWeights,
    typical_surprise,
)


def weights(typical: NDArray[np.float64]) -> PartWeights:
    """Of parts that all judge every row."""
    return PartWeights(typical, np.ones(len(typical), dtype=bool))


def test_what_is_typical_by_hand() -> None:
    # the median of 2, 0, 4 is 2, in hundredths
    assert typical_surprise(np.array([2.0, 0.0, 4.0]), 100.0) == 200.0


def test_without_a_row_nothing_is_typical() -> None:
    assert typical_surprise(np.zeros(0), 100.0) == 0.0


def test_a_part_larger_than_the_others_gets_less_by_hand() -> None:
    # the one that is silent does not count: the median of 1, 2, 4, 8 and 0.5 is 2, and 4 may be
    found = weights(np.array([1.0, 2.0, 0.0, 4.0, 8.0, 0.5]))
    assert found.common == 2.0
    assert found.factors().tolist() == [1.0, 1.0, 1.0, 1.0, 0.5, 1.0]


def test_a_part_that_judges_only_some_rows_says_nothing_of_the_others_by_hand() -> None:
    # the median of 4 and 8 is 6: without the two small ones, 8 may be, and so may 4
    found = PartWeights(np.array([4.0, 8.0, 1.0, 1.0]), np.array([True, True, False, False]))
    assert found.common == 6.0
    assert found.factors().tolist() == [1.0, 1.0, 1.0, 1.0]
    # it gets less weight itself, should it be too large
    large = PartWeights(np.array([4.0, 8.0, 24.0]), np.array([True, True, False]))
    assert large.factors().tolist() == [1.0, 1.0, 0.5]


def test_where_hardly_anything_moves_every_part_keeps_its_weight() -> None:
    assert weights(np.array([0.0, 1e-9])).factors().tolist() == [1.0, 1.0]
    for typical in [[0.0, 1e-9, 1e-4], [MIN_COMMON, 0.0, 1e-5]]:
        assert weights(np.array(typical)).factors().tolist() == [1.0, 1.0, 1.0]
