"""How still a channel is."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.windows import MIN_DEVIATION, STILLNESS_ROWS, stillness


def test_stillness_is_the_inverse_of_the_deviation_of_the_last_rows() -> None:
    # the first channel moves by 2 around its mean, the second never does
    rows = np.full((STILLNESS_ROWS, 2), 7.0)
    rows[::2, 0], rows[1::2, 0] = 1.0, 5.0
    assert stillness(rows)[0].tolist() == pytest.approx(
        [1 / (2 + MIN_DEVIATION), 1 / MIN_DEVIATION]
    )


def test_each_row_has_a_window_of_its_own() -> None:
    rows = np.random.default_rng(0).standard_normal((STILLNESS_ROWS + 9, 3))
    found = stillness(rows)
    assert found.shape == (10, 3)
    for row in range(10):
        expected = 1 / (rows[row : row + STILLNESS_ROWS].std(axis=0) + MIN_DEVIATION)
        np.testing.assert_allclose(found[row], expected)
