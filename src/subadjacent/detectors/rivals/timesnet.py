"""TimesNet as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.timesnet import TimesNet


@dataclass(kw_only=True, eq=False, repr=False)
class TimesNetDetector(RivalDetector):
    """Finds rows that do not fit how a window varies within and between its periods.

    Wu et al. (ICLR 2023); see ``networks/timesnet.py`` for what is faithful.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given.
    """

    rival = TimesNet
