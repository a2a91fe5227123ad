"""Fit a band ridge, and say what it would have made of rows it had not seen.

Shapes: T rows of a stretch, C channels, F features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import Rows
from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.moments import Moments, moments
from subadjacent.ridge.neighbours import Neighbours

FOLDS = 5
# how strongly weights are held back; the folds choose
PENALTIES = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
# rows that are enough to learn from: what more of them change is less than chance does
MOST_ROWS = 1_000_000
# rows whose moments are taken at a time
CHUNK = 65_536


class RidgeFit(NamedTuple):
    """A fitted model, and what models that had not seen a row make of it.

    ``unseen`` holds the residuals of the rows asked for, 0 elsewhere; ``mean_squares`` are those
    of all residuals, (C,).
    """

    model: BandRidge
    unseen: list[Rows]
    penalty: float
    mean_squares: NDArray[np.float64]


def fit_ridge(
    parts: Sequence[Rows],
    neighbours: Neighbours,
    axes: NDArray[np.float32],
    *,
    local: bool,
    penalties: Sequence[float] = PENALTIES,
    wanted: Sequence[slice] | None = None,
    most: int = MOST_ROWS,
) -> RidgeFit | None:
    """Fit to unbroken stretches of standardised rows.

    Only rows that have all their neighbours are learned from. They are cut into contiguous folds,
    which choose the penalty. Rows within the neighbours' reach of a fold are left out with it, for
    they are made of the same rows. Where that leaves nothing to learn from, there is no model:
    residuals of rows that were learned from are far too small to say what is usual. ``wanted``
    says which rows of every stretch to give residuals of; all when left out. Of more than about
    ``most`` rows, some from all over them are learned from.
    """
    blank = BandRidge(neighbours, axes, np.zeros((0, 0), np.float32), local)
    cases = _Cases(blank, parts)
    total = len(cases)
    if not total:
        return None
    cuts = np.linspace(0, total, min(FOLDS, total) + 1).astype(int).tolist()
    folds = list(pairwise(cuts))
    reach = neighbours.reach
    guarded = [(max(first - reach, 0), min(last + reach, total)) for first, last in folds]
    edges = sorted({0, total, *cuts, *(edge for pair in guarded for edge in pair)})
    share = max(most // (len(edges) - 1), 1)
    pieces = {
        (first, last): cases.moments(first, min(last, first + share))
        for first, last in pairwise(edges)
    }

    def within(first: int, last: int) -> Moments:
        inside = [piece for (a, b), piece in pieces.items() if first <= a and b <= last]
        return sum(inside[1:], start=inside[0])

    everything = within(0, total)
    if any(first == 0 and last == total for first, last in guarded):
        return None
    learned = [everything - within(*pair) for pair in guarded]
    trial = _choose_penalty(learned, [within(*fold) for fold in folds], penalties)
    return RidgeFit(
        blank.with_weights(everything.solve(trial.penalty)),
        cases.residuals([blank.with_weights(each) for each in trial.weights], folds, wanted),
        trial.penalty,
        np.maximum(trial.errors, 0) / everything.count,
    )


class _Trial(NamedTuple):
    """A penalty, the weights that each fold's other rows lead to, and their errors on the fold."""

    penalty: float
    weights: list[NDArray[np.float64]]
    errors: NDArray[np.float64]  # (C,)


def _choose_penalty(
    learned: Sequence[Moments], judged: Sequence[Moments], penalties: Sequence[float]
) -> _Trial:
    """The penalty of least error on held-out rows.

    Errors fall and then rise along the penalties: from the middle, downhill.
    """

    def attempt(penalty: float) -> _Trial:
        weights = [moments.solve(penalty) for moments in learned]
        errors = [fold.errors(each) for fold, each in zip(judged, weights, strict=True)]
        return _Trial(penalty, weights, np.sum(errors, axis=0))

    middle = (len(penalties) - 1) // 2
    best = attempt(penalties[middle])
    for others in (penalties[middle + 1 :], penalties[:middle][::-1]):
        improved = False
        for penalty in others:
            trial = attempt(penalty)
            if trial.errors.sum() >= best.errors.sum():
                break
            best, improved = trial, True
        if improved:
            break
    return best


class _Cases:
    """The rows of all stretches that have all their neighbours, counted through."""

    def __init__(self, blank: BandRidge, parts: Sequence[Rows]) -> None:
        self.blank = blank
        self.parts = parts
        self.complete = [blank.neighbours.complete(len(part)) for part in parts]

    def __len__(self) -> int:
        return sum(rows.stop - rows.start for rows in self.complete)

    def moments(self, first: int, last: int) -> Moments:
        """Of the cases from ``first`` to ``last``."""
        reach = self.blank.neighbours.reach
        channels, axes = self.blank.axes.shape
        total = Moments.nothing(self.blank.neighbours.count * axes + 1, channels)
        for number, start, stop in self._overlaps(first, last):
            for at in range(start, stop, CHUNK):
                begin, end = max(at - reach, 0), min(at + CHUNK, stop)
                inputs = self.blank.inputs(self.parts[number][begin : end + reach])
                total = total + moments(self.blank, inputs, at - begin, end - begin)
        return total

    def residuals(
        self,
        models: Sequence[BandRidge],
        folds: Sequence[tuple[int, int]],
        wanted: Sequence[slice] | None,
    ) -> list[Rows]:
        """Of the wanted rows, by the model of their fold; 0 where a row is no case."""
        residuals = [np.zeros_like(part) for part in self.parts]
        for model, (first, last) in zip(models, folds, strict=True):
            for number, start, stop in self._overlaps(first, last):
                if wanted is not None:
                    start, stop = max(start, wanted[number].start), min(stop, wanted[number].stop)
                if start < stop:
                    rows = model.residuals(self.parts[number], start, stop)
                    residuals[number][start:stop] = rows
        return residuals

    def _overlaps(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """The stretches that some cases lie on, and from which row to which."""
        at = 0
        for number, rows in enumerate(self.complete):
            start, stop = max(first - at, 0), min(last - at, rows.stop - rows.start)
            if start < stop:
                yield number, rows.start + start, rows.start + stop
            at += rows.stop - rows.start
