"""Windows over rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from subadjacent.streaming.learning.windows import windows


def test_a_window_is_rows_that_follow_each_other() -> None:
    assert windows(np.array([1.0, 2.0, 3.0]), 2).tolist() == [[1, 2], [2, 3]]


@pytest.mark.parametrize("shape", [(5,), (5, 3), (7, 1)])
@pytest.mark.parametrize("length", [1, 4, 5])
def test_it_is_what_numpy_says(shape: tuple[int, ...], length: int) -> None:
    rows = np.random.default_rng(0).standard_normal((9, *shape[1:]))[2 : 2 + shape[0]]
    assert (windows(rows, length) == sliding_window_view(rows, length, axis=0)).all()
