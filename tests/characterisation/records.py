"""What is recorded of a fitted detector, and how it is compared with what it finds today.

A recording says nothing about what is right: other tests do. It is there so that a change of scores
or decisions that was not meant is noticed. One that was meant records them anew, and the changelog
says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from subadjacent.detectors.base import BaseDetector

FROZEN = Path(__file__).with_name("frozen")

Near = dict[str, float]


def found(detector: BaseDetector, test: Any) -> dict[str, np.ndarray]:
    """All that is recorded, by name; of the many explanations every seventh row."""
    assessment = detector.assess(test)
    alarms = assessment.alarms()
    bounds = [
        [alarm.first, alarm.last, alarm.severity, alarm.times, alarm.for_good] for alarm in alarms
    ]
    return {
        "threshold": np.asarray(detector.threshold_),
        # of all entities together, then one by one
        "typical": np.array([normal.typical for normal in detector.normal_scores_]),
        "training": detector.decision_scores_,
        "scores": _rows(assessment.scores),
        "thresholds": _rows(assessment.thresholds),
        "explained": _rows(assessment.by_channel)[::7],
        "alarms": np.array(bounds, dtype=float).reshape(-1, 5),
        "causes": np.array(
            [f"{alarm.entity}:{alarm.causes[0].channel}" for alarm in alarms], dtype=str
        ),
    }


def compare(
    detector: BaseDetector, test: Any, name: str, near: Near, explained: Near | None = None
) -> None:
    """Fail where a detector finds anything else than what is recorded under this name."""
    today = found(detector, test)
    with np.load(FROZEN / f"{name}.npz") as frozen:
        assert set(frozen.files) == set(today)
        causes = today.pop("causes")
        for what, values in today.items():
            tolerance = explained or near if what == "explained" else near
            np.testing.assert_allclose(values, frozen[what], err_msg=what, **tolerance)
        assert causes.tolist() == frozen["causes"].tolist()


def _rows(found: Any) -> np.ndarray:
    parts = list(found.values()) if isinstance(found, dict) else [found]
    return np.concatenate([np.asarray(part) for part in parts])
