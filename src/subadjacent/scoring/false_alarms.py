"""The lowest level at which most alarms are expected to be true.

The normal scores tell how many excursions above a level to expect in a segment of a given length.
Where there are clearly more, most of them are real. This is how Benjamini and Hochberg
(1995) bound the share of false discoveries, for excursions in place of tests: a long segment must
stand out further than a short one, and many anomalies may each be smaller than a single one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.normal import EXCURSION, NormalScores

# levels that are looked at, evenly spread over the rows above the least one
LEVELS = 100


def lowest_level(
    scores: NDArray[np.float64], entity: NormalScores, pooled: NormalScores, share: float
) -> float:
    """The lowest level above which at most a ``share`` of the excursions are expected to be false.

    Normal excursions are those of the entity itself or of all entities together, whichever are
    rarer: a restless while in training does not hide all later anomalies. A segment counts
    as at least as long as the training rows: no rarer chance can be told from them. And
    no level is below what one normal row in a hundred exceeds.
    """
    rows = max(len(scores), entity.rows)
    least = max(entity.high, pooled.high)
    level = level_of_one(rows, entity, pooled, share)
    above = scores[scores > least]
    if not len(above):
        return level

    def chance(score: float) -> float:
        return min(entity.tail.chance(score), pooled.tail.chance(score))

    levels = np.quantile(above, np.linspace(0, 1, LEVELS, endpoint=False))
    for candidate in [least, *levels.tolist()]:
        if candidate >= level:
            break
        if rows * chance(candidate) <= share * excursions(scores, candidate):
            return float(candidate)
    return level


def level_of_one(rows: int, entity: NormalScores, pooled: NormalScores, share: float) -> float:
    """The level that ``rows`` normal rows exceed ``share`` times: for a single alarm."""
    chance = share / rows
    level = min(entity.tail.level(chance), pooled.tail.level(chance))
    return max(level, entity.high, pooled.high)


def excursions(scores: NDArray[np.float64], level: float) -> int:
    """How many times scores rise above a level; rows close to each other count once."""
    rows = np.flatnonzero(scores > level)
    return 0 if not len(rows) else 1 + int((np.diff(rows) >= EXCURSION).sum())
