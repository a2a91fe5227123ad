"""Which training scores are those of normal rows, when some training rows are anomalous.

Anomalies in the training data have high scores, and would set too high a threshold. So outliers
among the scores are left out, and then outliers among the rest. They are kept where they recur all
through the training rows, or are not much higher than the highest of the rest: then that is how
the series behaves.

Anomalies also widen the scales that residuals are compared with. In cross-validation, only the fold
that holds them is compared with scales without them: its normal rows score higher than rows to come
will, and are brought down to the level of the other folds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.quantiles import median, quantiles

# The plateau of these two is narrow: 22 to 28 times, and five times, keep alarms of held-out rows
# within half and twice of what is asked for; 20 or four times do not
# (reproduce/log.md, "A threshold for rows to come").
# an outlier is above the median by this many times the distance of the 0.8 quantile from it
OUTLIER_DISTANCE = 25.0
# and by this many times the distance of this quantile of the kept rows
RARE_QUANTILE, RARE_DISTANCE = 0.99, 5.0
# at least this share is kept: most rows are normal
MIN_KEPT_SHARE = 0.5
# and at least this share of the rows apart from outliers: fewer do not show normal scores
MIN_KEPT_APART = 0.1
# leaving out some makes others outliers: this many passes, at most
MAX_PASSES = 5
MIN_DISTANCE = 1e-6
# outliers recur if there are this many events, and one in each of this many parts. Anomalies
# that are alike are found up to twelve times, and half of them at twenty (the log, "Ends of a
# segment, and normal bursts")
MIN_EVENTS, MIN_PARTS = 8, 5
# fewer kept rows than this do not tell the level of a fold
MIN_LEVEL_ROWS = 20

Scores = NDArray[np.float64]


def level_folds(scores: Scores, folds: int, reach: int) -> Scores:
    """Scores of a series with folds that hold anomalies brought down to the others' level.

    ``scores`` are in time order, each of ``folds`` equal parts compared with the others. Rows
    within ``reach`` of one that is far out share averages with it.
    """
    kept = outlier_free(scores, reach)
    fold_rows = np.array_split(np.arange(len(scores)), min(folds, len(scores)))
    spoiled = np.array([not kept[fold].all() for fold in fold_rows])
    levels = np.array([_level(scores[fold], kept[fold]) for fold in fold_rows])
    aim = levels.min() if spoiled.all() else levels[~spoiled].max()
    levelled = scores.copy()
    for fold, level in zip(fold_rows, np.where(spoiled, levels, aim), strict=True):
        if 0 < aim < level:
            levelled[fold] *= aim / level
    return levelled


def outlier_free(scores: Scores, reach: int) -> NDArray[np.bool_]:
    """Which rows of a series, in time order, are neither far out nor close to one that is."""
    kept = _without_outliers(scores, reach)
    return kept | _away_from(_beyond(scores, kept), reach)


def apart_from_outliers(scores: Scores, reach: int, margin: int) -> NDArray[np.bool_]:
    """Which rows are more than ``margin`` rows away from one that is far out.

    That is ``reach``, over which averages spread an outlier, or more for a window, which shows it
    for longer. A window may leave few rows, but no fewer than one in ten.
    """
    kept = outlier_free(scores, reach)
    if margin <= reach:
        return kept
    return _away_from(_beyond(scores, kept) & ~kept, margin, MIN_KEPT_APART)


def _beyond(scores: Scores, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which scores are far beyond a high quantile of the kept ones."""
    return np.asarray(scores > _limit(scores[kept], RARE_QUANTILE, RARE_DISTANCE))


def _without_outliers(scores: Scores, reach: int) -> NDArray[np.bool_]:
    """Rows that are not close to an outlier."""
    everything = np.ones(len(scores), dtype=bool)
    first = kept = _away_from(_far_out(scores, everything), reach)
    for _ in range(MAX_PASSES - 1):
        far = _far_out(scores, kept)
        if _recur(far, reach):
            return first
        before, kept = kept, _away_from(far, reach)
        if (kept == before).all():
            break
    return kept


def _far_out(scores: Scores, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which scores are outliers among the kept ones."""
    return np.asarray(scores > _limit(scores[kept], 0.8, OUTLIER_DISTANCE))


def _limit(scores: Scores, share: float, times: float) -> float:
    """The level ``times`` as far above the median as the ``share`` quantile is."""
    middle, high = quantiles(scores, (0.5, share))
    return middle + times * max(high - middle, MIN_DISTANCE)


def _recur(far: NDArray[np.bool_], reach: int) -> bool:
    """Whether outliers recur: in many events, with some in every part of the rows."""
    rows = np.flatnonzero(far)
    events = 1 + int((np.diff(rows) > reach).sum()) if len(rows) else 0
    parts = np.unique(rows * MIN_PARTS // len(far))
    return events >= MIN_EVENTS and len(parts) == MIN_PARTS


def _away_from(
    far: NDArray[np.bool_], reach: int, least: float = MIN_KEPT_SHARE
) -> NDArray[np.bool_]:
    """Rows not within ``reach`` of an outlier, or a smaller distance that leaves enough rows."""
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
    return median(scores[kept] if kept.sum() >= MIN_LEVEL_ROWS else scores)
