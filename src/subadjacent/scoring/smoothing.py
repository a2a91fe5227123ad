"""Moving averages of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import require_whole


def smooth(scores: NDArray[Any], length: int, before: float) -> NDArray[np.float64]:
    """Mean of each score and the ``length - 1`` before it.

    It trails, so that a smoothed score never changes when more rows come. ``before`` stands
    for the scores before the first: a mean over fewer would be noisier there, and alarms at
    the start of a series the likelier for it.
    """
    require_whole("smoothing", length, least=1)
    seen = np.minimum(np.arange(1, len(scores) + 1), length)
    total = trailing_sum(np.asarray(scores, dtype=np.float64), length)
    return (total + before * (length - seen)) / length


def trailing_sum(values: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Sum of each value and the ``length - 1`` before it; of fewer at the start.

    Made of running sums that start anew every ``length`` rows: a difference of two sums over
    the whole series would carry the rounding of one huge value to all rows after it.
    """
    n = len(values)
    length = max(min(length, n), 1)
    blocks = np.pad(values, (0, -n % length)).reshape(-1, length)
    up_to = np.cumsum(blocks, axis=1)
    # what is left of the block before, after its first i + 1 values have moved out
    left = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1]
    left = np.pad(left[:-1, 1:], ((1, 0), (0, 1)))
    return np.asarray((up_to + left).reshape(-1)[:n])
