"""How much denser the nearest rows of training lie than a row."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.neighbours import DensityMethod


class LOFDetector(BaseDetector):
    """Scores a row by its local outlier factor: how much denser its neighbours lie than it does.

    Breunig, Kriegel, Ng and Sander, "LOF: identifying density-based local outliers" (SIGMOD
    2000), of standardised rows, as published comparisons on several channels have it; about 1 is
    normal. A ratio of densities has no parts: the channels in an alarm are those by which the row
    is far from its neighbours, an approximation. Ours is that neighbours are training rows alone,
    10,000 of a long series, drawn by chance but always the same; that none counts as nearer than a
    hundredth of a deviation, or rows that repeat would be infinitely dense; and that the
    threshold is set by training rows that each were compared with the other four fifths.

    Parameters
    ----------
    neighbours : int
        How many training rows a row is compared with.
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
        neighbours: int = 20,
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

    def _method(self) -> DensityMethod:
        return DensityMethod(
            neighbours=self.neighbours,
            window=self.window,
            references=self.references,
            smoothing=self.smoothing,
            clip=self.clip,
        )
