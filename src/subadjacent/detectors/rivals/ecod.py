"""How far out each channel lies in what it was in training."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.tails import TailsMethod


class ECODDetector(BaseDetector):
    """Scores a row by the chances of values as extreme as its own, multiplied over channels.

    Li et al., "ECOD: unsupervised outlier detection using empirical cumulative distribution
    functions" (TKDE 2022), of single rows: minus the logarithm of the share of values at least as
    low or as high, added up over channels, for lower tails, upper tails, and the longer tail of
    each; the largest of the three counts. The terms of that sum are the channels' parts in an
    alarm. Ours is that shares are among training rows and the row itself, 10,000 of a long
    series. Beyond all that was seen, farther is no worse.

    Parameters
    ----------
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
        references: int = 10_000,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.references = references
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> TailsMethod:
        return TailsMethod(
            references=self.references,
            smoothing=self.smoothing,
            clip=self.clip,
        )
