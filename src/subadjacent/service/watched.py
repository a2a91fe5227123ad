"""One series that is watched: what is known of it now, and its stream.

The tables are the truth. The stream is made when it is needed: from the last snapshot of its
state, and the rows that came after it. Scoring is deterministic, so that a stream that was made
anew goes on exactly as the one that was lost.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import json
import sqlite3
import time as clock
from pathlib import Path
from typing import Any

import numpy as np

from subadjacent.service.moments import TimeKind, for_stream, show_time
from subadjacent.service.streams import RemoteStream, StreamHost
from subadjacent.streaming.answer import Answer

SNAPSHOT_EVERY = 100
"""Rows from one snapshot to the next: at most so many of each series are scored again after a kill.

A snapshot takes about as long as scoring two rows, and a tenth of a megabyte."""

REPLAYED_AT_ONCE = 1_000

COLUMNS = (
    "id, name, channels, time_kind, model, first_row, first_number, rows, last_time, "
    "severity, sure, open_alarm, muted_until"
)


class WatchedSeries:
    """What is known of one series; ``stream`` is None until it is needed."""

    def __init__(self, columns: tuple[Any, ...]) -> None:
        self.stream: RemoteStream | None = None
        self.latest: Answer | None = None
        self.read(columns)

    def read(self, columns: tuple[Any, ...]) -> None:
        """Take over what the tables say; the stream goes, for it may know more than they do."""
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
        """Put what changes with rows and requests into the tables."""
        tables.execute(
            "update series set model = ?, first_row = ?, first_number = ?, rows = ?, "
            "last_time = ?, severity = ?, sure = ?, open_alarm = ?, muted_until = ? where id = ?",
            (
                self.model, self.first_row, self.first_number, self.rows,
                self.last_time, self.severity, self.warm_up, self.open_alarm, self.muted_until,
                self.id,
            ),
        )  # fmt: skip

    @property
    def is_muted(self) -> bool:
        """Whether nobody wants to hear of its alarms now."""
        return self.muted_until is not None and self.muted_until > clock.time()

    @property
    def state(self) -> str:
        """One word for how it is."""
        if self.is_muted:
            return "muted"
        if self.open_alarm is not None:
            return "alarm"
        return "learning" if self.warm_up < 1 else "calm"

    def record(self, model: str | None) -> dict[str, Any]:
        """As clients read it."""
        return {
            "name": self.name,
            "channels": list(self.channels),
            "rows": self.rows,
            "state": self.state,
            "severity": self.severity,
            "warm_up": self.warm_up,
            "model": model,
            "last_time": show_time(self.last_time, self.time_kind),
            "open_alarm": self.open_alarm,
            "muted_until": show_time(self.muted_until, TimeKind.utc) if self.is_muted else None,
        }

    def wake(
        self, tables: sqlite3.Connection, host: StreamHost, model: Path | None
    ) -> RemoteStream:
        """Its stream, as it was after its last row; ``model`` is the folder of its model."""
        if self.stream is None or not self.stream.is_there:
            self.stream = self._made_anew(tables, host, model)
        return self.stream

    def _made_anew(
        self, tables: sqlite3.Connection, host: StreamHost, model: Path | None
    ) -> RemoteStream:
        if not self.rows:
            # a thousand new ones in a second should not look for what cannot be there
            return host.begin(self.id, self.channels, self.name, model)
        found = tables.execute(
            "select row, facts, arrays from snapshots where series = ?", (self.id,)
        ).fetchone()
        saved = None if found is None else (found[1], found[2])
        stream = host.begin(self.id, self.channels, self.name, model, saved)
        self.snapshot_row = self.first_row if found is None else found[0]
        self._replay(tables, stream, self.snapshot_row)
        return stream

    def _replay(self, tables: sqlite3.Connection, stream: RemoteStream, first: int) -> None:
        while True:
            found = tables.execute(
                "select time, vals from rows where series = ? and row >= ? order by row limit ?",
                (self.id, first, REPLAYED_AT_ONCE),
            ).fetchall()
            if not found:
                return
            values = np.frombuffer(b"".join(row[1] for row in found))
            times = for_stream([row[0] for row in found], self.time_kind)
            self.latest = stream.replay(values.reshape(len(found), -1), times)
            first += len(found)

    def switch(
        self,
        tables: sqlite3.Connection,
        host: StreamHost,
        model: int | None,
        folder: Path | None,
    ) -> None:
        """Begin a stream with another model, or none, that knows the latest rows."""
        first = max(self.rows - REPLAYED_AT_ONCE, self.oldest(tables))
        stream = host.begin(self.id, self.channels, self.name, folder)
        self._replay(tables, stream, first)
        self.stream, self.model = stream, model
        (self.first_number,) = tables.execute(
            "select coalesce(max(number), 0) from alarms where series = ?", (self.id,)
        ).fetchone()
        self.first_row = first
        tables.execute("delete from snapshots where series = ?", (self.id,))
        self.keep(tables)

    def oldest(self, tables: sqlite3.Connection) -> int:
        """Its first row that is still kept."""
        (row,) = tables.execute("select min(row) from rows where series = ?", (self.id,)).fetchone()
        return self.rows if row is None else int(row)

    def kept_until(self, tables: sqlite3.Connection) -> int:
        """The row from which on its stream is made anew: that of the last snapshot."""
        found = tables.execute("select row from snapshots where series = ?", (self.id,)).fetchone()
        return int(self.first_row if found is None else found[0])

    def keep_when_due(self, tables: sqlite3.Connection) -> None:
        """Take a snapshot every so many rows; not all series at the same time."""
        now = (self.rows + self.id) // SNAPSHOT_EVERY
        if now > (self.snapshot_row + self.id) // SNAPSHOT_EVERY:
            self.keep(tables)

    def keep(self, tables: sqlite3.Connection) -> None:
        """Take a snapshot of the stream, if there is one that knows more than the last."""
        if self.stream is None or not self.stream.is_there:
            return
        facts, arrays = self.stream.saved()
        tables.execute(
            "insert or replace into snapshots (series, row, facts, arrays) values (?, ?, ?, ?)",
            (self.id, self.rows, facts, arrays),
        )
        self.snapshot_row = self.rows
