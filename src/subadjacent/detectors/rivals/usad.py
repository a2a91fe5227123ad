"""USAD as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.usad import USAD


@dataclass(kw_only=True, eq=False, repr=False)
class USADDetector(RivalDetector):
    """Finds rows that two autoencoders, trained against each other, reconstruct badly.

    Audibert et al. (KDD 2020); see ``networks/usad.py`` for what is faithful.

    Parameters
    ----------
    second : float
        Weight of the second reconstruction in the score, 0 to 1: more finds more, and more that
        is false.
    others
        As of every ``NetworkDetector``. A window has 12 points, unless it is given.
    """

    rival = USAD

    second: float = 0.5
