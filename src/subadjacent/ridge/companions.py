"""What is left of a channel's residual, given those of the other channels in the same row.

Residuals of channels that move together are expected from each other: a relation that breaks shows
even where every channel by itself stays within what is usual.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import RowSums
from subadjacent.ridge.folds import folds

# residuals beyond this are cut where relations are applied: one channel that is far out must not put all others out
CLIP = 30.0
# share of the mean variance added to every channel's: relations of a few rows are not believed.
# A plateau from a tenth of it to three times (docs/log.md, "The default detector")
SHRINKAGES = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
# and as much at least, in squared standard deviations
LEAST = 1e-3

Residuals = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """Expects each channel's residual from the others', in a linear way.

    Parameters
    ----------
    weights
        What is left of a row e is ``weights @ e``, (C, C); ones on the diagonal.
    """

    weights: NDArray[np.float32]

    def unexplained(self, residuals: Residuals) -> NDArray[np.float32]:
        """What the other channels leave of each channel's residual, (T, C)."""
        return np.asarray(np.clip(residuals, -CLIP, CLIP) @ self.weights.T, dtype=np.float32)


class CompanionsFit(NamedTuple):
    """Fitted relations, and what those that had not seen a row leave of it."""

    companions: Companions
    unseen: list[NDArray[np.float32]]


def fit_companions(
    parts: Sequence[Residuals], judged: Sequence[NDArray[np.bool_]]
) -> CompanionsFit:
    """From the rows that have a residual at all; others have 0, and nothing is left of them.

    The rows are cut into contiguous folds; what is left of a fold's rows is by relations learned
    from the others'.
    """
    rows = np.concatenate([part[where] for part, where in zip(parts, judged, strict=True)])
    bounds = folds(len(rows))
    if not bounds:
        channels = parts[0].shape[1]
        nothing = [np.zeros(part.shape, dtype=np.float32) for part in parts]
        return CompanionsFit(Companions(np.eye(channels, dtype=np.float32)), nothing)
    inside = [RowSums.of(rows[first:last]) for first, last in bounds]
    everything = sum(inside[1:], start=inside[0])
    outside = [everything - fold for fold in inside]
    trial = _choose_shrinkage(inside, outside, everything)
    left = [
        companions.unexplained(rows[first:last])
        for companions, (first, last) in zip(trial.companions, bounds, strict=True)
    ]
    ends = np.cumsum([int(where.sum()) for where in judged])[:-1]
    unseen = [np.zeros(part.shape, dtype=np.float32) for part in parts]
    for target, where, values in zip(
        unseen, judged, np.split(np.concatenate(left), ends), strict=True
    ):
        target[where] = values
    return CompanionsFit(_solve(everything, trial.shrinkage), unseen)


class _Trial(NamedTuple):
    """A shrinkage, the relations that each fold's other rows lead to, and their error."""

    shrinkage: float
    companions: list[Companions]
    error: float


def _choose_shrinkage(
    inside: Sequence[RowSums], outside: Sequence[RowSums], everything: RowSums
) -> _Trial:
    """The shrinkage of least error on held-out rows, all channels counting alike."""
    usual = np.diag(everything.products) / everything.count + LEAST

    def attempt(shrinkage: float) -> _Trial:
        companions = [_solve(sums, shrinkage) for sums in outside]
        errors = [
            np.einsum("ij,jk,ik->i", each.weights, sums.products, each.weights, optimize=True)
            for each, sums in zip(companions, inside, strict=True)
        ]
        return _Trial(shrinkage, companions, float((np.sum(errors, axis=0) / usual).sum()))

    best = attempt(SHRINKAGES[0])
    for shrinkage in SHRINKAGES[1:]:
        trial = attempt(shrinkage)
        if trial.error >= best.error:
            break
        best = trial
    return best


def _solve(sums: RowSums, shrinkage: float) -> Companions:
    """Each channel's regression on all others, from one inverse."""
    covariance = sums.covariance
    channels = len(covariance)
    added = shrinkage * np.trace(covariance) / channels + LEAST
    precision = np.linalg.inv(covariance + added * np.eye(channels))
    weights = precision / np.diag(precision)[:, None]
    return Companions(np.ascontiguousarray(weights, dtype=np.float32))
