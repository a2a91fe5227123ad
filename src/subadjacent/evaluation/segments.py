"""Segments: runs of rows with the same label, one event each."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.evaluation.inputs import check_flags


def segments(labels: ArrayLike) -> NDArray[np.int64]:
    """Half-open ``[start, stop)`` bounds of each run of ones, shape (segments, 2).

    >>> segments([0, 1, 1, 0, 1]).tolist()
    [[1, 3], [4, 5]]
    """
    edges = np.diff(check_flags("labels", labels).astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(edges).reshape(-1, 2).astype(np.int64)
