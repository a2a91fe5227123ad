"""GDN as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.gdn import GDN


@dataclass(kw_only=True, eq=False, repr=False)
class GDNDetector(RivalDetector):
    """Finds rows where a channel departs from what it and its neighbours in a learned graph say.

    Deng and Hooi (AAAI 2021); see ``networks/gdn.py`` for what is faithful.

    Parameters
    ----------
    history : int
        Rows that a forecast is made from.
    smoothing : int
        Rows of the trailing average of the score; 4 as in the released code.
    others
        As of every ``NetworkDetector``. A window has 32 points, unless it is given.
    """

    rival = GDN

    history: int = 5
    smoothing: int = 4
