"""Which training scores say how high normal rows score, when some training rows are anomalous.

Anomalies in training data score high there too. A threshold set by them would let as many pass.
What is far out is left out, and then what is far out seen from the rest; but not where that
comes again and again, all through the training rows, nor where it is not much higher than what
remains at times is: it is how the series is.

Anomalies also count towards what is usual. The fold that holds them is the only one held against
others without them: its normal rows score higher than rows to come will, and are brought down to
the level of the other folds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.quantiles import median, quantiles

# The plateau of these two is narrow: 22 to 28 times, and five times, keep alarms of held-out rows
# within half and twice of what is asked for; 20 or four times do not
# (docs/log.md, "A threshold for rows to come").
# a score is far out so many times the distance of the upper fifth from the median
FAR_OUT = 25.0
# and so many times the distance of what hardly any outlier-free row exceeds
RARE, FAR_BEYOND_RARE = 0.99, 5.0
# at least this share is kept: what most rows do is normal
LEAST = 0.5
# and this of the rows apart from outliers: fewer do not tell what is usual
FEWEST = 0.1
# keeping fewer makes the next ones far out: so often at most
PASSES = 5
TINY = 1e-6
# so many events, and one in each of so many parts of the rows, come again and again. Anomalies
# that are alike are found up to twelve times, and half of them at twenty (docs/log.md, "Ends of a
# stretch, and normal bursts")
MANY, PARTS = 8, 5
# fewer kept rows than this do not tell the level of a fold
FEW = 20

Scores = NDArray[np.float64]


def level_folds(scores: Scores, folds: int, reach: int) -> Scores:
    """Scores of a series with folds that hold anomalies brought down to the others' level.

    ``scores`` are in time order, each of ``folds`` equal parts held against the others. Rows
    within ``reach`` of one that is far out share averages with it.
    """
    kept = outlier_free(scores, reach)
    parts = np.array_split(np.arange(len(scores)), min(folds, len(scores)))
    spoiled = np.array([not kept[part].all() for part in parts])
    levels = np.array([_level(scores[part], kept[part]) for part in parts])
    aim = levels.min() if spoiled.all() else levels[~spoiled].max()
    levelled = scores.copy()
    for part, level in zip(parts, np.where(spoiled, levels, aim), strict=True):
        if 0 < aim < level:
            levelled[part] *= aim / level
    return levelled


def outlier_free(scores: Scores, reach: int) -> NDArray[np.bool_]:
    """Which rows of a series, in time order, are neither far out nor close to one that is."""
    kept = _calm(scores, reach)
    return kept | _away_from(_beyond(scores, kept), reach)


def apart_from_outliers(scores: Scores, reach: int, margin: int) -> NDArray[np.bool_]:
    """Which rows are more than ``margin`` rows away from one that is far out.

    That is ``reach``, over which averages spread an outlier, or more for a window, which shows it
    for longer. A window may leave few rows, but no fewer than one in ten.
    """
    kept = outlier_free(scores, reach)
    if margin <= reach:
        return kept
    return _away_from(_beyond(scores, kept) & ~kept, margin, FEWEST)


def _beyond(scores: Scores, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which scores are far beyond what hardly any of those that are kept exceeds."""
    return np.asarray(scores > _limit(scores[kept], RARE, FAR_BEYOND_RARE))


def _calm(scores: Scores, reach: int) -> NDArray[np.bool_]:
    """Rows away from what is far out as seen from the bulk."""
    everything = np.ones(len(scores), dtype=bool)
    first = kept = _away_from(_far_out(scores, everything), reach)
    for _ in range(PASSES - 1):
        far = _far_out(scores, kept)
        if _comes_again(far, reach):
            return first
        before, kept = kept, _away_from(far, reach)
        if (kept == before).all():
            break
    return kept


def _far_out(scores: Scores, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which scores are far out as seen from those that are kept."""
    return np.asarray(scores > _limit(scores[kept], 0.8, FAR_OUT))


def _limit(scores: Scores, share: float, times: float) -> float:
    """So many times as far from the median as what a share of the scores is below."""
    usual, high = quantiles(scores, (0.5, share))
    return usual + times * max(high - usual, TINY)


def _comes_again(far: NDArray[np.bool_], reach: int) -> bool:
    """Whether rows that are far out form many events, with some in every part of the rows."""
    rows = np.flatnonzero(far)
    events = 1 + int((np.diff(rows) > reach).sum()) if len(rows) else 0
    parts = np.unique(rows * PARTS // len(far))
    return events >= MANY and len(parts) == PARTS


def _away_from(far: NDArray[np.bool_], reach: int, least: float = LEAST) -> NDArray[np.bool_]:
    """Rows as far away as leaves enough of them."""
    total = np.concatenate([[0], np.cumsum(far)])
    rows = np.arange(len(far))
    for distance in (reach, reach // 2, reach // 4, 0):
        last = np.minimum(rows + distance + 1, len(far))
        kept = total[last] == total[np.maximum(rows - distance, 0)]
        if kept.mean() >= least:
            return np.asarray(kept)
    return np.ones(len(far), dtype=bool)


def _level(scores: Scores, kept: NDArray[np.bool_]) -> float:
    """The median of kept rows, or of all where hardly any is kept."""
    return median(scores[kept] if kept.sum() >= FEW else scores)
