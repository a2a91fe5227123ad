"""Scores, thresholds and alarms of the paper's detector stay as version 0.1 had them.

The arrays under ``frozen`` were recorded with version 0.1.0, ``recipe="paper"``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from characterisation import cases
from subadjacent import SubAdjacentTransformerDetector

FROZEN = Path(__file__).with_name("frozen")
# matrix products round differently on other processors
NEAR = {"rtol": 1e-3, "atol": 1e-3}

needs_msl = pytest.mark.skipif(not cases.MSL.exists(), reason=f"{cases.MSL} is not there")


def test_paper_on_a_plant() -> None:
    _compare(*cases.generated()["plant"], "paper-plant")


@needs_msl
@pytest.mark.shared
def test_paper_on_msl() -> None:
    _compare(*cases.msl(), "paper-msl")


def _compare(train: Any, test: Any, name: str) -> None:
    detector = SubAdjacentTransformerDetector(size="tiny", window=40, epochs=1, stride=4).fit(train)
    assessment = detector.assess(test)
    alarms = assessment.alarms()
    with np.load(FROZEN / f"{name}.npz") as frozen:
        np.testing.assert_allclose(detector.threshold_, frozen["threshold"], **NEAR)
        np.testing.assert_allclose(detector.typical_score_, frozen["typical"], **NEAR)
        np.testing.assert_allclose(detector.decision_scores_, frozen["training"], **NEAR)
        np.testing.assert_allclose(_rows(assessment.scores), frozen["scores"], **NEAR)
        np.testing.assert_allclose(_rows(assessment.by_channel)[::7], frozen["explained"], **NEAR)
        bounds = np.array([[alarm.first, alarm.last, alarm.severity] for alarm in alarms])
        np.testing.assert_allclose(bounds.reshape(-1, 3), frozen["alarms"], **NEAR)
        first = [f"{alarm.entity}:{alarm.causes[0].channel}" for alarm in alarms]
        assert first == frozen["causes"].tolist()


def _rows(found: Any) -> np.ndarray:
    parts = list(found.values()) if isinstance(found, dict) else [found]
    return np.concatenate([np.asarray(part) for part in parts])
