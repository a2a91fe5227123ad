"""MTAD-GAT as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.mtad_gat import MTADGAT


@dataclass(kw_only=True, eq=False, repr=False)
class MTADGATDetector(RivalDetector):
    """Finds rows that are badly forecast and improbable, by attention over channels and time.

    Zhao et al. (ICDM 2020); see ``networks/mtad_gat.py`` for what is faithful.

    Parameters
    ----------
    gamma : float
        Weight of the reconstruction's probability beside the forecast's error.
    others
        As of every ``NetworkDetector``. A window has 101 points, unless it is given: 100 and the
        one that is forecast.
    """

    rival = MTADGAT

    gamma: float = 0.8
