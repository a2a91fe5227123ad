"""Rows of numbers: each is its measure, and the random row is what chance gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.awkward import Pair, scored
from subadjacent.errors import InputError
from subadjacent.evaluation.summary import summarise, with_controls

KEYS = [
    *("precision", "recall", "f1", "average_precision", "auroc", "oracle_f1", "alarm_rate"),
    *("events", "events_found", "detection_delay", "false_alarms_per_1000", "false_alarm_runs"),
]


def test_a_summary_by_hand() -> None:
    scores, labels = [5.0, 1, 9, 7, 0, 0, 8, 0], [0, 1, 1, 1, 0, 0, 0, 1]
    assert summarise(scores, labels, threshold=5.0) == {
        "precision": 2 / 3,
        "recall": 2 / 4,
        "f1": 4 / 7,
        "average_precision": pytest.approx((1 + 2 / 3 + 3 / 5 + 4 / 8) / 4),
        # of 16 pairs: 9 above 4, 7 above 3, 1 above 2, 0 tied with 2
        "auroc": 10 / 16,
        "oracle_f1": 6 / 9,
        "alarm_rate": 3 / 8,
        "events": 2.0,
        "events_found": 1.0,
        "detection_delay": 1.0,
        "false_alarms_per_1000": 125.0,
        "false_alarm_runs": 1.0,
    }


def test_only_rows_above_the_threshold_are_alarmed() -> None:
    assert summarise([1.0, 2.0], [0, 1], threshold=2.0)["alarm_rate"] == 0
    assert summarise([1.0, 2.0], [0, 1], threshold=1.0)["f1"] == 1


@given(scored(), st.sampled_from([-math.inf, -1, 0.0, np.float32(1), math.inf]))
def test_every_summary_has_the_same_plain_numbers(pair: Pair, threshold: float) -> None:
    found = summarise(*pair, threshold)
    assert list(found) == KEYS
    assert all(type(value) is float for value in found.values())


def test_a_good_detector_stands_above_a_random_score() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 0, 1, 0], 200)
    rows = with_controls(rng.normal(size=1_000) + 3 * labels, labels, 1.5, rng)
    assert list(rows) == ["this detector", "random score"]
    for name in ("precision", "recall", "f1", "average_precision", "auroc", "oracle_f1"):
        assert rows["this detector"][name] > rows["random score"][name] + 0.2, name


def test_a_random_score_gets_what_chance_gives() -> None:
    labels = np.repeat([0, 1, 0], [700, 600, 700])
    scores = np.arange(2_000.0)
    rows = with_controls(scores, labels, 1_499.0, np.random.default_rng(0))
    chance = rows["random score"]
    assert list(chance) == KEYS
    assert chance["alarm_rate"] == rows["this detector"]["alarm_rate"] == 0.25
    assert chance["precision"] == pytest.approx(0.3, abs=0.02)
    assert chance["recall"] == pytest.approx(0.25, abs=0.02)
    assert chance["auroc"] == pytest.approx(0.5, abs=0.02)
    assert chance["average_precision"] == pytest.approx(0.3, abs=0.02)
    assert chance["false_alarms_per_1000"] == pytest.approx(175, abs=5)
    assert chance["events_found"] == 1


@given(scored(), st.sampled_from([-math.inf, 0.0, math.inf]))
def test_controls_alarm_as_often_as_the_detector(pair: Pair, threshold: float) -> None:
    rows = with_controls(*pair, threshold, np.random.default_rng(0))
    assert rows["this detector"] == pytest.approx(summarise(*pair, threshold), nan_ok=True)
    assert rows["random score"]["alarm_rate"] == pytest.approx(rows["this detector"]["alarm_rate"])


def test_the_same_generator_gives_the_same_controls() -> None:
    scores, labels = [1.0, 2, 3, 4, 5], [0, 1, 0, 1, 0]
    found = [with_controls(scores, labels, 3.0, np.random.default_rng(7)) for _ in range(2)]
    assert found[0] == found[1]


def test_a_control_that_never_finds_anything_has_no_delay() -> None:
    rows = with_controls([1.0, 2.0, 3.0], [0, 1, 0], 9.0, np.random.default_rng(0))
    assert math.isnan(rows["random score"]["detection_delay"])
    assert math.isnan(rows["random score"]["precision"])
    assert rows["random score"]["f1"] == 0


@pytest.mark.parametrize("rng", [None, 0, np.random])
def test_randomness_must_be_passed(rng: Any) -> None:
    with pytest.raises(InputError, match=r"^rng must be a numpy\.random\.Generator; got "):
        with_controls([1.0, 2.0], [0, 1], 1.0, rng)
