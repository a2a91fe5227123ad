"""Which training scores to judge normal rows by, when some training rows may be anomalous.

Anomalies in training data score high there too. A threshold set by them would let as many pass.
What is far out is left out, and then what is far out seen from the rest; but not where that
comes again and again, all through the training rows: it is how the series is.
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
# so many events, and one in each of so many parts of the rows, come again and again
MANY, PARTS = 8, 5


def trusted(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of a series, in time order, are neither far out nor close to one that is."""
    everything = np.ones(len(scores), dtype=bool)
    first = kept = _away_from(_far_out(scores, everything))
    for _ in range(PASSES - 1):
        far = _far_out(scores, kept)
        if _comes_again(far):
            return first
        before, kept = kept, _away_from(far)
        if (kept == before).all():
            break
    return kept


def _far_out(scores: NDArray[np.float64], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which scores are far out as seen from those that are kept."""
    usual, high = np.quantile(scores[kept], [0.5, 0.8])
    return np.asarray(scores > usual + FAR_OUT * max(high - usual, TINY))


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
