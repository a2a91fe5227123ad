"""Learn how channels' residuals go together, and what is left of those not learned from.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.model.companions import Companions

FOLDS = 5
# share of the mean variance added to every channel's: relations of a few rows are not believed
SHRINKAGE = 0.1
# and as much at least, in standardised units
LEAST = 1e-3
# residuals beyond this are cut where relations are learned
CLIP = 10.0

Residuals = NDArray[Any]


class Fit(NamedTuple):
    """Fitted relations, and what those that had not seen a row leave of it."""

    companions: Companions
    unseen: list[NDArray[np.float32]]


def fit_companions(parts: Sequence[Residuals], judged: Sequence[NDArray[np.bool_]]) -> Fit:
    """From the rows that have a residual at all; others have 0, and nothing is left of them.

    The rows are cut into contiguous folds; what is left of a fold's rows is by relations learned
    from the others'.
    """
    rows = np.concatenate([part[where] for part, where in zip(parts, judged, strict=True)])
    cuts = np.linspace(0, len(rows), FOLDS + 1).astype(int)
    folds = [_products(rows[first:last]) for first, last in pairwise(cuts)]
    everything = sum(folds[1:], start=folds[0])
    left = [
        _solve(everything - fold, len(rows) - (last - first)).left(rows[first:last])
        for fold, (first, last) in zip(folds, pairwise(cuts), strict=True)
    ]
    ends = np.cumsum([int(where.sum()) for where in judged])[:-1]
    unseen = [np.zeros(part.shape, dtype=np.float32) for part in parts]
    for one, where, of_part in zip(
        unseen, judged, np.split(np.concatenate(left), ends), strict=True
    ):
        one[where] = of_part
    return Fit(_solve(everything, len(rows)), unseen)


def _products(rows: Residuals) -> NDArray[np.float64]:
    """Sums of products of channels, (C, C)."""
    cut = np.clip(rows, -CLIP, CLIP).astype(np.float64)
    return np.asarray(cut.T @ cut)


def _solve(products: NDArray[np.float64], rows: int) -> Companions:
    """Each channel's regression on all others, from one inverse."""
    covariance = products / max(rows, 1)
    channels = len(covariance)
    added = SHRINKAGE * np.trace(covariance) / channels + LEAST
    precision = np.linalg.inv(covariance + added * np.eye(channels))
    weights = precision / np.diag(precision)[:, None]
    return Companions(np.ascontiguousarray(weights, dtype=np.float32))
