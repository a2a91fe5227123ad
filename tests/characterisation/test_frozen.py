"""Scores, thresholds and alarms of the default stay as they were.

``linear-*`` are of the four views that expect values, ``default-*`` of all six. They were recorded
when decisions came between score and alarm. Even with four views they are not those of 0.1: nothing
is learned outside the folds, bad values are set aside, and what is too small to matter has a floor.
"""

from __future__ import annotations

from typing import Any

import pytest

from characterisation import cases
from characterisation.records import Near, compare
from subadjacent import SubAdjacentDetector
from subadjacent.detectors.base import BaseDetector

# scores are rounded to six decimals before they are divided by the entity's unit, 2e-3 or more:
# rounding the other way is a difference of 1e-6 over the unit. Few rows are multiplied out in
# single precision, and a threshold follows the highest scores: that is a difference of 5e-4
NEAR: Near = {"rtol": 1e-3, "atol": 2e-4}
# entities of very different levels have a model in common that single precision changes more
UNSEEN: Near = {"rtol": 5e-3, "atol": 2e-4}

EXPECTING = ("level", "rhythm", "local rhythm", "slow rhythm")

needs_msl = pytest.mark.skipif(not cases.MSL.exists(), reason=f"{cases.MSL} is not there")


@pytest.mark.parametrize("name", list(cases.generated()))
def test_linear_default_on_generated_rows(name: str) -> None:
    train, test = cases.generated()[name]
    near = UNSEEN if name == "entities" else NEAR
    _compare(SubAdjacentDetector(views=EXPECTING).fit(train), test, f"linear-{name}", near)


@pytest.mark.parametrize("name", ["plant", "entities"])
def test_default_on_generated_rows(name: str) -> None:
    train, test = cases.generated()[name]
    near = UNSEEN if name == "entities" else NEAR
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


def _compare(detector: BaseDetector, test: Any, name: str, near: Near = NEAR) -> None:
    # explanations are squares
    compare(detector, test, name, near, {"rtol": 5 * near["rtol"], "atol": 5e-3})
