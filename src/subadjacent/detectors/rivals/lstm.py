"""A forecasting LSTM as a detector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.lstm import LSTM
from subadjacent.scoring.threshold import DynamicLevel


@dataclass(kw_only=True, eq=False, repr=False)
class LSTMDetector(RivalDetector):
    """Finds rows that an LSTM did not forecast.

    Hundman et al. (KDD 2018); see ``networks/lstm.py`` for what is faithful.

    Parameters
    ----------
    smoothing : int
        Number of errors that are averaged: that of the row, and those before it; the paper's 105.
    contamination : threshold object, "auto", float or str
        ``DynamicLevel()``, the paper's threshold: the errors of a segment stand out most above it.
    others
        As of every ``NetworkDetector``. A window has 250 points, unless it is given.
    """

    rival = LSTM

    smoothing: int = 105
    contamination: Any = DynamicLevel()  # noqa: RUF009 — frozen, and fitted as a copy
