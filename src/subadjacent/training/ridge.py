"""Fit a band ridge, and say what it would have made of rows it had not seen.

Shapes: T rows of a stretch, C channels, F features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

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
    penalties: Sequence[float] = PENALTIES,
) -> Fit:
    """The model, and for every stretch the residuals of models that had not seen those rows.

    The rows are cut into contiguous folds, which choose the penalty. Rows within the band's reach
    of a fold are left out with it, for they are made of the same points.
    """
    blank = BandRidge(band, main_axes(list(parts)), np.zeros((0, 0), np.float32), local, side)
    lengths = [len(part) for part in parts]
    total = sum(lengths)
    cuts = np.linspace(0, total, min(FOLDS, total) + 1).astype(int)
    folds = list(pairwise(cuts.tolist()))
    guarded = [(max(a - band.far, 0), min(b + band.far, total)) for a, b in folds]
    edges = sorted({0, total, *cuts.tolist(), *(edge for pair in guarded for edge in pair)})
    pieces = {(first, last): _moments(blank, parts, first, last) for first, last in pairwise(edges)}

    def within(first: int, last: int) -> _Moments:
        found = [one for (a, b), one in pieces.items() if first <= a and b <= last]
        return sum(found[1:], start=found[0])

    def outside(first: int, last: int) -> _Moments | None:
        found = [one for (a, b), one in pieces.items() if b <= first or a >= last]
        return sum(found[1:], start=found[0]) if found else None

    everything = within(0, total)
    seen = [outside(*pair) or everything for pair in guarded]
    with threadpool_limits(1, user_api="blas"):
        # these matrices are small: several threads would wait for each other more than work
        trials = {penalty: [moments.solve(penalty) for moments in seen] for penalty in penalties}
    best = min(
        penalties,
        key=lambda penalty: sum(
            within(*fold).error(weights)
            for fold, weights in zip(folds, trials[penalty], strict=True)
        ),
    )
    unseen = [blank.with_weights(weights) for weights in trials[best]]
    residuals = _out_of_fold(unseen, folds, parts)
    return Fit(blank.with_weights(everything.solve(best)), residuals, best)


def _moments(blank: BandRidge, parts: Sequence[Rows], first: int, last: int) -> _Moments:
    """Of the rows from ``first`` to ``last``, counted over all stretches."""
    found: Any = None
    for part, start, stop in _overlaps(parts, first, last):
        for features, targets in blank.cases(part, start, stop):
            one = _Moments(
                (features.T @ features).astype(np.float64),
                (features.T @ targets).astype(np.float64),
                float(np.square(targets, dtype=np.float64).sum()),
            )
            found = one if found is None else found + one
    assert isinstance(found, _Moments)
    return found


def _out_of_fold(
    models: Sequence[BandRidge], folds: Sequence[tuple[int, int]], parts: Sequence[Rows]
) -> list[Rows]:
    found: list[Rows] = []
    for model, (first, last) in zip(models, folds, strict=True):
        for part, start, stop in _overlaps(parts, first, last):
            for features, targets in model.cases(part, start, stop):
                found.append(targets - features @ model.weights)
    whole = np.concatenate(found)
    return np.split(whole, np.cumsum([len(part) for part in parts])[:-1])


def _overlaps(parts: Sequence[Rows], first: int, last: int) -> list[tuple[Rows, int, int]]:
    """The stretches that rows ``first`` to ``last`` of all rows lie on, and where on each."""
    found, at = [], 0
    for part in parts:
        start, stop = max(first - at, 0), min(last - at, len(part))
        if start < stop:
            found.append((part, start, stop))
        at += len(part)
    return found
