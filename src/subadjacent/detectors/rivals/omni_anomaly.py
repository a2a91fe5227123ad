"""OmniAnomaly as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.omni_anomaly import OmniAnomaly


@dataclass(kw_only=True, eq=False, repr=False)
class OmniAnomalyDetector(RivalDetector):
    """Finds rows that a chain of latent variables gives a low density.

    Su et al. (KDD 2019); see ``networks/omni_anomaly.py`` for what is faithful.

    Parameters
    ----------
    latent : int
        Latent variables of a row.
    others
        As of every ``NetworkDetector``. The first half of a window is where it gets its state.
    """

    rival = OmniAnomaly

    latent: int = 3
