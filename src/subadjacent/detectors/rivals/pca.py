"""What the principal components of single rows leave unexplained."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.subspace import SubspaceMethod


class PCADetector(BaseDetector):
    """Scores a row by its mean squared distance, a channel, from the main directions of training.

    One analysis for each entity, and one of all rows for entities that are new.

    Parameters
    ----------
    variance : float
        Keep as few directions as hold this share of the variance; never all of them.
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
        variance: float = 0.9,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.variance = variance
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> SubspaceMethod:
        return SubspaceMethod(variance=self.variance, smoothing=self.smoothing, clip=self.clip)
