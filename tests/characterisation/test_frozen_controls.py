"""Scores, thresholds and alarms of the controls stay as they were.

Scores are those of 0.1.0: none of these rows is bad. Thresholds and alarms were recorded when
decisions came between score and alarm. Averages and short segments are among them.
"""

from __future__ import annotations

import pytest

from characterisation import cases
from characterisation.records import Near, compare
from subadjacent import MagnitudeDetector, PCADetector, RandomDetector, SubPCADetector
from subadjacent.detectors.base import BaseDetector

CONTROLS: dict[str, BaseDetector] = {
    "sub_pca": SubPCADetector(smoothing=3),
    "pca": PCADetector(),
    "magnitude": MagnitudeDetector(smoothing=5),
    "random": RandomDetector(smoothing=5, random_state=7),
}
NEAR: Near = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("name", ["entities", "gaps", "plant"])
@pytest.mark.parametrize("kind", CONTROLS)
def test_control_on_generated_rows(kind: str, name: str) -> None:
    train, test = cases.generated()[name]
    compare(CONTROLS[kind].fit(train), test, f"{kind}-{name}", NEAR)


def test_sub_pca_on_segments_shorter_than_a_window() -> None:
    train, test = cases.generated()["gaps"]
    compare(CONTROLS["sub_pca"].fit(train), test.iloc[445:460], "sub_pca-tiny", NEAR)
