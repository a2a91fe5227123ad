"""Contiguous folds of the rows for cross-validation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

FOLDS = 5
# rows on either side of a fold that nothing is learned from for it: as many as residuals are
# averaged over. Rows to come are further away, and rows next to each other are alike. Without any,
# autoregressive rows have four times as many false alarms (reproduce/log.md, "What contamination
# promises")
GUARD = 40
# but no more than one in so many of the rows outside the fold: half of these are left at least
LEAST_LEFT = 4

Span = tuple[int, int]


def folds(count: int) -> list[Span]:
    """Bounds of the folds of ``count`` rows, counted through all segments; none is empty."""
    edges = np.linspace(0, count, min(FOLDS, count) + 1).astype(int).tolist()
    return list(pairwise(edges))


def guarded(fold: Span, count: int) -> Span:
    """The bounds of a fold with the rows on either side that are left out with it."""
    first, last = fold
    guard = min(GUARD, (count - (last - first)) // LEAST_LEFT)
    return max(first - guard, 0), min(last + guard, count)
