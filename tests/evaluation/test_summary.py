"""Rows of numbers: each is its measure, and the random row is what chance gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from subadjacent.errors import InputError
from subadjacent.evaluation.alarm_oracle import best_event_f1
from subadjacent.evaluation.alarms import count_alarms
from subadjacent.evaluation.summary import alarms_with_controls, summarise, with_controls

KEYS = [
    *("precision", "recall", "f1", "average_precision", "auroc", "oracle_f1", "alarm_rate"),
    *("events", "events_found", "detection_delay", "false_alarms_per_1000", "false_alarm_runs"),
]


def test_a_summary_by_hand() -> None:
    scores, labels = [5.0, 1, 9, 7, 0, 0, 8, 0], [0, 1, 1, 1, 0, 0, 0, 1]
    assert summarise(scores, labels, np.asarray(scores) > 5.0) == {
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


def test_a_random_score_gets_what_chance_gives() -> None:
    labels = np.repeat([0, 1, 0], [700, 600, 700])
    scores = np.arange(2_000.0)
    rows = with_controls(scores, labels, scores > 1_499.0, np.random.default_rng(0))
    chance = rows["random score"]
    assert list(chance) == KEYS
    assert chance["alarm_rate"] == rows["this detector"]["alarm_rate"] == 0.25
    assert chance["precision"] == pytest.approx(0.3, abs=0.02)
    assert chance["recall"] == pytest.approx(0.25, abs=0.02)
    assert chance["auroc"] == pytest.approx(0.5, abs=0.02)
    assert chance["average_precision"] == pytest.approx(0.3, abs=0.02)
    assert chance["false_alarms_per_1000"] == pytest.approx(175, abs=5)
    assert chance["events_found"] == 1


@pytest.mark.parametrize("rng", [None, 0, np.random])
def test_randomness_must_be_passed(rng: Any) -> None:
    with pytest.raises(InputError, match=r"^rng must be a numpy\.random\.Generator; got "):
        with_controls([1.0, 2.0], [0, 1], [0, 1], rng)
    with pytest.raises(InputError, match=r"^rng must be a numpy\.random\.Generator; got "):
        alarms_with_controls([[0, 1]], [[1.0, 2.0]], [[0, 1]], rng)


def two_machines() -> tuple[list[Any], list[Any], list[Any]]:
    """Two machines of 300 rows: three alarms, one of them false, for two anomalies."""
    labels = [np.repeat([0, 1, 0], [100, 50, 150]), np.repeat([0, 1, 0], [200, 20, 80])]
    scores = [np.zeros(300), np.zeros(300)]
    scores[0][[110, 118]] = 5
    scores[0][250] = 9
    scores[1][205] = 6
    return [one > 4 for one in scores], scores, labels


def test_alarms_of_machines_are_joined_each_by_itself_and_counted_together() -> None:
    flags, scores, labels = two_machines()
    rows = alarms_with_controls(flags, scores, labels, np.random.default_rng(0), 60.0)
    ours = rows["this detector"]
    expected = count_alarms([(110, 118), (250, 250)], labels[0]) + count_alarms(
        [(205, 205)], labels[1]
    )
    assert {name: ours[name] for name in expected.measures()} == expected.measures(60.0)
    assert ours["oracle_event_f1"] == best_event_f1(scores, labels).f1 == pytest.approx(0.8)
    assert ours["alarms_false_per_day"] == pytest.approx(1 / (600 / 1440))
    assert rows["random score"]["alarms_false_per_day"] > 0
    # the last row of one machine and the first of the next are two alarms
    ends = [[0] * 299 + [1], [1] + [0] * 299]
    rows = alarms_with_controls(ends, scores, labels, np.random.default_rng(0))
    assert rows["this detector"]["alarms"] == 2
    assert math.isnan(rows["this detector"]["alarms_false_per_day"])


def test_a_random_score_flags_as_many_rows_of_all_machines() -> None:
    _, scores, labels = two_machines()
    flags = [np.ones(300, dtype=bool), np.zeros(300, dtype=bool)]
    rows = alarms_with_controls(flags, scores, labels, np.random.default_rng(0))
    chance = rows["random score"]
    assert set(chance) == set(rows["this detector"]) - {"oracle_event_f1"}
    # half of all rows flagged at random: hardly ever 11 in a row that are not
    assert chance["alarms"] == pytest.approx(2, abs=0.5)
    assert chance["normal_rows_alarmed"] > 0.95
    # one row of one machine flagged is one row of either
    flags = [np.arange(300) == 7, np.zeros(300, dtype=bool)]
    lone = alarms_with_controls(flags, scores, labels, np.random.default_rng(0))
    assert lone["random score"]["alarms"] == 1
    none = alarms_with_controls([[0] * 300] * 2, scores, labels, np.random.default_rng(0))
    assert none["random score"]["alarms"] == 0
    assert math.isnan(none["random score"]["alarms_right_share"])
    same = [alarms_with_controls(*two_machines(), np.random.default_rng(3)) for _ in "ab"]
    assert same[0]["random score"] == pytest.approx(same[1]["random score"], nan_ok=True)
    single = 600 * [0]
    single[7] = 1
    few = alarms_with_controls([single], [np.zeros(600)], [np.append(np.zeros(540), np.ones(60))],
                               np.random.default_rng(0))["random score"]  # fmt: skip
    # one row of 600 at random: right with a chance of 65 in 600
    assert (few["alarms"], few["anomalies"]) == (1, 1)
    assert few["alarms_right_share"] == few["anomalies_found_share"] < 0.35
