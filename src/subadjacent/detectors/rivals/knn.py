"""Distance to the nearest rows of training."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.neighbours import NearestMethod


class KNNDetector(BaseDetector):
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
    smoothing : int
        Average each score with those before it, so many in all.
    clip : float
        Standardised values beyond this are cut.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels; as for ``SubAdjacentDetector``.
    adapt_after : int or None
        Rows after which what has moved for good is the new normal: one alarm, not one for ever.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.
    """

    def __init__(
        self,
        *,
        neighbours: int = 10,
        window: int = 1,
        references: int = 10_000,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.neighbours = neighbours
        self.window = window
        self.references = references
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> NearestMethod:
        return NearestMethod(
            neighbours=self.neighbours,
            window=self.window,
            references=self.references,
            smoothing=self.smoothing,
            clip=self.clip,
        )
