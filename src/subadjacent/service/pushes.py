"""A request to push rows: prepared, scored together with others, and written.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import DataNotFound, InputError, ModelFileError
from subadjacent.service.alarm_store import write_alarm
from subadjacent.service.events import LiveEvent
from subadjacent.service.request_body import RowBatch
from subadjacent.service.row_store import new_rows, write_rows
from subadjacent.service.scoring import ScoreCall, ScoredRows
from subadjacent.service.series import LiveSeries, snapshot_is_due
from subadjacent.service.times import TimeKind, for_stream, show_time
from subadjacent.streaming.answer import Answer

if TYPE_CHECKING:
    from subadjacent.service.registry import SeriesRegistry
    from subadjacent.service.writer import Changes

MAX_ROW_EVENTS = 100
"""Rows of one request that are sent to listeners; they read the history for more."""

KINDS_IN_WORDS = {
    TimeKind.none: "no times",
    TimeKind.number: "numbers",
    TimeKind.utc: "times with a zone",
    TimeKind.local: "times without a zone",
}


class Push:
    """Rows of one series on their way; all methods run in the writer's thread.

    The writer sets ``scored``: what ``call`` came to, or the error of ``prepare``.
    """

    def __init__(
        self, registry: SeriesRegistry, name: str, batch: RowBatch, *, quiet: bool
    ) -> None:
        self._registry, self.name, self._batch, self._quiet = registry, name, batch, quiet
        self._model: int | None = None
        self._late = self._duplicates = 0
        self.call: ScoreCall | None = None
        self.scored: ScoredRows | Exception | None = None

    def prepare(self, tables: sqlite3.Connection) -> None:
        """Set ``call``, unless there are no new rows; changes nothing in the tables."""
        registry, batch = self._registry, self._batch
        series = registry.series.get(self.name)
        if series is None:
            registry.check_new_series(self.name, batch)
            model = registry.models.fitting(batch.channels)
            channels = batch.channels if model is None else model.channels
            self._model = None if model is None else model.key
            start = registry.stream_start(self.name, channels, self._model)
        elif batch.kind != series.time_kind:
            raise InputError.of(
                "times of rows",
                f"must be of one kind in a series ({KINDS_IN_WORDS[series.time_kind]} here)",
                f"got {KINDS_IN_WORDS[batch.kind]}",
            )
        else:
            registry.restore_stream(tables, series)
            channels, start = series.channels, None
        batch = batch.of_channels(channels)
        self._batch, self._late, self._duplicates = new_rows(tables, series, batch)
        if not len(self._batch):
            return
        key = registry.next_key() if series is None else series.id
        first, last = (0, 0) if series is None else (series.rows, series.snapshot_row)
        is_due = snapshot_is_due(key, last, first + len(self._batch))
        times = for_stream(self._batch.times or (), self._batch.kind)
        self.call = ScoreCall(key, self._batch.values, times, start, is_due)

    def finish(self, changes: Changes) -> dict[str, Any]:
        """Write the rows, their answers and their alarms; return the record for the client."""
        call, scored = self.call, self.scored
        if call is not None and isinstance(scored, DataNotFound | ModelFileError):
            raise self._registry.model_refusal(self.name, self._model, scored)
        if isinstance(scored, Exception):
            raise scored
        batch = self._batch
        if call is None or scored is None:
            return self._record(0, [])
        tables, answers = changes.tables, scored.answers
        series = self._registry.series.get(self.name)
        if series is None:
            self._registry.check_new_series(self.name, batch)
            series = self._registry.create(changes, call.key, self.name, batch, self._model)
        first = series.rows
        write_rows(tables, series, batch, answers)
        series.follow(batch, answers)
        alarms = {
            answer.alarm.number: write_alarm(tables, series, answer.alarm)
            for answer in answers
            if answer.alarm is not None
        }
        if series.open_alarm is not None:
            # while it lasts, the series is as severe as its worst row
            (worst,) = tables.execute(
                "select severity from alarms where id = ?", (series.open_alarm,)
            ).fetchone()
            series.severity = max(series.severity, worst)
        series.write(tables)
        if scored.saved is not None:
            series.write_snapshot(tables, scored.saved)
        shown = [
            _answer_record(series, answer, alarms[answer.alarm.number] if answer.alarm else None)
            for answer in answers
        ]
        self._registry.publish(changes, *_row_events(series, batch, answers, first))
        for answer in answers:
            if answer.alarm is not None:
                key = alarms[answer.alarm.number]
                self._registry.publish_alarm_change(
                    changes, series, key, answer.alarm.state, quiet=self._quiet
                )
        # made when it is sent: a record for each row would cost more than sending it
        record = partial(self._registry.record, series)
        self._registry.publish(changes, LiveEvent("series", self.name, record))
        return self._record(len(batch), shown)

    def _record(self, accepted: int, answers: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "taken": accepted,
            "late": self._late,
            "duplicates": self._duplicates,
            "left_out": list(self._batch.left_out),
            "answers": answers,
        }


def _answer_record(series: LiveSeries, answer: Answer, alarm: int | None) -> dict[str, Any]:
    return {
        "row": answer.row + series.first_row,
        "time": show_time(answer.time, series.time_kind),
        "final": answer.final,
        "score": answer.score,
        "severity": answer.severity,
        "anomalous": answer.anomalous,
        "warm_up": answer.warm_up,
        "alarm": alarm,
    }


def _row_events(
    series: LiveSeries, batch: RowBatch, answers: list[Answer], first: int
) -> list[LiveEvent]:
    """Events of the newest rows."""
    answer_of = {answer.row + series.first_row: answer for answer in answers}
    return [
        LiveEvent(
            "answer",
            series.name,
            partial(
                _row_record, series, first + place, batch.values[place], answer_of[first + place]
            ),
        )
        for place in range(max(0, len(batch) - MAX_ROW_EVENTS), len(batch))
    ]


def _row_record(
    series: LiveSeries, row: int, values: NDArray[np.float64], answer: Answer
) -> dict[str, Any]:
    def by_channel(numbers: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(series.channels, numbers.tolist(), strict=True))

    return {
        "series": series.name,
        "row": row,
        "time": show_time(answer.time, series.time_kind),
        "values": by_channel(values),
        "expected": by_channel(answer.expected),
        "low": by_channel(answer.low),
        "high": by_channel(answer.high),
        "severity": answer.severity,
        "anomalous": answer.anomalous,
    }
