"""The residuals of single rows from their principal components."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.subspace import SubspaceMethod


@dataclass(kw_only=True, eq=False, repr=False)
class PCADetector(MethodDetector):
    """Scores a row by its mean squared distance, a channel, from the main directions of training.

    One analysis for each entity, and one of all rows for entities that are new.

    Parameters
    ----------
    variance : float
        Keep as few directions as hold this share of the variance; never all of them.
    others
        As of every ``MethodDetector``.
    """

    method = SubspaceMethod

    variance: float = 0.9
