"""How many alarms would be false: the lowest level at which most are not.

What normal rows do says how many excursions above a level to expect of a stretch of so many rows.
Where there are clearly more than that, most of them are real. This is how Benjamini and Hochberg
(1995) bound the share of false discoveries, for excursions in place of tests: a long stretch must
stand out further than a short one, and many anomalies may each be smaller than a single one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.normal import EXCURSION, NormalScores

# levels that are looked at, evenly spread over the rows above the least one
LEVELS = 100


def lowest_level(
    scores: NDArray[np.float64], own: NormalScores, pooled: NormalScores, share: float
) -> float:
    """The lowest level above which at most a ``share`` of the excursions are expected to be false.

    Normal excursions are those of the entity itself or of all entities together, whichever are
    rarer: one that was restless for a while in training is not deaf ever after. A stretch counts
    as at least as long as the training rows: no rarer chance can be told from them. And
    no level is below what one normal row in a hundred exceeds.
    """
    rows = max(len(scores), own.rows)
    least = max(own.high, pooled.high)
    level = level_of_one(rows, own, pooled, share)
    above = scores[scores > least]
    if not len(above):
        return level

    def chance(score: float) -> float:
        return min(own.tail.chance(score), pooled.tail.chance(score))

    levels = np.quantile(above, np.linspace(0, 1, LEVELS, endpoint=False))
    for candidate in [least, *levels.tolist()]:
        if candidate >= level:
            break
        if rows * chance(candidate) <= share * excursions(scores, candidate):
            return float(candidate)
    return level


def level_of_one(rows: int, own: NormalScores, pooled: NormalScores, share: float) -> float:
    """The level that so many normal rows exceed ``share`` times: for a single alarm."""
    chance = share / rows
    level = min(own.tail.level(chance), pooled.tail.level(chance))
    return max(level, own.high, pooled.high)


def excursions(scores: NDArray[np.float64], level: float) -> int:
    """How many times scores rise above a level; rows close to each other count once."""
    rows = np.flatnonzero(scores > level)
    return 0 if not len(rows) else 1 + int((np.diff(rows) >= EXCURSION).sum())
