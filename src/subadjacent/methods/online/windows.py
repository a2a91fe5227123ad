"""Windows over rows without a copy, and the stillness of a channel over them.

Stillness is the inverse of the deviation over the last rows. Noise that gets smaller, a cycle that
does not come and a sensor that hangs move too little; the other views see only what moves too much.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STILLNESS_ROWS = 30
"""Rows that the deviation is over. 10 are as good within chance (the log, "A surprise is held
against what was told")."""

MIN_DEVIATION = 0.02
"""In standardised units, added to a deviation: smaller ones count nearly alike."""


def stillness(rows: Array) -> Array:
    """The inverse of each channel's deviation over its last ``STILLNESS_ROWS`` rows, (B, C).

    ``rows`` are those of all windows, (B + STILLNESS_ROWS - 1, C), standardised.
    """
    # `std` of NumPy does the same, and takes thrice as long for a single row
    values = windows(rows, STILLNESS_ROWS)
    centred = values - np.add.reduce(values, axis=-1, keepdims=True) / STILLNESS_ROWS
    np.multiply(centred, centred, out=centred)
    deviation = np.sqrt(np.add.reduce(centred, axis=-1) / STILLNESS_ROWS)
    still: Array = 1 / (deviation + MIN_DEVIATION)
    return still


def windows(rows: Array, length: int) -> Array:
    """Every ``length`` rows that follow each other, last in the shape: (T - length + 1, …, length).

    ``rows`` must lie in memory one after the other. The result is to be read only.
    """
    assert rows.flags.c_contiguous
    assert len(rows) >= length
    shape = (len(rows) - length + 1, *rows.shape[1:], length)
    strides = (*rows.strides, rows.strides[0])
    return np.ndarray(shape, rows.dtype, rows, strides=strides)
