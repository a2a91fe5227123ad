"""Scores, thresholds and alarms of the paper's detector stay as they were.

Scores on a plant are those of 0.1.0; on MSL they are not, for values far from all others are set
aside in training rows. Thresholds and alarms were recorded when decisions came between score and
alarm.
"""

from __future__ import annotations

from typing import Any

import pytest

from characterisation import cases
from characterisation.records import Near, compare
from subadjacent import SubAdjacentTransformerDetector

# matrix products round differently on other processors
NEAR: Near = {"rtol": 1e-3, "atol": 1e-3}

needs_msl = pytest.mark.skipif(not cases.MSL.exists(), reason=f"{cases.MSL} is not there")


def test_paper_on_a_plant() -> None:
    _compare(*cases.generated()["plant"], "paper-plant")


@needs_msl
@pytest.mark.shared
def test_paper_on_msl() -> None:
    _compare(*cases.msl(), "paper-msl")


def _compare(train: Any, test: Any, name: str) -> None:
    detector = SubAdjacentTransformerDetector(size="tiny", window=40, epochs=1, stride=4).fit(train)
    compare(detector, test, name, NEAR)
