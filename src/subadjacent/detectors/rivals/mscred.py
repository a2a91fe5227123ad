"""MSCRED as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.mscred import MSCRED


@dataclass(kw_only=True, eq=False, repr=False)
class MSCREDDetector(RivalDetector):
    """Finds rows where channels do not move together as they used to.

    Zhang et al. (AAAI 2019); see ``networks/mscred.py`` for what is faithful. Time and memory
    grow with the square of the channels.

    Parameters
    ----------
    bad : float
        Share of pairs of channels, on held-out rows, that count as badly reconstructed.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given, and the last
        ten of them are judged.
    """

    rival = MSCRED

    bad: float = 0.01
