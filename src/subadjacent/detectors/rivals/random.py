"""Noise for scores: what a metric gives to a detector that knows nothing."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.seed import choose_seed
from subadjacent.methods.controls import RandomMethod
from subadjacent.runtime import Runtime, Watch


class RandomDetector(BaseDetector):
    """Scores every row by a uniform random number between 0 and 1.

    The number follows from the seed, the entity's name and the row's place in its unbroken
    stretch, and from nothing else: rows that come later change no score. Entities that were not
    there in fitting share the numbers of a series without a name. Explanations are those of
    ``MagnitudeDetector``.

    Parameters
    ----------
    smoothing : int
        Average each score with those before it, so many in all.
    clip : float
        Standardised values beyond this are cut; for the explanations alone.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels; as for ``SubAdjacentDetector``.
    adapt_after : int or None
        Rows after which what has moved for good is the new normal: one alarm, not one for ever.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.
    random_state : int, RandomState or None
        Decides the scores.
    """

    def __init__(
        self,
        *,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
        random_state: Any = 0,
    ) -> None:
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit
        self.random_state = random_state

    def _method(self) -> RandomMethod:
        return RandomMethod(smoothing=self.smoothing, clip=self.clip)

    def _runtime(self, watch: Watch) -> Runtime:
        return Runtime(seed=choose_seed(self.random_state), watch=watch)
