"""Scores, thresholds and alarms of the controls stay as version 0.1 had them.

The arrays under ``frozen`` were recorded with version 0.1.0. Averages and short stretches are
among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from characterisation import cases
from characterisation.test_frozen import FROZEN, _rows
from subadjacent import MagnitudeDetector, PCADetector, RandomDetector, SubPCADetector
from subadjacent.detectors.base import BaseDetector

CONTROLS: dict[str, BaseDetector] = {
    "sub_pca": SubPCADetector(smoothing=3),
    "pca": PCADetector(),
    "magnitude": MagnitudeDetector(smoothing=5),
    "random": RandomDetector(smoothing=5, random_state=7),
}
NEAR = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("name", ["entities", "gaps", "plant"])
@pytest.mark.parametrize("kind", CONTROLS)
def test_control_on_generated_rows(kind: str, name: str) -> None:
    train, test = cases.generated()[name]
    if kind == "random" and name == "entities":
        # numbers of an entity never seen followed from its name once
        test.pop("stranger")
    _compare(CONTROLS[kind].fit(train), test, f"{kind}-{name}")


def test_sub_pca_on_stretches_shorter_than_a_window() -> None:
    train, test = cases.generated()["gaps"]
    _compare(CONTROLS["sub_pca"].fit(train), test.iloc[445:460], "sub_pca-tiny")


def _compare(detector: BaseDetector, test: Any, name: str) -> None:
    with np.load(FROZEN / f"{name}.npz") as frozen:
        np.testing.assert_allclose(detector.threshold_, frozen["threshold"], **NEAR)
        np.testing.assert_allclose(detector.typical_score_, frozen["typical"], **NEAR)
        np.testing.assert_allclose(detector.decision_scores_, frozen["training"], **NEAR)
        assessment = detector.assess(test)
        scores, explained = _rows(assessment.scores), _rows(assessment.by_channel)[::7]
        np.testing.assert_allclose(scores, frozen["scores"][: len(scores)], **NEAR)
        np.testing.assert_allclose(explained, frozen["explained"][: len(explained)], **NEAR)
        alarms = assessment.alarms()
        bounds = np.array([[alarm.first, alarm.last, alarm.severity] for alarm in alarms])
        np.testing.assert_allclose(bounds.reshape(-1, 3), frozen["alarms"], **NEAR)
        first = [f"{alarm.entity}:{alarm.causes[0].channel}" for alarm in alarms]
        assert first == frozen["causes"].tolist()
