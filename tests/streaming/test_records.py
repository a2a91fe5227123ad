"""Answers and alarms as JSON holds them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from subadjacent import Alarm, Answer
from subadjacent.data.documents import as_json
from subadjacent.decision.causes import Cause
from subadjacent.streaming.answer import answer_record, live_alarm_record

NONE = np.zeros(1)
CAUSE = Cause("flow", 2.0, datetime(2026, 1, 1), 1.0, math.nan, 0.0, 2.0, "missing", "was missing")
ALARM = Alarm(1, None, 7, 8, 7, 7, 8, 2.0, None, (CAUSE,), state="opened", status="provisional")
ANSWER = Answer(7, 7.5, None, True, math.inf, 0.5, False, 1.0, NONE, NONE, NONE, NONE)


def test_an_answer_is_all_but_its_channels() -> None:
    assert json.loads(json.dumps(answer_record(ANSWER))) == {
        "row": 7, "time": 7.5, "final": True, "score": None, "severity": 0.5, "anomalous": False,
        "warm_up": 1.0, "alarm": None,
    }  # fmt: skip
    named = answer_record(replace(ANSWER, entity="pump", alarm=ALARM))
    assert (named["entity"], named["alarm"]) == ("pump", live_alarm_record(ALARM))


def test_an_alarm_has_its_causes_in_it() -> None:
    record = json.loads(json.dumps(live_alarm_record(ALARM), allow_nan=False))
    assert record["causes"][0]["seen"] is None
    assert record["causes"][0]["at"] == "2026-01-01T00:00:00"
    assert (record["number"], record["start"], record["permanent"]) == (1, 7, False)
    assert (record["state"], record["status"]) == ("opened", "provisional")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, None),
        (np.float64("nan"), None),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.datetime64("2026-01-01"), "2026-01-01"),
        (datetime(2026, 1, 1), "2026-01-01T00:00:00"),
        (None, None),
        ("x", "x"),
        (frozenset(), "frozenset()"),
    ],
)
def test_json_has_few_kinds_of_values(value: Any, expected: Any) -> None:
    assert as_json(value) == expected
