"""How still a channel is: noise that calms down, a cycle that does not come, a sensor that hangs.

All other views see what moves too much.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.windows import windows

Array = NDArray[np.float64]

STILL_OVER = 30
"""Rows over which it is told how still a channel is. 10 are as good within chance (docs/log.md, "A
surprise is held against what was told")."""

STILL = 0.02
"""In units of a channel: one whose deviation is far less stands still, however much less."""


def stillness(rows: Array) -> Array:
    """The inverse of each channel's deviation over its last ``STILL_OVER`` rows, (B, C).

    ``rows`` are those of all windows, (B + STILL_OVER - 1, C), in units of the channels.
    """
    still: Array = 1 / (windows(rows, STILL_OVER).std(axis=-1) + STILL)
    return still
