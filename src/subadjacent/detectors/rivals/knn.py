"""Distance to the nearest rows of training."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.neighbours import NearestMethod


@dataclass(kw_only=True, eq=False, repr=False)
class KNNDetector(MethodDetector):
    """Scores a row by its Euclidean distance to the k-th nearest row of training.

    Ramaswamy, Rastogi and Shim, "Efficient algorithms for mining outliers from large data sets"
    (SIGMOD 2000), between standardised rows, as published comparisons on several channels have
    it. A channel's part in an alarm is its part of that squared distance. Ours is that a new row
    is compared with training rows, not with its like; that of a long training series 10,000
    rows are kept, drawn by chance but always the same; and that the threshold is set by training
    rows that each were compared with the other four fifths of their series.

    Parameters
    ----------
    neighbours : int
        k.
    window : int
        Rows in a window that ends with the row: all their channels make one vector. 1: rows alone.
    references : int
        Training rows to keep at most, an entity.
    others
        As of every ``MethodDetector``.
    """

    method = NearestMethod

    neighbours: int = 10
    window: int = 1
    references: int = 10_000
