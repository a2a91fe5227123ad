"""How still a channel is: the inverse of its deviation over the last rows.

Noise that calms down, a cycle that does not come and a sensor that hangs move too little. The other
views see only what moves too much.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.windows import windows

Array = NDArray[np.float64]

STILLNESS_ROWS = 30
"""Rows that the deviation is over. 10 are as good within chance (the log, "A surprise is held
against what was told")."""

LEAST_DEVIATION = 0.02
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
    still: Array = 1 / (deviation + LEAST_DEVIATION)
    return still
