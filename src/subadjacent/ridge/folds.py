"""Contiguous parts of the rows, each judged by what was learned from the others."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

FOLDS = 5


def folds(count: int) -> list[tuple[int, int]]:
    """Bounds of the folds of so many rows, counted through all stretches; none is empty."""
    edges = np.linspace(0, count, min(FOLDS, count) + 1).astype(int).tolist()
    return list(pairwise(edges))
