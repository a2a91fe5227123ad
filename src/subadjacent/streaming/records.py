"""Answers and alarms as JSON holds them: null for what is no finite number, times as text."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np

from subadjacent.decision.alarm_stream import alarm_to_json
from subadjacent.decision.alarms import Alarm
from subadjacent.streaming.answer import Answer


def answer_record(answer: Answer) -> dict[str, Any]:
    """What is known of a row, without the channels; the entity where there is one."""
    record = {
        "row": answer.row,
        "time": as_json(answer.time),
        "final": answer.final,
        "score": as_json(answer.score),
        "severity": as_json(answer.severity),
        "anomalous": answer.anomalous,
        "warm_up": as_json(answer.warm_up),
        "alarm": None if answer.alarm is None else live_alarm_record(answer.alarm),
    }
    return record if answer.entity is None else {"entity": answer.entity, **record}


def live_alarm_record(alarm: Alarm) -> dict[str, Any]:
    """An alarm with its causes nested."""
    record = alarm_to_json(alarm, as_json)
    record["severity"] = as_json(alarm.severity)
    record["causes"] = [
        {name: as_json(value) for name, value in cause.items()} for cause in record["causes"]
    ]
    return record


def as_json(value: Any) -> Any:
    """A value converted to the types that JSON has."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return str(value)
    return as_json(value.item()) if isinstance(value, np.generic) else str(value)
