"""Rows with names and times, as somebody would hand them in."""

from __future__ import annotations

import pandas as pd

from subadjacent.decision.causes import Explainer
from subadjacent.detectors.assessment import Assessment

CHANNELS = ["flow", "pressure", "heat", "<b>&valve"]


def dated(values: object, start: str = "2026-01-01") -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=CHANNELS)
    frame.index = pd.date_range(start, periods=len(frame), freq="5min")
    return frame


def explainer_of(found: Assessment) -> Explainer:
    """The explainer of the first series."""
    parts = found.series, found.evidence, found.profiles, found.decisions
    series, evidence, profiles, decisions = (part[0] for part in parts)
    return Explainer.of(series, evidence, profiles, decisions.anomalous)
