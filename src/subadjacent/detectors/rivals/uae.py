"""UAE as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.uae import UAE


@dataclass(kw_only=True, eq=False, repr=False)
class UAEDetector(RivalDetector):
    """Finds rows that autoencoders of single channels reconstruct badly.

    Garg et al. (TNNLS 2021); see ``networks/uae.py`` for what is faithful.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given.
    """

    rival = UAE
