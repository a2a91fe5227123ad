"""THOC as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.thoc import THOC


@dataclass(kw_only=True, eq=False, repr=False)
class THOCDetector(RivalDetector):
    """Finds rows whose features, at several scales of time, are far from learned centres.

    Shen et al. (NeurIPS 2020); see ``networks/thoc.py`` for what is faithful.

    Parameters
    ----------
    orthogonal_weight : float
        Weight in training of what holds centres apart.
    forecast_weight : float
        Weight in training of the errors of forecasts.
    others
        As of every ``NetworkDetector``. The first half of a window is where it gets its state.
    """

    rival = THOC

    orthogonal_weight: float = 1.0
    forecast_weight: float = 1.0
