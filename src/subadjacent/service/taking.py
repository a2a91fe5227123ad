"""Rows of one series are taken: told from late and duplicate ones, scored, and kept.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time as clock
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.clock import find_order
from subadjacent.service.bodies import Batch
from subadjacent.service.events import LiveEvent
from subadjacent.service.moments import TimeKind, for_stream, from_stream, show_time
from subadjacent.service.streams import RemoteStream
from subadjacent.service.watched import WatchedSeries
from subadjacent.service.writer import Changes
from subadjacent.streaming.alarms import CLOSED, LiveAlarm
from subadjacent.streaming.answer import Answer
from subadjacent.workflow.tables import as_json

MOST_TOLD = 100
"""Rows of one request that listeners are told of: of more, they are told to read the history."""

CLOSED_STATE, OPEN_STATE = "closed", "open"


class AlarmChange(NamedTuple):
    """An alarm that was opened, updated or closed, by its key in the table."""

    key: int
    change: str


class TakenRows(NamedTuple):
    """What came of rows that were sent."""

    taken: int
    late: int
    duplicates: int
    answers: list[dict[str, Any]]
    left_out: tuple[str, ...]
    changed: list[AlarmChange]


def take(changes: Changes, series: WatchedSeries, stream: RemoteStream, batch: Batch) -> TakenRows:
    """Score the rows of a batch that are new, and put all that is known of them into tables."""
    changes.touched.add(series.id)
    fresh, late, duplicates = new_rows(changes.tables, series, batch)
    if not len(fresh):
        return TakenRows(0, late, duplicates, [], batch.left_out, [])
    begin = series.rows
    answers = stream.push(fresh.values, for_stream(fresh.times or (), series.time_kind))
    _keep_rows(changes.tables, series, fresh, answers)
    series.rows += len(fresh)
    series.last_time = fresh.times[-1] if fresh.times else None
    series.latest = max(answers, key=lambda answer: answer.row)
    series.severity, series.warm_up = series.latest.severity, series.latest.warm_up
    alarms = {
        answer.alarm.number: keep_alarm(changes.tables, series, answer.alarm)
        for answer in answers
        if answer.alarm is not None
    }
    series.write(changes.tables)
    series.keep_when_due(changes.tables)
    told = [
        _answer(series, answer, alarms[answer.alarm.number] if answer.alarm else None)
        for answer in answers
    ]
    changes.events += _row_events(series, fresh, answers, begin)
    changed = [
        AlarmChange(alarms[answer.alarm.number], answer.alarm.state)
        for answer in answers
        if answer.alarm is not None
    ]
    return TakenRows(len(fresh), late, duplicates, told, batch.left_out, changed)


def all_new(series: WatchedSeries, batch: Batch) -> bool:
    """Whether all rows of a batch will be taken as they are."""
    if batch.kind != series.time_kind or batch.channels != series.channels:
        return False
    if batch.times is None or series.last_time is None:
        return in_order(batch.times)
    return in_order([series.last_time, *batch.times])


def in_order(times: Sequence[float] | None) -> bool:
    """Whether each time is later than the one before; rows without times always are."""
    return times is None or all(one < other for one, other in pairwise(times))


def new_rows(
    tables: sqlite3.Connection, series: WatchedSeries, batch: Batch
) -> tuple[Batch, int, int]:
    """Rows later than all before them; how many others are late, and how many came before.

    A row at the time of a row that was taken is a duplicate, whatever its values: what was said
    of a row is not taken back.
    """
    if batch.times is None:
        return batch, 0, 0
    last = -math.inf if series.last_time is None else series.last_time
    order = find_order(np.array(batch.times, dtype=np.float64), last)
    if order.accepted.all():
        return batch, 0, 0
    others = np.flatnonzero(~order.accepted).tolist()
    duplicates = sum(
        bool(order.duplicate[row]) or _is_taken(tables, series, batch.times[row]) for row in others
    )
    keep = np.flatnonzero(order.accepted).tolist()
    times = [batch.times[row] for row in keep]
    fresh = replace(batch, values=batch.values[keep], times=times)
    return fresh, len(others) - duplicates, duplicates


def _is_taken(tables: sqlite3.Connection, series: WatchedSeries, time: float) -> bool:
    """Whether a row has this time; rows are in the order of their times, so that halving does."""
    low, high = series.oldest(tables), series.rows
    while low < high:
        middle = (low + high) // 2
        found = tables.execute(
            "select time from rows where series = ? and row = ?", (series.id, middle)
        ).fetchone()
        if found[0] == time:
            return True
        low, high = (middle + 1, high) if found[0] < time else (low, middle)
    return False


def _keep_rows(
    tables: sqlite3.Connection, series: WatchedSeries, fresh: Batch, answers: list[Answer]
) -> None:
    said = {answer.row + series.first_row: answer for answer in answers}
    now = clock.time()
    values = np.ascontiguousarray(fresh.values)
    added = [
        (
            series.id,
            row,
            now,
            fresh.times[place] if fresh.times else None,
            values[place].tobytes(),
            *_said(said.pop(row)),
        )
        for place, row in enumerate(range(series.rows, series.rows + len(fresh)))
    ]
    tables.executemany(
        "insert into rows (series, row, taken, time, vals, bands, score, severity, sure, "
        "anomalous, final) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        added,
    )
    if said:
        # rows that waited for those after them
        tables.executemany(
            "update rows set bands = ?, score = ?, severity = ?, sure = ?, anomalous = ?, "
            "final = ? where series = ? and row = ?",
            [(*_said(answer), series.id, row) for row, answer in said.items()],
        )


def _said(answer: Answer) -> tuple[Any, ...]:
    bands = np.concatenate([answer.expected, answer.low, answer.high])
    return (
        bands.tobytes(),
        answer.score,
        answer.severity,
        answer.warm_up,
        int(answer.anomalous),
        int(answer.final),
    )


def keep_alarm(tables: sqlite3.Connection, series: WatchedSeries, alarm: LiveAlarm) -> int:
    """Put an alarm that was opened, changed or closed into the table; its key there."""
    state = CLOSED_STATE if alarm.state == CLOSED else OPEN_STATE
    timed = series.time_kind is not TimeKind.none
    (key,) = tables.execute(
        "insert into alarms (series, number, state, start, end, first, last, severity, kind, "
        "sentence, causes, for_good, opened_at) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "on conflict (series, number) do update set state = excluded.state, end = excluded.end, "
        "last = excluded.last, severity = excluded.severity, kind = excluded.kind, "
        "sentence = excluded.sentence, causes = excluded.causes, for_good = excluded.for_good "
        "returning id",
        (
            series.id,
            alarm.number + series.first_number,
            state,
            from_stream(alarm.start) if timed else None,
            from_stream(alarm.end) if timed else None,
            alarm.first + series.first_row,
            alarm.last + series.first_row,
            alarm.severity,
            alarm.kind,
            alarm.sentence,
            json.dumps([_cause(series, asdict(cause)) for cause in alarm.causes]),
            int(alarm.permanent),
            clock.time(),
        ),
    ).fetchone()
    if state == OPEN_STATE:
        series.open_alarm = key
    elif series.open_alarm == key:
        # not where an older one was found to be normal while this one is open
        series.open_alarm = None
    return int(key)


def _cause(series: WatchedSeries, cause: dict[str, Any]) -> dict[str, Any]:
    at = cause["at"]
    if series.time_kind is TimeKind.none:
        cause["at"] = at + series.first_row
    else:
        cause["at"] = show_time(from_stream(at), series.time_kind)
    found: dict[str, Any] = as_json(cause)
    return found


def _answer(series: WatchedSeries, answer: Answer, alarm: int | None) -> dict[str, Any]:
    return {
        "row": answer.row + series.first_row,
        "time": show_time(from_stream(answer.time), series.time_kind),
        "final": answer.final,
        "score": answer.score,
        "severity": answer.severity,
        "anomalous": answer.anomalous,
        "warm_up": answer.warm_up,
        "alarm": alarm,
    }


def _row_events(
    series: WatchedSeries, fresh: Batch, answers: list[Answer], begin: int
) -> list[LiveEvent]:
    """What listeners are told of the newest rows."""
    said = {answer.row + series.first_row: answer for answer in answers}
    first = max(0, len(fresh) - MOST_TOLD)
    return [
        LiveEvent(
            "answer",
            series.name,
            partial(_row_event, series, begin + place, fresh.values[place], said[begin + place]),
        )
        for place in range(first, len(fresh))
    ]


def _row_event(
    series: WatchedSeries, row: int, values: NDArray[np.float64], answer: Answer
) -> dict[str, Any]:
    def by_channel(numbers: NDArray[np.float64]) -> dict[str, float | None]:
        found = zip(series.channels, numbers.tolist(), strict=True)
        return {channel: number if math.isfinite(number) else None for channel, number in found}

    return {
        "series": series.name,
        "row": row,
        "time": show_time(from_stream(answer.time), series.time_kind),
        "values": by_channel(values),
        "expected": by_channel(answer.expected),
        "low": by_channel(answer.low),
        "high": by_channel(answer.high),
        "severity": answer.severity,
        "anomalous": answer.anomalous,
    }
