"""The one place that knows what things are called today; recordings have names of their own.

A rename of an attribute, a key or a column is followed here, and no recording changes.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np

RECORDED_NAMES: dict[str, str] = {}
"""Names of keys, columns and metrics today → their names in recordings."""


def rename_keys(document: Any) -> Any:
    """A JSON document under the names of recordings."""
    if isinstance(document, dict):
        return {recorded_name(key): rename_keys(value) for key, value in document.items()}
    return [rename_keys(value) for value in document] if isinstance(document, list) else document


def recorded_name(name: str) -> str:
    """The name of a key, column or metric in recordings."""
    return RECORDED_NAMES.get(name, name)


def is_permanent(alarm: Any) -> bool:
    """Whether an alarm, live or of a batch, was closed because the series did not come back."""
    return bool(alarm.permanent)


def answer_numbers(answer: Any) -> dict[str, float]:
    """The numbers of one answer of a stream."""
    return {
        "row": answer.row,
        "final": answer.final,
        "score": answer.score,
        "severity": answer.severity,
        "anomalous": answer.anomalous,
        "warm_up": answer.warm_up,
    }


def answer_channels(answer: Any) -> np.ndarray:
    """What a stream expects of each channel, (4, channels)."""
    return np.stack([answer.by_channel, answer.expected, answer.low, answer.high])


def live_alarm(alarm: Any) -> dict[str, Any]:
    """An alarm of a stream, as a JSON document."""
    return {
        "number": alarm.number,
        "state": alarm.state,
        "status": alarm.status,
        "repeat_of": alarm.repeat_of,
        "entity": alarm.entity,
        "start": str(alarm.start),
        "end": str(alarm.end),
        "first": alarm.first,
        "last": alarm.last,
        "severity": alarm.severity,
        "kind": alarm.kind,
        "sentence": alarm.sentence,
        "causes": [cause.channel for cause in alarm.causes],
        "permanent": is_permanent(alarm),
    }


def row_counts(counts: Any) -> dict[str, int]:
    """How many rows of a series were accepted, and how many were not, and why."""
    return {
        "accepted": counts.accepted,
        "late": counts.late,
        "duplicates": counts.duplicates,
        "unknown": counts.unknown,
    }


def report_data(page: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a report is drawn from: a JSON document, and every line with a value for each row."""
    payload = json.loads(_script(page, "payload"))
    series = payload["series"]
    lines = [f"{channel}: {part}" for channel in payload["channels"] for part in payload["parts"]]
    lines += payload["lines"]
    document = {
        "kind": payload["kind"],
        "window": payload["window"],
        "channels": payload["channels"],
        "series": [{name: one[name] for name in SERIES_FACTS} for one in series],
        "alarms": [_reported_alarm(alarm) for alarm in payload["alarms"]],
    }
    return document, {
        f"{number} {name}": _unpack(_script(page, f"line-{number}-{line}"), one["pieces"])
        for number, one in enumerate(series)
        for line, name in enumerate(lines)
    }


SERIES_FACTS = ("rows", "starts", "anchors", "interval", "missing", "labels", "fitted", "bands")
ALARM_FACTS = ("series", "first", "last", "margin", "severity", "when", "sentence", "view")


def _reported_alarm(alarm: dict[str, Any]) -> dict[str, Any]:
    charts = [[one["channel"], one["row"], one["seen"], one["told"]] for one in alarm["charts"]]
    return {name: alarm[name] for name in ALARM_FACTS} | {"charts": charts}


def _script(page: str, name: str) -> str:
    found = re.search(rf'<script type="[a-z/]+" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found, f"the page has no {name}"
    return found[1]


def _unpack(text: str, pieces: list[list[int]]) -> np.ndarray:
    """The values of a line's last piece: every row, in a report of a short series."""
    packed = base64.b64decode(text[1:])
    size = pieces[-1][-1]
    if text[0] == "c":
        return np.full(size, np.frombuffer(packed, "<f8")[0])
    if text[0] == "f":
        piece = packed[-(8 + 4 * size) :]
        return np.frombuffer(piece[:8], "<f8") + np.frombuffer(piece[8:], "<f4")
    piece = packed[-(16 + 2 * size) :]
    low, high = np.frombuffer(piece[:16], "<f8")
    return low + np.frombuffer(piece[16:], "<u2") / (2**16 - 1) * (high - low)
