"""NPSR as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.npsr import NPSR


@dataclass(kw_only=True, eq=False, repr=False)
class NPSRDetector(RivalDetector):
    """Finds points whose values do not go together, and unusual ones close to them.

    Lai et al. (NeurIPS 2023); see ``networks/npsr.py`` for what is faithful. It needs several
    channels: of one or two, a point says little by itself.

    Parameters
    ----------
    reach : int
        Points on either side that a score may spread to; 0 leaves the error alone.
    nominal : float
        Share of held-out points that a score can spread to; more spreads it further.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given.
    """

    rival = NPSR

    reach: int = 16
    nominal: float = 0.985
