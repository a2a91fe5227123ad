"""How far a row is from the mean: the least a detector should beat."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.controls import MagnitudeMethod


class MagnitudeDetector(BaseDetector):
    """Scores a row by its mean squared standardised value.

    Parameters
    ----------
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
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> MagnitudeMethod:
        return MagnitudeMethod(smoothing=self.smoothing, clip=self.clip)
