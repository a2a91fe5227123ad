"""Which training scores to judge normal rows by, when some training rows may be anomalous.

Anomalies in training data score high there too. A threshold set by them would let as many pass.
But what comes again and again, all through the training rows, is normal, however far out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# a score is far out so many times the distance of the upper fifth from the median
FAR_OUT = 20.0
# rows around one that is far out share averages with it
REACH = 60
# at least this share is trusted: what most rows do is normal
LEAST = 0.5
# trusting fewer makes the next ones far out: so often at most
PASSES = 5
TINY = 1e-6
# so many events, and one in each of so many parts of the rows, are a habit
MANY, PARTS = 8, 5


def trusted(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of a series, in time order, are neither far out nor close to one that is."""
    kept = np.ones(len(scores), dtype=bool)
    for _ in range(PASSES):
        usual, high = np.quantile(scores[kept], [0.5, 0.8])
        far = scores > usual + FAR_OUT * max(high - usual, TINY)
        if _comes_again(far):
            return np.ones(len(scores), dtype=bool)
        before, kept = kept, _away_from(far)
        if (kept == before).all():
            break
    return kept


def _comes_again(far: NDArray[np.bool_]) -> bool:
    """Whether rows that are far out form many events, with some in every part of the rows."""
    rows = np.flatnonzero(far)
    events = 1 + int((np.diff(rows) > REACH).sum()) if len(rows) else 0
    parts = np.unique(rows * PARTS // len(far))
    return events >= MANY and len(parts) == PARTS


def _away_from(far: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows as far away as leaves enough of them."""
    total = np.concatenate([[0], np.cumsum(far)])
    rows = np.arange(len(far))
    for reach in (REACH, REACH // 2, REACH // 4, 0):
        last = np.minimum(rows + reach + 1, len(far))
        kept = total[last] == total[np.maximum(rows - reach, 0)]
        if kept.mean() >= LEAST:
            return np.asarray(kept)
    return np.ones(len(far), dtype=bool)
