"""A detector fitted on a frame, once for all tests of the report."""

from __future__ import annotations

import pytest

from conftest import SMALL
from report.sample import dated
from subadjacent import SubAdjacentDetector
from subadjacent.data.plant import Plant


@pytest.fixture(scope="session")
def named(plant: Plant) -> SubAdjacentDetector:
    """Fitted on a frame; tests must not change it."""
    return SubAdjacentDetector(**SMALL).fit(dated(plant.train))
