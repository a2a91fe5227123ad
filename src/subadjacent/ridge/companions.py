"""What is left of a channel's residual, given those of the other channels in the same row.

Residuals of channels that move together are expected from each other: a relation that breaks shows
even where every channel by itself stays within what is usual.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
# residuals beyond this are cut where relations are learned, in standard deviations
LEARNING_CLIP = 10.0
# and beyond this where they are applied: one channel that is far out must not put all others out
CLIP = 30.0
# share of the mean variance added to every channel's: relations of a few rows are not believed.
# A plateau from a tenth of it to three times (docs/log.md, "The default detector")
SHRINKAGE = 0.1
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
    cuts = np.linspace(0, len(rows), FOLDS + 1).astype(int)
    folds = [_products(rows[first:last]) for first, last in pairwise(cuts)]
    everything = sum(folds[1:], start=folds[0])
    left = [
        _solve(everything - fold, len(rows) - (last - first)).unexplained(rows[first:last])
        for fold, (first, last) in zip(folds, pairwise(cuts), strict=True)
    ]
    ends = np.cumsum([int(where.sum()) for where in judged])[:-1]
    unseen = [np.zeros(part.shape, dtype=np.float32) for part in parts]
    for target, where, values in zip(
        unseen, judged, np.split(np.concatenate(left), ends), strict=True
    ):
        target[where] = values
    return CompanionsFit(_solve(everything, len(rows)), unseen)


def _products(rows: Residuals) -> NDArray[np.float64]:
    """Sums of products of channels, (C, C)."""
    values = np.clip(rows, -LEARNING_CLIP, LEARNING_CLIP).astype(np.float64)
    return np.asarray(values.T @ values)


def _solve(products: NDArray[np.float64], rows: int) -> Companions:
    """Each channel's regression on all others, from one inverse."""
    covariance = products / max(rows, 1)
    channels = len(covariance)
    added = SHRINKAGE * np.trace(covariance) / channels + LEAST
    precision = np.linalg.inv(covariance + added * np.eye(channels))
    weights = precision / np.diag(precision)[:, None]
    return Companions(np.ascontiguousarray(weights, dtype=np.float32))
