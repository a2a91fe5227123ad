"""Rows in the tables: written by the writer, read as clients see them.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import math
import sqlite3
import time as clock
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.clock import find_order
from subadjacent.service.request_body import RowBatch
from subadjacent.service.series import LiveSeries
from subadjacent.service.times import TimeKind, show_time
from subadjacent.streaming.answer import Answer


def new_rows(
    tables: sqlite3.Connection, series: LiveSeries | None, batch: RowBatch
) -> tuple[RowBatch, int, int]:
    """Rows later than all before them, and the number of late and of duplicate rows.

    A row at the time of an accepted row is a duplicate, whatever its values: answers are not
    revised.
    """
    if batch.times is None:
        return batch, 0, 0
    last = -math.inf if series is None or series.last_time is None else series.last_time
    order = find_order(np.array(batch.times, dtype=np.float64), last)
    if order.accepted.all():
        return batch, 0, 0
    others = np.flatnonzero(~order.accepted).tolist()
    duplicates = sum(
        bool(order.duplicate[row])
        or (series is not None and _is_stored(tables, series, batch.times[row]))
        for row in others
    )
    keep = np.flatnonzero(order.accepted).tolist()
    times = [batch.times[row] for row in keep]
    fresh = replace(batch, values=batch.values[keep], times=times)
    return fresh, len(others) - duplicates, duplicates


def _is_stored(tables: sqlite3.Connection, series: LiveSeries, time: float) -> bool:
    """Whether a row has this time; rows are ordered by time, so a binary search finds it."""
    low, high = series.oldest_row(tables), series.rows
    while low < high:
        middle = (low + high) // 2
        found = tables.execute(
            "select time from rows where series = ? and row = ?", (series.id, middle)
        ).fetchone()
        if found[0] == time:
            return True
        low, high = (middle + 1, high) if found[0] < time else (low, middle)
    return False


def write_rows(
    tables: sqlite3.Connection, series: LiveSeries, fresh: RowBatch, answers: list[Answer]
) -> None:
    """Add new rows with their answers, and final answers of earlier rows."""
    answer_of = {answer.row + series.first_row: answer for answer in answers}
    now = clock.time()
    values = np.ascontiguousarray(fresh.values)
    added = [
        (
            series.id,
            row,
            now,
            fresh.times[place] if fresh.times else None,
            values[place].tobytes(),
            *_answer_columns(answer_of.pop(row)),
        )
        for place, row in enumerate(range(series.rows, series.rows + len(fresh)))
    ]
    tables.executemany(
        "insert into rows (series, row, taken, time, vals, bands, score, severity, sure, "
        "anomalous, final) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        added,
    )
    if answer_of:
        # final answers of rows that waited for later ones
        tables.executemany(
            "update rows set bands = ?, score = ?, severity = ?, sure = ?, anomalous = ?, "
            "final = ? where series = ? and row = ?",
            [(*_answer_columns(answer), series.id, row) for row, answer in answer_of.items()],
        )


def _answer_columns(answer: Answer) -> tuple[Any, ...]:
    bands = np.concatenate([answer.expected, answer.low, answer.high])
    return (
        bands.tobytes(),
        answer.score,
        answer.severity,
        answer.warm_up,
        int(answer.anomalous),
        int(answer.final),
    )


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
    """The newest rows before a row, in columns, thinned to about ``points`` rows."""
    found = tables.execute(
        "select row, time, vals, bands, severity, anomalous, final from rows "
        "where series = ? and row < ? order by row desc limit ?",
        (series, 1 << 62 if before is None else before, limit),
    ).fetchall()[::-1]
    values = _matrix([row["vals"] for row in found], len(channels))
    bands = _matrix([row["bands"] for row in found], 3 * len(channels))
    severity = np.array([row["severity"] for row in found])
    kept = thin(np.column_stack([values, severity]), points) if found else []
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


def thin(values: NDArray[np.float64], points: int) -> list[int]:
    """Places of the lowest and highest value of every column in equal bins.

    The first and last row are included. The number of bins gives about ``points`` places; no peak
    of any column is lost.
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
