"""Windows over rows, without a copy.

NumPy has `sliding_window_view`, whose checks take longer than all that a single row needs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def windows(rows: Array, length: int) -> Array:
    """Every ``length`` rows that follow each other, last in the shape: (T - length + 1, …, length).

    ``rows`` must lie in memory one after the other. The result is to be read only.
    """
    assert rows.flags.c_contiguous
    assert len(rows) >= length
    shape = (len(rows) - length + 1, *rows.shape[1:], length)
    strides = (*rows.strides, rows.strides[0])
    return np.ndarray(shape, rows.dtype, rows, strides=strides)
