"""TranAD as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.tranad import TranAD


@dataclass(kw_only=True, eq=False, repr=False)
class TranADDetector(RivalDetector):
    """Finds rows that a Transformer reconstructs badly, the second time knowing its errors.

    Tuli et al. (VLDB 2022); see ``networks/tranad.py`` for what is faithful.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 10 points, unless it is given.
    """

    rival = TranAD
