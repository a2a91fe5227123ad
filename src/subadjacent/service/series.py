"""One series: its latest state in memory, and its stream in the scoring process.

The tables are the truth. A stream is restored when it is needed, from the last snapshot of its
state and the rows after it. Scoring is deterministic, so a restored stream continues exactly as the
one that was lost.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import json
import sqlite3
import time as clock
from typing import Any

import numpy as np

from subadjacent.service.request_body import RowBatch
from subadjacent.service.schemas import SeriesRecord
from subadjacent.service.scoring import (
    SavedStream,
    ScoringProcess,
    StreamStart,
    begin,
    replay,
    save,
)
from subadjacent.service.times import TimeKind, for_stream, show_time
from subadjacent.streaming.answer import Answer

SNAPSHOT_EVERY = 100
"""Rows from one snapshot to the next: at most that many are scored again after a kill.

A snapshot takes about as long as scoring two rows, and a tenth of a megabyte."""

REPLAYED_AT_ONCE = 1_000
"""Rows that are scored again in one call."""

COLUMNS = (
    "id, name, channels, time_kind, model, first_row, first_number, rows, last_time, "
    "severity, sure, open_alarm, muted_until"
)


class LiveSeries:
    """One series; ``stream`` is the generation of the process that has its stream."""

    def __init__(self, columns: tuple[Any, ...]) -> None:
        self.stream: int | None = None
        self.latest: Answer | None = None
        # of a series that is polled: the labels of its metrics, and its newest row if it is shown
        self.labels: dict[str, str] | None = None
        self.newest: tuple[float, ...] | None = None
        self.read(columns)

    def read(self, columns: tuple[Any, ...]) -> None:
        """Reload from the tables; drop the stream, which may be ahead of them."""
        (
            self.id, self.name, channels, kind, self.model, self.first_row, self.first_number,
            self.rows, self.last_time, self.severity, self.warm_up,
            self.open_alarm, self.muted_until,
        ) = columns  # fmt: skip
        self.channels = tuple(json.loads(channels))
        self.time_kind = TimeKind(kind)
        self.stream = None
        self.snapshot_row = self.rows

    def write(self, tables: sqlite3.Connection) -> None:
        """Write what changes with rows and requests to the tables."""
        tables.execute(
            "update series set model = ?, first_row = ?, first_number = ?, rows = ?, "
            "last_time = ?, severity = ?, sure = ?, open_alarm = ?, muted_until = ? where id = ?",
            (
                self.model, self.first_row, self.first_number, self.rows,
                self.last_time, self.severity, self.warm_up, self.open_alarm, self.muted_until,
                self.id,
            ),
        )  # fmt: skip

    def follow(self, batch: RowBatch, answers: list[Answer]) -> None:
        """Update the state by new rows and their answers."""
        self.rows += len(batch)
        self.last_time = batch.times[-1] if batch.times else None
        self.latest = max(answers, key=lambda answer: answer.row)
        self.severity, self.warm_up = self.latest.severity, self.latest.warm_up

    @property
    def is_muted(self) -> bool:
        """Whether its alarms are muted now."""
        return self.muted_until is not None and self.muted_until > clock.time()

    @property
    def state(self) -> str:
        """Its state in one word."""
        if self.is_muted:
            return "muted"
        if self.open_alarm is not None:
            return "alarm"
        return "learning" if self.warm_up < 1 else "calm"

    def record(self, model: str | None) -> dict[str, Any]:
        """The series as JSON."""
        facts = vars(self) | {
            "state": self.state,
            "model": model,
            "last_time": show_time(self.last_time, self.time_kind),
            "muted_until": show_time(self.muted_until, TimeKind.utc) if self.is_muted else None,
        }
        return SeriesRecord.model_validate(facts).model_dump()

    def restore_stream(
        self, tables: sqlite3.Connection, process: ScoringProcess, start: StreamStart
    ) -> None:
        """Restore its stream in the process, as after its last row."""
        if self.stream == process.generation:
            return
        found = tables.execute(
            "select row, facts, arrays from snapshots where series = ?", (self.id,)
        ).fetchone()
        saved = None if found is None else (found[1], found[2])
        process.call(begin, self.id, start._replace(saved=saved))
        self.snapshot_row = self.first_row if found is None else found[0]
        self._replay(tables, process, self.snapshot_row)
        self.stream = process.generation

    def _replay(self, tables: sqlite3.Connection, process: ScoringProcess, first: int) -> None:
        while True:
            found = tables.execute(
                "select time, vals from rows where series = ? and row >= ? order by row limit ?",
                (self.id, first, REPLAYED_AT_ONCE),
            ).fetchall()
            if not found:
                return
            values = np.frombuffer(b"".join(row[1] for row in found))
            times = for_stream([row[0] for row in found], self.time_kind)
            self.latest = process.call(replay, self.id, values.reshape(len(found), -1), times)
            first += len(found)

    def switch(
        self,
        tables: sqlite3.Connection,
        process: ScoringProcess,
        model: int | None,
        start: StreamStart,
    ) -> None:
        """Begin a stream with another model, or none, and feed it the latest rows."""
        first = max(self.rows - REPLAYED_AT_ONCE, self.oldest_row(tables))
        process.call(begin, self.id, start)
        self._replay(tables, process, first)
        self.stream, self.model = process.generation, model
        (self.first_number,) = tables.execute(
            "select coalesce(max(number), 0) from alarms where series = ?", (self.id,)
        ).fetchone()
        self.first_row = first
        self.write_snapshot(tables, process.call(save, self.id))

    def oldest_row(self, tables: sqlite3.Connection) -> int:
        """Its first row that is still kept."""
        (row,) = tables.execute("select min(row) from rows where series = ?", (self.id,)).fetchone()
        return self.rows if row is None else int(row)

    def write_snapshot(self, tables: sqlite3.Connection, saved: SavedStream) -> None:
        """Keep the state of its stream after its last row."""
        tables.execute(
            "insert or replace into snapshots (series, row, facts, arrays) values (?, ?, ?, ?)",
            (self.id, self.rows, *saved),
        )
        self.snapshot_row = self.rows


def snapshot_is_due(key: int, last: int, rows: int) -> bool:
    """Whether a series needs a snapshot after ``rows`` rows, ``last`` at the snapshot before.

    It depends on the key, so that not all series take one at the same time.
    """
    return (rows + key) // SNAPSHOT_EVERY > (last + key) // SNAPSHOT_EVERY
