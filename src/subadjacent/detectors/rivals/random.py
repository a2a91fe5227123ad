"""Noise for scores: what a metric gives to a detector that knows nothing."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import SeededDetector
from subadjacent.methods.controls import RandomMethod


@dataclass(kw_only=True, eq=False, repr=False)
class RandomDetector(SeededDetector):
    """Scores every row by a uniform random number between 0 and 1.

    The number follows from the seed, the entity's name and the row's place in its unbroken
    segment, and from nothing else: rows that come later change no score. Entities that were not
    there in fitting share the numbers of a series without a name. Explanations are those of
    ``MagnitudeDetector``.

    Parameters
    ----------
    clip : float
        Standardised values beyond this are cut; for the explanations alone.
    random_state : int, RandomState or None
        Decides the scores.
    others
        As of every ``MethodDetector``.
    """

    method = RandomMethod
