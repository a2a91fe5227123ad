"""How far a row is from the mean: the least a detector should beat."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.controls import MagnitudeMethod


@dataclass(kw_only=True, eq=False, repr=False)
class MagnitudeDetector(MethodDetector):
    """Scores a row by its mean squared standardised value.

    Parameters
    ----------
    others
        As of every ``MethodDetector``.
    """

    method = MagnitudeMethod
