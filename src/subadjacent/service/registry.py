"""All series, and what clients can do with them; every change goes through the writer."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time as clock
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.errors import DataNotFound, InputError, ModelFileError
from subadjacent.service.alarm_store import find_alarm, write_alarm
from subadjacent.service.database import connect, connect_reader
from subadjacent.service.events import Listeners, LiveEvent
from subadjacent.service.models import Models
from subadjacent.service.problems import Refusal, not_found
from subadjacent.service.pushes import Push
from subadjacent.service.request_body import RowBatch, check_name, check_series_name
from subadjacent.service.retention import Sweeper
from subadjacent.service.scoring import ScoringProcess, StreamStart, accept_alarm, save
from subadjacent.service.series import COLUMNS, LiveSeries
from subadjacent.service.settings import Settings
from subadjacent.service.writer import Changes, Writer

log = logging.getLogger(__name__)

T = TypeVar("T")

STATE_ORDER = {"alarm": 0, "calm": 1, "learning": 1, "muted": 2}
"""The order in which series are listed."""


class SeriesRegistry:
    """All series, in memory as the tables have them; only the writer's thread changes them."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self._tables = connect(folder)
        self.models = Models(self._tables, folder / "models")
        self.listeners = Listeners(settings.limits.listeners)
        self.series: dict[str, LiveSeries] = {}
        self._by_key: dict[int, LiveSeries] = {}
        for columns in self._tables.execute(f"select {COLUMNS} from series"):
            self._remember(LiveSeries(columns))
        self.on_alarm: list[Callable[[Changes, LiveSeries, dict[str, Any], str], None]] = []
        self.false_alarms: dict[str, str | float] = {}
        """The rate of alarms of series that are polled, by name."""
        last = self._tables.execute(
            "select seq from sqlite_sequence where name = 'series'"
        ).fetchone()
        self._last_key = 0 if last is None else int(last[0])
        self.process = ScoringProcess()
        limits = settings.limits
        self.writer = Writer(
            self._tables,
            score=self.process.score,
            undo=self._undo,
            chore=Sweeper(self.series, settings.retention),
            max_rows=limits.queue,
            max_seconds=limits.queue_seconds,
        )

    def start(self) -> None:
        """Start the scoring process and the writer."""
        self.process.start()
        self.writer.start()

    async def warm_up(self) -> None:
        """Wait for the scoring process: the first rows would wait for it."""
        await self.writer.do(lambda _: self.process.warm_up())

    async def stop(self) -> None:
        """Keep the state of every stream: the next start has nothing to score again."""
        await self.writer.stop(self._keep_all)
        self.process.end()
        self._tables.close()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read the tables in a thread: the event loop does not wait for the disk."""

        def read() -> T:
            with self.reader() as tables:
                return work(tables)

        return await asyncio.to_thread(read)

    def reader(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection that reads, closed after use; it never waits for the writer."""
        return closing(connect_reader(self.folder))

    def _undo(self, touched: set[int]) -> None:
        """Read models and these series from the tables again."""
        self.models.read(self._tables)
        for key in touched:
            columns = self._tables.execute(
                f"select {COLUMNS} from series where id = ?", (key,)
            ).fetchone()
            known = self._by_key.get(key)
            if columns is None:
                self.process.drop(key)
                if known is not None:
                    self._forget(known)
            elif known is None:
                self._remember(LiveSeries(columns))
            else:
                known.read(columns)

    def publish(self, changes: Changes, *events: LiveEvent) -> None:
        """Send events to listeners once the changes are on disk."""
        changes.then.append(partial(self.listeners.publish, events))

    # called for clients, in the event loop

    def find(self, name: str) -> LiveSeries:
        """The series with this name; raise a refusal if there is none."""
        if (series := self.series.get(name)) is None:
            raise not_found("series", name)
        return series

    def record(self, series: LiveSeries) -> dict[str, Any]:
        """A series as clients read it."""
        return series.record(self.models.name_of(series.model))

    def all_series(self) -> list[dict[str, Any]]:
        """Every series, the worst first: open alarms, then by severity; muted ones last."""
        records = [self.record(series) for series in tuple(self.series.values())]
        return sorted(
            records,
            key=lambda record: (STATE_ORDER[record["state"]], -record["severity"], record["name"]),
        )

    async def push(
        self, name: str, batch: RowBatch, *, patient: bool = False, quiet: bool = False
    ) -> dict[str, Any]:
        """Accept rows of a series; a new name is a new series.

        ``quiet`` rows are of the past: their alarms are kept, but no webhook is sent.
        """
        push = Push(self, name, batch, quiet=quiet)
        return await self.writer.push(push, len(batch), patient=patient)

    async def acknowledge(self, key: int, note: str) -> dict[str, Any]:
        """Mark an alarm as seen."""

        def work(changes: Changes) -> dict[str, Any]:
            find_alarm(changes.tables, key)
            changes.tables.execute(
                "update alarms set acknowledged = 1, note = ? where id = ?", (note, key)
            )
            return self._publish_alarm(changes, key)

        return await self.writer.do(work)

    async def mark_normal(self, key: int) -> dict[str, Any]:
        """Mark an alarm as normal: the series learns from its rows."""

        def work(changes: Changes) -> dict[str, Any]:
            alarm = find_alarm(changes.tables, key)
            series = self.series[alarm["series"]]
            changes.touched.add(series.id)
            self.restore_stream(changes.tables, series)
            try:
                number = alarm["number"] - series.first_number
                accepted = self.process.call(accept_alarm, series.id, number)
            except InputError:
                # the stream does not know it: of long ago, or of a model that was replaced since
                pass
            else:
                write_alarm(changes.tables, series, accepted)
                series.write(changes.tables)
                series.write_snapshot(changes.tables, self.process.call(save, series.id))
            changes.tables.execute(
                "update alarms set acknowledged = 1, normal = 1 where id = ?", (key,)
            )
            self.publish_series(changes, series)
            return self._publish_alarm(changes, key)

        return await self.writer.do(work)

    async def mute(self, name: str, seconds: float | None) -> dict[str, Any]:
        """Send no webhooks for a series for a while; None ends that."""

        def change(changes: Changes, series: LiveSeries) -> None:
            series.muted_until = None if seconds is None else clock.time() + seconds
            series.write(changes.tables)

        return await self._change(name, change)

    async def switch(self, name: str, model: str | None) -> dict[str, Any]:
        """Assess a series with another model, or without one."""

        def change(changes: Changes, series: LiveSeries) -> None:
            self._switch(changes, series, model)

        return await self._change(name, change)

    async def _change(
        self, name: str, change: Callable[[Changes, LiveSeries], None]
    ) -> dict[str, Any]:
        def work(changes: Changes) -> dict[str, Any]:
            series = self.find(name)
            changes.touched.add(series.id)
            change(changes, series)
            return self.publish_series(changes, series)

        return await self.writer.do(work)

    async def enter_folder(self, folder: Path) -> None:
        """Enter the model of a folder under its name, unless it is known already."""
        detector = await asyncio.to_thread(load, folder)
        name = folder.resolve().name
        check_name("the name of the model folder", name)
        if not await asyncio.to_thread(self.models.has, name, folder):
            await self._enter(name, detector, None)

    async def enter_model(self, name: str, folder: Path, rows: int) -> None:
        """Register a model that this service has fitted."""
        await self._enter(name, await asyncio.to_thread(load, folder), rows)

    async def _enter(self, name: str, detector: BaseDetector, rows: int | None) -> None:
        """Enter a model; series of an older one of its name are switched to it."""

        def work(changes: Changes) -> None:
            older = self.models.key_of(name)
            model = self.models.enter(changes.tables, name, detector, rows)
            for series in tuple(self.series.values()):
                same = series.model is not None and series.model == older
                if same or (series.name == name and series.model is None):
                    changes.touched.add(series.id)
                    fits = set(model.channels) == set(series.channels)
                    self._switch(changes, series, name if fits else None)
                    self.publish_series(changes, series)
            if older is not None:
                changes.tables.execute("delete from models where id = ?", (older,))
                self.models.read(changes.tables)

        await self.writer.do(work)
        await asyncio.to_thread(self.models.clear)

    async def delete(self, name: str) -> None:
        """Delete a series with its rows, alarms and state."""

        def work(changes: Changes) -> None:
            self.remove(changes, self.find(name))

        await self.writer.do(work)

    # called in the writer's thread

    def next_key(self) -> int:
        """A key that no series has had."""
        self._last_key += 1
        return self._last_key

    def check_new_series(self, name: str, batch: RowBatch) -> None:
        """Refuse a new series with a bad name, too many channels, or beyond the limit."""
        limits = self.settings.limits
        check_series_name(name)
        if len(self.series) >= limits.series:
            raise Refusal(
                429, f"there are {limits.series:,} series already: delete one, or raise the limit"
            )
        if len(batch.channels) > limits.channels:
            raise Refusal(
                413,
                f"a series may have {limits.channels:,} channels; this one has "
                f"{len(batch.channels):,}",
            )

    def create(
        self, changes: Changes, key: int, name: str, batch: RowBatch, model: int | None
    ) -> LiveSeries:
        """Add a series whose stream has begun."""
        changes.touched.add(key)
        columns = changes.tables.execute(
            "insert into series (id, name, channels, time_kind, model) values (?, ?, ?, ?, ?) "
            f"returning {COLUMNS}",
            (key, name, json.dumps(batch.channels), batch.kind, model),
        ).fetchone()
        series = self._remember(LiveSeries(columns))
        series.stream = self.process.generation
        return series

    def remove(self, changes: Changes, series: LiveSeries) -> None:
        """Delete a series with its rows, alarms and state."""
        changes.touched.add(series.id)
        for table in ("rows", "alarms", "snapshots"):
            changes.tables.execute(f"delete from {table} where series = ?", (series.id,))
        changes.tables.execute("delete from series where id = ?", (series.id,))
        changes.tables.execute("delete from polled where name = ?", (series.name,))
        self._forget(series)
        self.publish(changes, LiveEvent("deleted", series.name, lambda: {"name": series.name}))

    def stream_start(self, name: str, channels: tuple[str, ...], model: int | None) -> StreamStart:
        """The start of the stream of a series."""
        folder = self.models.place(model)
        return StreamStart(channels, name, folder, false_alarms=self.false_alarms.get(name, "auto"))

    def restore_stream(self, tables: sqlite3.Connection, series: LiveSeries) -> None:
        """Restore the stream of a series in the scoring process."""
        try:
            start = self.stream_start(series.name, series.channels, series.model)
            series.restore_stream(tables, self.process, start)
        except (DataNotFound, ModelFileError) as error:
            raise self.model_refusal(series.name, series.model, error) from error

    def model_refusal(self, name: str, model: int | None, error: Exception) -> Refusal:
        """The refusal of rows whose model cannot be loaded."""
        log.error("the model of %r cannot be loaded: %s", name, error)
        return Refusal(
            503,
            f"the model {self.models.name_of(model)!r} of this series cannot be loaded: "
            f"switch the series to another, or to none, then send this again",
        )

    def publish_alarm_change(
        self, changes: Changes, series: LiveSeries, key: int, change: str, *, quiet: bool
    ) -> None:
        """Publish a changed alarm to listeners and, unless it is ``quiet``, to webhooks."""
        alarm = self._publish_alarm(changes, key)
        for follow in () if quiet else self.on_alarm:
            follow(changes, series, alarm, change)

    def _switch(self, changes: Changes, series: LiveSeries, name: str | None) -> None:
        model = None if name is None else self.models.find(name)
        if model is not None and set(model.channels) != set(series.channels):
            raise InputError.of(
                "model",
                "must have the channels of the series",
                f"{name!r} has {', '.join(model.channels[:5])}",
            )
        if series.open_alarm is not None:
            changes.tables.execute(
                "update alarms set state = 'closed' where id = ?", (series.open_alarm,)
            )
            self._publish_alarm(changes, series.open_alarm)
            series.open_alarm = None
        key = None if model is None else model.key
        start = self.stream_start(series.name, series.channels, key)
        series.switch(changes.tables, self.process, key, start)
        series.write(changes.tables)

    def _publish_alarm(self, changes: Changes, key: int) -> dict[str, Any]:
        alarm = find_alarm(changes.tables, key)
        self.publish(changes, LiveEvent("alarm", alarm["series"], lambda: alarm))
        return alarm

    def publish_series(self, changes: Changes, series: LiveSeries) -> dict[str, Any]:
        """Publish a series to listeners; return its record."""
        record = self.record(series)
        self.publish(changes, LiveEvent("series", series.name, lambda: record))
        return record

    def _keep_all(self, changes: Changes) -> None:
        for series in self.series.values():
            is_current = series.stream == self.process.generation
            if is_current and series.rows > series.snapshot_row:
                series.write_snapshot(changes.tables, self.process.call(save, series.id))

    def _remember(self, series: LiveSeries) -> LiveSeries:
        self.series[series.name] = self._by_key[series.id] = series
        return series

    def _forget(self, series: LiveSeries) -> None:
        self.process.drop(series.id)
        self.series.pop(series.name, None)
        self._by_key.pop(series.id, None)
