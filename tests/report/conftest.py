"""A series with names, times and labels, as somebody would hand it in."""

from __future__ import annotations

import pandas as pd
import pytest

from subadjacent import SubAdjacentDetector
from subadjacent.data.plant import Plant

CHANNELS = ["flow", "pressure", "heat", "<b>&valve"]


def dated(values: object, start: str = "2026-01-01") -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=CHANNELS)
    frame.index = pd.date_range(start, periods=len(frame), freq="5min")
    return frame


@pytest.fixture(scope="session")
def named(plant: Plant) -> SubAdjacentDetector:
    """Fitted on a frame; tests must not change it."""
    return SubAdjacentDetector(window=20, epochs=2, stride=4, smoothing=3).fit(dated(plant.train))
