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
# at most one row in this many outside the fold is a guard row, so at least half of them are left
MIN_ROWS_PER_GUARD_ROW = 4

Span = tuple[int, int]


def folds(count: int) -> list[Span]:
    """Bounds of the folds of ``count`` rows, counted through all segments; none is empty."""
    edges = np.linspace(0, count, min(FOLDS, count) + 1).astype(int).tolist()
    return list(pairwise(edges))


def guarded(fold: Span, count: int) -> Span:
    """The bounds of a fold together with the guard rows on both sides."""
    first, last = fold
    guard = min(GUARD, (count - (last - first)) // MIN_ROWS_PER_GUARD_ROW)
    return max(first - guard, 0), min(last + guard, count)
