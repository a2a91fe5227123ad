"""Fit a band ridge, with cross-validated residuals.

Shapes: T rows of a segment, n rows in all, C channels, F features.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import Rows
from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.cases import Cases, FewCases, ManyCases
from subadjacent.ridge.folds import Span, folds
from subadjacent.ridge.moments import Moments
from subadjacent.ridge.neighbours import Neighbours

# ridge penalties, chosen among by cross-validation
PENALTIES = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
# rows that are enough to learn from: more of them change less than chance does
MAX_ROWS = 1_000_000
# fewer rows than this are multiplied out as they are, in float32: with the least penalty their
# sums can still be solved. Half or twice as many take a little longer
MAX_DIRECT_ROWS = 4_000


class RidgeFit(NamedTuple):
    """A fitted model, and the cross-validated residuals.

    ``unseen`` holds the residuals of the requested rows, 0 elsewhere; ``mean_squares`` are those
    of all rows, (C,).
    """

    model: BandRidge
    unseen: list[Rows]
    penalty: float
    mean_squares: NDArray[np.float64]


def fit_ridge(
    segments: Sequence[Rows],
    neighbours: Neighbours,
    axes: NDArray[np.float32],
    *,
    local: bool,
    penalties: Sequence[float] = PENALTIES,
    wanted: Sequence[slice] | None = None,
    most: int = MAX_ROWS,
) -> RidgeFit | None:
    """Fit to unbroken segments of standardised rows.

    Only rows that have all their neighbours are learned from. They are cut into contiguous folds,
    which choose the penalty. Rows within the neighbours' reach of a fold are left out with it, for
    they are made of the same rows. Where that leaves nothing to learn from, there is no model:
    residuals of rows that were learned from are far too small to set a scale. ``wanted``
    says which rows of every segment to give residuals of, all when left out. Of more than about
    ``most`` rows, some from all over them are learned from.
    """
    blank = BandRidge(neighbours, axes, np.zeros((0, 0), np.float32), local)
    total = sum(rows.stop - rows.start for rows in map(neighbours.complete, map(len, segments)))
    if not total:
        return None
    bounds = _folds(segments, neighbours, total)
    if not _leave_some(bounds, neighbours.reach):
        return None
    guarded = _guarded(bounds, neighbours.reach)
    cases: Cases
    if total < MAX_DIRECT_ROWS:
        cases = FewCases(blank, segments)
    else:
        edges = {0, total, *(edge for pair in (*bounds, *guarded) for edge in pair)}
        cases = ManyCases(blank, segments, edges, most)
    everything = cases.moments(0, total)
    # fewer rows weigh less against a penalty
    share = everything.rows / total
    learned = [everything - cases.moments(*pair) for pair in guarded]
    trial = _choose_penalty(cases, bounds, learned, [share * penalty for penalty in penalties])
    return RidgeFit(
        blank.with_weights(everything.solve(trial.penalty)),
        cases.residuals([blank.with_weights(weights) for weights in trial.weights], bounds, wanted),
        trial.penalty / share,
        np.maximum(trial.errors, 0) / everything.rows,
    )


def _folds(segments: Sequence[Rows], neighbours: Neighbours, total: int) -> list[Span]:
    """Bounds of the folds among the cases: the folds of all rows, as in every other fit.

    Where these leave some fold without a case, or without one to learn from, equal ones.
    """
    at, rows = 0, []
    for segment in segments:
        complete = neighbours.complete(len(segment))
        rows.append(np.arange(at + complete.start, at + complete.stop))
        at += len(segment)
    edges = [first for first, _ in folds(at)[1:]]
    inner = np.searchsorted(np.concatenate(rows), edges).tolist()
    of_rows = list(pairwise([0, *inner, total]))
    every_fold = all(first < last for first, last in of_rows)
    return of_rows if every_fold and _leave_some(of_rows, neighbours.reach) else folds(total)


def _guarded(bounds: Sequence[Span], reach: int) -> list[Span]:
    """Folds with the cases on either side that share rows with them."""
    total = bounds[-1][1]
    return [(max(first - reach, 0), min(last + reach, total)) for first, last in bounds]


def _leave_some(bounds: Sequence[Span], reach: int) -> bool:
    """Whether every fold leaves some cases to learn from."""
    whole = (0, bounds[-1][1])
    return whole not in _guarded(bounds, reach)


class _PenaltyTrial(NamedTuple):
    """A penalty, the weights fitted outside each fold, and their errors on the folds."""

    penalty: float
    weights: list[NDArray[np.float64]]
    errors: NDArray[np.float64]  # (C,)


def _choose_penalty(
    cases: Cases,
    folds: Sequence[tuple[int, int]],
    learned: Sequence[Moments],
    penalties: Sequence[float],
) -> _PenaltyTrial:
    """The penalty of least error on held-out rows.

    Errors fall and then rise along the penalties: from the middle, downhill.
    """

    def attempt(penalty: float) -> _PenaltyTrial:
        weights = [moments.solve(penalty) for moments in learned]
        errors = [
            cases.errors(*fold, fold_weights)
            for fold, fold_weights in zip(folds, weights, strict=True)
        ]
        return _PenaltyTrial(penalty, weights, np.sum(errors, axis=0))

    middle = (len(penalties) - 1) // 2
    best = attempt(penalties[middle])
    for further in (penalties[middle + 1 :], penalties[:middle][::-1]):
        improved = False
        for penalty in further:
            trial = attempt(penalty)
            if trial.errors.sum() >= best.errors.sum():
                break
            best, improved = trial, True
        if improved:
            break
    return best
