"""GTA as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.gta import GTA


@dataclass(kw_only=True, eq=False, repr=False)
class GTADetector(RivalDetector):
    """Finds rows that a Transformer over a learned graph of the channels forecasts badly.

    Chen et al. (IEEE Internet of Things Journal, 2021); see ``networks/gta.py`` for what is
    faithful. Time and memory grow with the square of the channels.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 61 points, unless it is given: 60 and the one
        that is forecast.
    """

    rival = GTA
