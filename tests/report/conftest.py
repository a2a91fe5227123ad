"""Detectors fitted once for all tests of the report; tests must not change them."""

from __future__ import annotations

import pytest

from report.attentive import AttentiveDetector
from report.sample import dated
from subadjacent import SubAdjacentDetector
from subadjacent.data.plant import Plant
from subadjacent.decision.alarms import Alarm
from subadjacent.detectors.assessment import Assessment


@pytest.fixture(scope="session")
def named(plant: Plant) -> SubAdjacentDetector:
    """Fitted on a frame."""
    return SubAdjacentDetector().fit(dated(plant.train))


@pytest.fixture(scope="session")
def attentive(plant: Plant) -> AttentiveDetector:
    """Fitted on a frame, with all that a model may show."""
    return AttentiveDetector(contamination=0.01).fit(dated(plant.train))


@pytest.fixture(scope="session")
def assessed(named: SubAdjacentDetector, plant: Plant) -> Assessment:
    """What ``named`` says of the test rows."""
    return named.assess(dated(plant.test))


@pytest.fixture(scope="session")
def alarms(assessed: Assessment) -> list[Alarm]:
    """Those of ``assessed``, every event by itself, however close or alike they are."""
    return assessed.alarms(again=0)
