"""DAGMM as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.dagmm import DAGMM


@dataclass(kw_only=True, eq=False, repr=False)
class DAGMMDetector(RivalDetector):
    """Finds rows whose code and errors, in an autoencoder, are unlikely under a mixture.

    Zong et al. (ICLR 2018); see ``networks/dagmm.py`` for what is faithful.

    Parameters
    ----------
    mixtures : int
        Components of the mixture: how many kinds of normal there are, roughly.
    others
        As of every ``NetworkDetector``. A window has 5 points, unless it is given; it is one
        sample, of its last row.
    """

    rival = DAGMM

    mixtures: int = 4
