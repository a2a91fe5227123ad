"""What is recorded of a fitted detector, and how it is compared with what it finds today.

A recording says nothing about what is right: other tests do. It is there so that a change of scores
or decisions that was not meant is noticed. One that was meant records them anew, and the changelog
says so:

    RECORD=1 pytest tests/characterisation -k live

Each test that records is skipped, so that nobody takes it for one that passed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from characterisation import adapter
from subadjacent.detectors.base import BaseDetector

FROZEN = Path(__file__).with_name("frozen")

RECORDING = bool(os.environ.get("RECORD"))

Near = dict[str, float]


def found(detector: BaseDetector, test: Any) -> dict[str, np.ndarray]:
    """All that is recorded, by name; of the many explanations every seventh row."""
    assessment = detector.assess(test)
    alarms = assessment.alarms()
    bounds = [
        [alarm.first, alarm.last, alarm.severity, alarm.repeat, adapter.is_permanent(alarm)]
        for alarm in alarms
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
    if RECORDING:
        np.savez_compressed(FROZEN / f"{name}.npz", **today)
        pytest.skip(f"{name} is recorded anew")
    with np.load(FROZEN / f"{name}.npz") as frozen:
        assert set(frozen.files) == set(today)
        causes = today.pop("causes")
        for what, values in today.items():
            tolerance = explained or near if what == "explained" else near
            np.testing.assert_allclose(values, frozen[what], err_msg=what, **tolerance)
        assert causes.tolist() == frozen["causes"].tolist()


def check(
    name: str, near: Near, document: Any, arrays: dict[str, np.ndarray] | None = None
) -> None:
    """Fail where a JSON document or arrays are not what is recorded under this name."""
    arrays = {} if arrays is None else arrays
    text, numbers = FROZEN / f"{name}.json", FROZEN / f"{name}.npz"
    if RECORDING:
        text.write_text(json.dumps(_rounded(document), indent=1, ensure_ascii=False) + "\n")
        if arrays:
            small = {key: _small(array) for key, array in arrays.items()}
            np.savez_compressed(numbers, **small)
        pytest.skip(f"{name} is recorded anew")
    _compare_documents(_rounded(document), json.loads(text.read_text()), near, name)
    if arrays:
        with np.load(numbers) as frozen:
            assert set(frozen.files) == set(arrays)
            for key, array in arrays.items():
                np.testing.assert_allclose(array, frozen[key], err_msg=key, **near)


def _compare_documents(today: Any, frozen: Any, near: Near, where: str) -> None:
    """Fail where two JSON documents differ by more than rounding, and say where."""
    if isinstance(frozen, dict) and isinstance(today, dict):
        assert list(today) == list(frozen), where
        for key, value in frozen.items():
            _compare_documents(today[key], value, near, f"{where} / {key}")
    elif isinstance(frozen, list) and isinstance(today, list):
        assert len(today) == len(frozen), f"{where}: {today} instead of {frozen}"
        for place, value in enumerate(frozen):
            _compare_documents(today[place], value, near, f"{where} / {place}")
    elif isinstance(frozen, float) and isinstance(today, int | float):
        np.testing.assert_allclose(today, frozen, err_msg=where, **near)
    else:
        assert today == frozen, where


def _rounded(value: Any) -> Any:
    """A document with at most six digits of each number that is not whole."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) and abs(value) < 1e6 else value


def _small(array: np.ndarray) -> np.ndarray:
    """The same numbers in fewer bytes: whole ones as such, others to about four digits."""
    if array.dtype.kind != "f":
        return array
    # the last 10 of 23 bits are zeros, which take no room once they are compressed
    rounded = array.astype(np.float32).view(np.uint32) + np.uint32(1 << 9)
    return (rounded & np.uint32(0xFFFFFC00)).view(np.float32)


def _rows(found: Any) -> np.ndarray:
    parts = list(found.values()) if isinstance(found, dict) else [found]
    return np.concatenate([np.asarray(part) for part in parts])
