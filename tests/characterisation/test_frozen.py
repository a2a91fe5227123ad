"""Scores, thresholds and alarms stay as they were.

The arrays under ``frozen`` were recorded with version 0.1.0, which had the four views that expect
values; those of all six views, ``default-*``, when the other two came. A change that means to alter
scores records them anew and says so in the changelog.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from characterisation import cases
from subadjacent import SubAdjacentDetector
from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.neural.transformers import SubAdjacentMethod
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.with_network import NetworkedViewsMethod

FROZEN = Path(__file__).with_name("frozen")
# scores are rounded to six decimals before they are divided by the entity's unit, 2e-3 or more:
# rounding the other way is a difference of 1e-6 over the unit. Few rows are multiplied out in
# single precision, and a threshold follows the highest scores: that is a difference of 5e-4
NEAR = {"rtol": 1e-3, "atol": 2e-4}
# entities of very different levels have a model in common that single precision changes more
STRANGERS = {"rtol": 5e-3, "atol": 2e-4}

EXPECTING = ("level", "rhythm", "local rhythm", "slow rhythm")

needs_msl = pytest.mark.skipif(not cases.MSL.exists(), reason=f"{cases.MSL} is not there")


@pytest.mark.parametrize("name", list(cases.generated()))
def test_linear_default_on_generated_rows(name: str) -> None:
    train, test = cases.generated()[name]
    near = STRANGERS if name == "entities" else NEAR
    _compare(SubAdjacentDetector(views=EXPECTING).fit(train), test, f"linear-{name}", near)


@pytest.mark.parametrize("name", ["plant", "entities"])
def test_default_on_generated_rows(name: str) -> None:
    train, test = cases.generated()[name]
    near = STRANGERS if name == "entities" else NEAR
    _compare(SubAdjacentDetector().fit(train), test, f"default-{name}", near)


@needs_msl
@pytest.mark.shared
def test_linear_default_on_msl() -> None:
    train, test = cases.msl()
    _compare(SubAdjacentDetector(views=EXPECTING).fit(train), test, "linear-msl")


def test_causal_form_on_a_plant() -> None:
    train, test = cases.generated()["plant"]
    causal = SubAdjacentDetector(lookahead=0, views=EXPECTING).fit(train)
    _compare(causal, test, "causal-plant")


class WithTinyNetwork(SubAdjacentDetector):
    """The default with a network that trains in a second."""

    def _method(self) -> NetworkedViewsMethod:
        settings = ViewSettings(views=EXPECTING)
        return NetworkedViewsMethod(settings, SubAdjacentMethod(size="tiny", epochs=1))


def test_default_with_a_network_on_a_plant() -> None:
    train, test = cases.generated()["plant"]
    _compare(WithTinyNetwork().fit(train), test, "network-plant")


def _compare(detector: BaseDetector, test: Any, name: str, near: dict[str, float] = NEAR) -> None:
    with np.load(FROZEN / f"{name}.npz") as frozen:
        np.testing.assert_allclose(detector.threshold_, frozen["threshold"], **near)
        np.testing.assert_allclose(detector.typical_score_, frozen["typical"], **near)
        np.testing.assert_allclose(detector.decision_scores_, frozen["training"], **near)
        np.testing.assert_allclose(
            _rows(detector.decision_function(test)), frozen["scores"], **near
        )
        explained = _rows(detector.explain(test))[::7]
        np.testing.assert_allclose(explained, frozen["explained"], rtol=5 * near["rtol"], atol=5e-3)
        alarms = detector.alarms(test)
        bounds = [[alarm.first, alarm.last, alarm.severity] for alarm in alarms]
        np.testing.assert_allclose(np.array(bounds).reshape(-1, 3), frozen["alarms"], **near)
        first = [f"{alarm.entity}:{alarm.causes[0].channel}" for alarm in alarms]
        assert first == frozen["causes"].tolist()


def _rows(found: Any) -> np.ndarray:
    parts = list(found.values()) if isinstance(found, dict) else [found]
    return np.concatenate([np.asarray(part) for part in parts])
