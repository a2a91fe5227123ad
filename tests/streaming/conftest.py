"""Detectors that several tests share."""

from __future__ import annotations

import pandas as pd
import pytest

from live_plant import CHANNELS, plant
from subadjacent import PCADetector, SubAdjacentDetector
from subadjacent.detectors.base import BaseDetector


@pytest.fixture(scope="session")
def detectors() -> dict[str, BaseDetector]:
    """Fitted ones: the default, which looks ahead, and the same with no look ahead."""
    frame = pd.DataFrame(plant(1500, seed=2), columns=list(CHANNELS))
    return {
        "default": SubAdjacentDetector().fit(frame),
        "causal": SubAdjacentDetector(lookahead=0).fit(frame),
        "pca": PCADetector().fit(frame),
    }
