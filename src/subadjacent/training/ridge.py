"""Fit a band ridge, and say what it would have made of rows it had not seen.

Shapes: T rows of a stretch, C channels, F features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from subadjacent.core.band import Band
from subadjacent.model.ridge import BandRidge, Rows, main_axes

FOLDS = 5
# how strongly weights are held back; the folds choose
PENALTIES = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
# keeps the smallest penalty solvable where features are alike
JITTER = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Sums over rows: of features by features, features by targets, and squared targets."""

    features: NDArray[np.float64]  # (F, F)
    targets: NDArray[np.float64]  # (F, C)
    squares: float

    def __add__(self, other: _Moments) -> _Moments:
        return _Moments(
            self.features + other.features,
            self.targets + other.targets,
            self.squares + other.squares,
        )

    def solve(self, penalty: float) -> NDArray[np.float64]:
        """The weights, (F, C)."""
        ridge = self.features.copy()
        ridge[np.diag_indices_from(ridge)] += penalty + JITTER
        return np.asarray(cho_solve(cho_factor(ridge), self.targets))

    def error(self, weights: NDArray[np.float64]) -> float:
        """Sum of squared errors on these rows, without looking at them again."""
        explained = 2 * np.sum(weights * self.targets)
        return float(self.squares - explained + np.sum(weights * (self.features @ weights)))


class Fit(NamedTuple):
    """A fitted model, its residuals on rows it had not seen, and the penalty that was chosen."""

    model: BandRidge
    unseen: list[Rows]
    penalty: float


def fit_ridge(
    parts: Sequence[Rows],
    band: Band,
    *,
    local: bool,
    side: str = "both",
    step: int = 1,
    penalties: Sequence[float] = PENALTIES,
) -> Fit | None:
    """The model, and for every stretch the residuals of models that had not seen those rows.

    Only rows that have all their neighbours are learned from; the residuals of others are 0. The
    rows are cut into contiguous folds, which choose the penalty. Rows within the band's reach of a
    fold are left out with it, for they are made of the same points. Where that leaves nothing to
    learn from, there is no model.
    """
    axes = main_axes(list(parts))
    blank = BandRidge(band, axes, np.zeros((0, 0), np.float32), local, side, step)
    cases = _Cases(blank, parts)
    total = len(cases)
    if not total:
        return None
    cuts = np.linspace(0, total, min(FOLDS, total) + 1).astype(int)
    folds = list(pairwise(cuts.tolist()))
    guarded = [(max(a - band.far, 0), min(b + band.far, total)) for a, b in folds]
    edges = sorted({0, total, *cuts.tolist(), *(edge for pair in guarded for edge in pair)})
    pieces = {(first, last): cases.moments(first, last) for first, last in pairwise(edges)}

    def within(first: int, last: int) -> _Moments:
        found = [one for (a, b), one in pieces.items() if first <= a and b <= last]
        return sum(found[1:], start=found[0])

    def outside(first: int, last: int) -> _Moments | None:
        found = [one for (a, b), one in pieces.items() if b <= first or a >= last]
        return sum(found[1:], start=found[0]) if found else None

    everything = within(0, total)
    seen = [moments for pair in guarded if (moments := outside(*pair)) is not None]
    if len(seen) < len(folds):
        # residuals of rows that were learned from are far too small to say what is usual
        return None
    trials = {penalty: [moments.solve(penalty) for moments in seen] for penalty in penalties}
    judged = [within(*fold) for fold in folds]
    best = min(
        penalties,
        key=lambda penalty: sum(
            moments.error(weights) for moments, weights in zip(judged, trials[penalty], strict=True)
        ),
    )
    unseen = [blank.with_weights(weights) for weights in trials[best]]
    residuals = cases.residuals(unseen, folds)
    return Fit(blank.with_weights(everything.solve(best)), residuals, best)


class _Cases:
    """The rows of all stretches that have all their neighbours, counted through."""

    def __init__(self, blank: BandRidge, parts: Sequence[Rows]) -> None:
        self.blank = blank
        self.parts = parts
        self.complete = [blank.complete(len(part)) for part in parts]

    def __len__(self) -> int:
        return sum(rows.stop - rows.start for rows in self.complete)

    def moments(self, first: int, last: int) -> _Moments:
        """Of the cases from ``first`` to ``last``."""
        found: _Moments | None = None
        for number, start, stop in self._overlaps(first, last):
            for features, targets in self.blank.cases(self.parts[number], start, stop):
                one = _Moments(
                    (features.T @ features).astype(np.float64),
                    (features.T @ targets).astype(np.float64),
                    float(np.square(targets, dtype=np.float64).sum()),
                )
                found = one if found is None else found + one
        assert found is not None
        return found

    def residuals(
        self, models: Sequence[BandRidge], folds: Sequence[tuple[int, int]]
    ) -> list[Rows]:
        """Of every row, by the model of its fold; 0 where a row is no case."""
        found = [np.zeros_like(part) for part in self.parts]
        for model, (first, last) in zip(models, folds, strict=True):
            for number, start, stop in self._overlaps(first, last):
                left = [
                    targets - features @ model.weights
                    for features, targets in model.cases(self.parts[number], start, stop)
                ]
                found[number][start:stop] = np.concatenate(left)
        return found

    def _overlaps(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """The stretches that some cases lie on, and from which row to which."""
        at = 0
        for number, rows in enumerate(self.complete):
            start, stop = max(first - at, 0), min(last - at, rows.stop - rows.start)
            if start < stop:
                yield number, rows.start + start, rows.start + stop
            at += rows.stop - rows.start
