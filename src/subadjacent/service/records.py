"""Rows of the tables as clients read them. All functions here only read."""

from __future__ import annotations

import json
import math
import sqlite3
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.service.moments import TimeKind, show_time

ALARM = """
select alarms.*, series.name as series_name, series.time_kind from alarms
join series on series.id = alarms.series
"""


def alarm_record(found: sqlite3.Row) -> dict[str, Any]:
    """An alarm; where rows have no times, it starts and ends at row numbers."""
    kind = TimeKind(found["time_kind"])
    counted = kind is TimeKind.none
    return {
        "id": found["id"],
        "series": found["series_name"],
        "number": found["number"],
        "state": found["state"],
        "start": found["first"] if counted else show_time(found["start"], kind),
        "end": found["last"] if counted else show_time(found["end"], kind),
        "first": found["first"],
        "last": found["last"],
        "severity": found["severity"],
        "kind": found["kind"],
        "sentence": found["sentence"],
        "causes": json.loads(found["causes"]),
        "permanent": bool(found["for_good"]),
        "normal": bool(found["normal"]),
        "acknowledged": bool(found["acknowledged"]),
        "note": found["note"],
    }


def how_bad(series: dict[str, Any]) -> tuple[int, float, str]:
    """Sorts records of series, the worst first: alarms, then by severity; muted ones last."""
    rank = {"alarm": 0, "calm": 1, "learning": 1, "muted": 2}
    return rank[series["state"]], -series["severity"], series["name"]


def alarm_by_key(tables: sqlite3.Connection, key: int) -> dict[str, Any] | None:
    """One alarm, or None."""
    cursor = tables.cursor()
    cursor.row_factory = sqlite3.Row
    found = cursor.execute(f"{ALARM} where alarms.id = ?", (key,)).fetchone()
    return None if found is None else alarm_record(found)


def alarms(
    tables: sqlite3.Connection, *, series: int | None, state: str, limit: int, before: int | None
) -> list[dict[str, Any]]:
    """The newest alarms first."""
    rules, values = ["1"], []
    if series is not None:
        rules.append("alarms.series = ?")
        values.append(series)
    if before is not None:
        rules.append("alarms.id < ?")
        values.append(before)
    if state != "all":
        rules.append(f"state = {'open' if state == 'open' else 'closed'!r}")
    found = tables.execute(
        f"{ALARM} where {' and '.join(rules)} order by alarms.id desc limit ?", (*values, limit)
    )
    return [alarm_record(row) for row in found]


def history(
    tables: sqlite3.Connection,
    series: int,
    channels: tuple[str, ...],
    kind: TimeKind,
    *,
    before: int | None,
    limit: int,
    points: int,
) -> dict[str, Any]:
    """The newest rows before a row, in columns, thinned to about so many points."""
    found = tables.execute(
        "select row, time, vals, bands, severity, anomalous, final from rows "
        "where series = ? and row < ? order by row desc limit ?",
        (series, 1 << 62 if before is None else before, limit),
    ).fetchall()[::-1]
    values = _matrix([row["vals"] for row in found], len(channels))
    bands = _matrix([row["bands"] for row in found], 3 * len(channels))
    severity = np.array([row["severity"] for row in found])
    kept = thinned(np.column_stack([values, severity]), points) if found else []
    parts = np.split(bands, 3, axis=1)
    return {
        "rows": [found[place]["row"] for place in kept],
        "times": [show_time(found[place]["time"], kind) for place in kept],
        "values": _columns(values, channels, kept),
        **{
            name: _columns(part, channels, kept)
            for name, part in zip(("expected", "low", "high"), parts, strict=True)
        },
        "severity": [found[place]["severity"] for place in kept],
        "anomalous": [bool(found[place]["anomalous"]) for place in kept],
        "final": [bool(found[place]["final"]) for place in kept],
    }


def thinned(values: NDArray[np.float64], points: int) -> list[int]:
    """Places of the lowest and highest value of every column in each of some equal bins.

    First and last row are among them. As many bins as give about ``points`` places; no peak of
    any column is lost.
    """
    rows, columns = values.shape
    if rows <= points:
        return list(range(rows))
    bins = max(1, points // (2 * columns))
    kept = {0, rows - 1}
    edges = np.linspace(0, rows, bins + 1).astype(int)
    for start, stop in pairwise(edges.tolist()):
        part = values[start:stop]
        kept.update((start + np.where(np.isnan(part), np.inf, part).argmin(axis=0)).tolist())
        kept.update((start + np.where(np.isnan(part), -np.inf, part).argmax(axis=0)).tolist())
    return sorted(kept)


def _matrix(blobs: list[bytes], columns: int) -> NDArray[np.float64]:
    return np.frombuffer(b"".join(blobs)).reshape(len(blobs), columns)


def _columns(
    values: NDArray[np.float64], channels: tuple[str, ...], kept: list[int]
) -> dict[str, list[float | None]]:
    return {
        channel: [number if math.isfinite(number) else None for number in column]
        for channel, column in zip(channels, values[kept].T.tolist(), strict=True)
    }
