"""Windows over rows, and the stillness of channels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from subadjacent.methods.online.windows import MIN_DEVIATION, STILLNESS_ROWS, stillness, windows


def test_a_window_is_rows_that_follow_each_other() -> None:
    assert windows(np.array([1.0, 2.0, 3.0]), 2).tolist() == [[1, 2], [2, 3]]


@pytest.mark.parametrize("shape", [(5,), (5, 3), (7, 1)])
@pytest.mark.parametrize("length", [1, 4, 5])
def test_it_is_what_numpy_says(shape: tuple[int, ...], length: int) -> None:
    rows = np.random.default_rng(0).standard_normal((9, *shape[1:]))[2 : 2 + shape[0]]
    assert (windows(rows, length) == sliding_window_view(rows, length, axis=0)).all()


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
