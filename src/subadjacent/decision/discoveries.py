"""Which entities of many stand out: a p-value each, and Benjamini and Hochberg's choice among them.

An entity's p-value is the chance that normal rows have as high a maximum as its tested rows have.
Its own normal rows are too few for that: a chance of one in ten thousand needs ten thousand blocks
of rows. All entities together have them. Each entity's scores are put into its own unit, and the
highest score of its tested rows is compared with the highest scores of blocks of normal rows, of
all entities. That chance, times the number of blocks that were tested (Bonferroni: it holds however
blocks depend on each other), is the p-value.

The unit of a block is learned from other rows of its entity, as that of rows to test is: a unit
that had seen the block, or what is next to it, would make it look calmer than rows to come are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.decision.conformal import block_maxima, conformal_p_values
from subadjacent.decision.normal import EXCURSION_GAP
from subadjacent.errors import InputError, require_number

BLOCK_ROWS = EXCURSION_GAP
"""Rows of a block: as many as make one excursion of scores, which are averages over 20 rows."""

FOLDS = 10
"""Parts of an entity's blocks whose unit is learned from the other parts. With 2, units of 100 rows
are so unsteady that hardly anything stands out (reproduce/log.md, "Which entities stand out")."""

GUARD_BLOCKS = 1
"""Blocks on either side of such a part that its unit is not learned from: scores remember, and a
high block has high neighbours, which rows to come have not (same entry)."""

MAX_BLOCKS = 1000
"""Blocks of one entity that others are compared with, the latest: more would say little more."""

MIN_DEVIATION = 1e-6
"""Least deviation that is a unit, also as a share of the mean: less is a network's rounding."""

MIN_TAIL_BLOCKS, MAX_TAIL_BLOCKS, TAIL_DIVISOR = 10, 100, 20
"""Highest blocks that tell the tail: one in so many of all, within these bounds."""


class Worst(NamedTuple):
    """The highest tested score of an entity, and those of its normal blocks, in its own unit.

    ``score`` is the highest of its rows to test, ``blocks`` how many blocks they are, and
    ``normal`` the highest score of each block of its normal rows.
    """

    score: float
    blocks: int
    normal: NDArray[np.float64]


def worst_of(normal: NDArray[np.float64], tested: NDArray[np.float64]) -> Worst:
    """Compute it from held-out scores of normal rows and scores of tested rows, in time order."""
    kept = _blocks_in_units(normal)[-MAX_BLOCKS:]
    if not len(tested):
        return Worst(-np.inf, 0, kept)
    score = (tested.max() - normal.mean()) / _unit(normal.mean(), normal.var())
    return Worst(float(score), -(-len(tested) // BLOCK_ROWS), kept)


def _blocks_in_units(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Highest score of each block, in deviations above the mean of rows that are not near it."""
    count = len(normal) // BLOCK_ROWS
    level = float(normal.mean())
    # relative to the mean: squares of large numbers lose the digits of a small deviation
    scores = normal - level
    highest = block_maxima(scores, BLOCK_ROWS)
    sums, squares = (
        np.concatenate([[0.0], np.cumsum(values)]) for values in (scores, np.square(scores))
    )
    maxima = []
    for fold in np.array_split(np.arange(count), max(min(FOLDS, count), 1)):
        if not len(fold):
            break
        near = (
            max(fold[0] - GUARD_BLOCKS, 0) * BLOCK_ROWS,
            min((fold[-1] + 1 + GUARD_BLOCKS) * BLOCK_ROWS, len(normal)),
        )
        outside = len(normal) - (near[1] - near[0])
        if outside < BLOCK_ROWS:
            continue
        mean, square = (
            (total[-1] - (total[near[1]] - total[near[0]])) / outside for total in (sums, squares)
        )
        maxima.append((highest[fold] - mean) / _unit(level + mean, square - mean**2))
    return np.concatenate(maxima) if maxima else highest[:0]


def _unit(mean: float, variance: float) -> float:
    """The standard deviation, or the size of rounding errors if that is larger."""
    return max(float(np.sqrt(max(variance, 0.0))), MIN_DEVIATION, MIN_DEVIATION * abs(mean))


def p_values_of(entities: Sequence[Worst], *, extrapolate: bool = True) -> NDArray[np.float64]:
    """The p-value of each entity, from the blocks of all; 1 where nothing was tested.

    With N blocks no rank is rarer than 1 / (N + 1). Above the highest block, where ``extrapolate``,
    a Pareto tail of the highest blocks says how rare a score is: exactly, if the tail is that
    heavy, and too high if it is lighter. Without, p-values are conformal all through, and few
    entities that stand out are told from chance only if many more rows were fitted on than tested.
    """
    normal = np.concatenate([worst.normal for worst in entities]) if entities else np.empty(0)
    if not len(normal):
        return np.ones(len(entities))
    tested = [number for number, worst in enumerate(entities) if worst.blocks]
    p_values = np.ones(len(entities))
    if tested:
        scores = np.array([entities[number].score for number in tested])
        chances = conformal_p_values(normal, scores)
        if extrapolate:
            chances = np.minimum(chances, tail_p_values(normal, scores))
        blocks = np.array([entities[number].blocks for number in tested])
        p_values[tested] = np.minimum(blocks * chances, 1.0)
    return p_values


def tail_p_values(normal: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The p-values of scores above all normal ones, by a Pareto tail; of others, and of few, 1.

    Logarithms of the k highest of N scores, less that of the next one, are exponential where the
    tail is Pareto, and so is that of a further score, if it is above it, which has a chance of
    (k + 1) / (N + 1). The chance that it is more than t times their sum is (1 + t) ** -k: there is
    no parameter to estimate, and so no error of it.
    """
    ordered = np.sort(normal)
    k = int(np.clip(len(ordered) // TAIL_DIVISOR, MIN_TAIL_BLOCKS, MAX_TAIL_BLOCKS))
    p_values = np.ones(len(scores))
    if len(ordered) < 2 * k or ordered[-k - 1] <= 0:
        return p_values
    base, above = ordered[-k - 1], scores > ordered[-1]
    total = float(np.log(ordered[-k:] / base).sum())
    if total > 0:
        rise = np.log(scores[above] / base) / total
        p_values[above] = (k + 1) / (len(ordered) + 1) * (1 + rise) ** -k
    return p_values


def benjamini_hochberg(p_values: ArrayLike, rate: float) -> NDArray[np.bool_]:
    """Which of many p-values to keep so that a share of at most ``rate`` of those is false.

    Benjamini and Hochberg (1995): with m p-values, the k lowest are kept for the largest k whose
    k-th lowest is at most ``k / m * rate``. The share is a mean over fleets like this one, and at
    most ``rate`` times the share of entities that are normal. It holds where p-values are
    independent, or depend on each other positively: a cause that all have in common is one.
    """
    require_number("rate", rate, above=0, most=1)
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError("p_values must be numbers from 0 to 1 in one dimension")
    ordered = np.sort(values)
    fine = np.flatnonzero(ordered <= rate * np.arange(1, len(ordered) + 1) / max(len(ordered), 1))
    return np.asarray(values <= ordered[fine[-1]]) if len(fine) else np.zeros(len(values), bool)
