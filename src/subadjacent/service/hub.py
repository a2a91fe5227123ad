"""All series, and what can be asked of them. Everything that changes goes through the writer."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import LifoQueue
from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.errors import DataNotFound, InputError, ModelFileError
from subadjacent.service import records
from subadjacent.service.bodies import Batch, check_name, check_series_name
from subadjacent.service.early import EarlyRows
from subadjacent.service.events import Listeners, LiveEvent
from subadjacent.service.models import Models
from subadjacent.service.moments import TimeKind
from subadjacent.service.problems import Refusal, not_found
from subadjacent.service.schema import connect, connect_reader
from subadjacent.service.settings import Settings
from subadjacent.service.streams import RemoteStream, StreamHost
from subadjacent.service.taking import AlarmChange, TakenRows, keep_alarm, take
from subadjacent.service.watched import COLUMNS, WatchedSeries
from subadjacent.service.writer import Changes, Writer

log = logging.getLogger(__name__)

READERS = 4
"""Connections that read: more would wait for the two cores, not for the disk."""


class Hub:
    """What the service knows.

    Series live in memory, as the tables have them; only the writer's thread changes them.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self._tables = connect(folder)
        self._readers: LifoQueue[sqlite3.Connection] = LifoQueue()
        for _ in range(READERS):
            self._readers.put(connect_reader(folder))
        self.models = Models(self._tables, folder / "models")
        self.listeners = Listeners(settings.limits.listeners)
        self.series: dict[str, WatchedSeries] = {}
        self._by_key: dict[int, WatchedSeries] = {}
        for columns in self._tables.execute(f"select {COLUMNS} from series"):
            self._remember(WatchedSeries(columns))
        self.on_alarm: list[Callable[[Changes, WatchedSeries, dict[str, Any], str], None]] = []
        self.chores: list[Callable[[Changes], None]] = []
        self._host = StreamHost()
        self._early = EarlyRows(self._host, self.models, self._tables)
        limits = settings.limits
        self.writer = Writer(
            self._tables, self, most_rows=limits.queue, most_seconds=limits.queue_seconds
        )

    def start(self) -> None:
        """Begin to take work."""
        self._host.start()
        self.writer.start()

    async def warm(self) -> None:
        """Wait until the process that scores answers: the first rows would wait for it."""
        await self.writer.do(lambda _: self._host.ask("drop", 0))

    async def stop(self) -> None:
        """Keep the state of every stream, so that the next start has nothing to score again."""
        self.listeners.close()
        await self.writer.stop(self._keep_all)
        self._host.end()
        while not self._readers.empty():
            self._readers.get().close()
        self._tables.close()

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """A connection that reads, for the time being."""
        connection = self._readers.get()
        try:
            yield connection
        finally:
            self._readers.put(connection)

    # what the writer asks for

    def undo(self, touched: set[int], tables: sqlite3.Connection) -> None:
        """Read anew what the tables say of these series."""
        for key in touched:
            columns = tables.execute(
                f"select {COLUMNS} from series where id = ?", (key,)
            ).fetchone()
            known = self._by_key.get(key)
            if columns is None:
                if known is not None:
                    self._forget(known)
            elif known is None:
                self._remember(WatchedSeries(columns))
            else:
                known.read(columns)

    def settle(self, tables: sqlite3.Connection) -> None:
        """Streams that were given rows which then were not taken are made anew."""
        self.undo(self._early.settle(), tables)

    def publish(self, events: list[LiveEvent]) -> None:
        """Tell listeners."""
        self.listeners.publish(events)

    def idle(self, changes: Changes) -> None:
        """Do what can wait."""
        for chore in self.chores:
            chore(changes)

    # what clients ask for

    def find(self, name: str) -> WatchedSeries:
        """A series that is there."""
        if (series := self.series.get(name)) is None:
            raise not_found("series", name)
        return series

    def record(self, series: WatchedSeries) -> dict[str, Any]:
        """A series as clients read it."""
        return series.record(self.models.name_of(series.model))

    def all_series(self) -> list[dict[str, Any]]:
        """Every series, the worst first: open alarms, then by severity; muted ones last."""
        found = [self.record(series) for series in tuple(self.series.values())]
        return sorted(found, key=records.how_bad)

    async def push(self, name: str, batch: Batch, *, patient: bool = False) -> TakenRows:
        """Take rows of a series; a new name is a new series."""
        found: TakenRows = await self.writer.do(
            partial(self._push, name, batch),
            rows=len(batch),
            patient=patient,
            early=partial(self._push_early, name, batch),
        )
        return found

    async def acknowledge(self, key: int, note: str) -> dict[str, Any]:
        """Somebody has seen the alarm."""

        def work(changes: Changes) -> dict[str, Any]:
            self._alarm(changes, key)
            changes.tables.execute(
                "update alarms set acknowledged = 1, note = ? where id = ?", (note, key)
            )
            return self._tell_alarm(changes, key)

        found: dict[str, Any] = await self.writer.do(work)
        return found

    async def mark_normal(self, key: int) -> dict[str, Any]:
        """The alarm was none: the series learns from its rows, and it is acknowledged."""

        def work(changes: Changes) -> dict[str, Any]:
            alarm = self._alarm(changes, key)
            series = self.series[alarm["series"]]
            changes.touched.add(series.id)
            stream = self._wake(changes, series)
            try:
                accepted = stream.accept(alarm["number"] - series.first_number)
            except InputError:
                # the stream does not know it: of long ago, or of a model that was replaced since
                pass
            else:
                keep_alarm(changes.tables, series, accepted)
                series.write(changes.tables)
                series.keep(changes.tables)
            changes.tables.execute(
                "update alarms set acknowledged = 1, normal = 1 where id = ?", (key,)
            )
            self._tell_series(changes, series)
            return self._tell_alarm(changes, key)

        found: dict[str, Any] = await self.writer.do(work)
        return found

    async def mute(self, name: str, seconds: float | None) -> dict[str, Any]:
        """Do not tell of alarms of a series for a while; None ends that."""

        def work(changes: Changes) -> dict[str, Any]:
            series = self.find(name)
            changes.touched.add(series.id)
            series.muted_until = None if seconds is None else clock.time() + seconds
            series.write(changes.tables)
            return self._tell_series(changes, series)

        found: dict[str, Any] = await self.writer.do(work)
        return found

    async def switch(self, name: str, model: str | None) -> dict[str, Any]:
        """Have a series judged by another model, or by what it learns alone."""

        def work(changes: Changes) -> dict[str, Any]:
            series = self.find(name)
            changes.touched.add(series.id)
            self._switch(changes, series, model)
            return self._tell_series(changes, series)

        found: dict[str, Any] = await self.writer.do(work)
        return found

    async def enter_folder(self, folder: Path) -> None:
        """Take a model folder by its name, unless it is the one that is known by that name."""
        detector = await asyncio.to_thread(load, folder)
        name = folder.resolve().name
        check_name("the name of the model folder", name)
        if not await asyncio.to_thread(self.models.has, name, folder):
            await self._enter(name, detector, None)

    async def enter_model(self, name: str, folder: Path, rows: int) -> None:
        """Take a model that was fitted here."""
        await self._enter(name, await asyncio.to_thread(load, folder), rows)

    async def _enter(self, name: str, detector: BaseDetector, rows: int | None) -> None:
        """Enter a model; series that an older one of the name judged are switched to it."""

        def work(changes: Changes) -> None:
            older = self.models.key_of(name)
            changes.undo.append(partial(self.models.read, changes.tables))
            model = self.models.enter(changes.tables, name, detector, rows)
            self.models.read(changes.tables)
            for series in tuple(self.series.values()):
                same = series.model is not None and series.model == older
                if same or (series.name == name and series.model is None):
                    changes.touched.add(series.id)
                    fits = set(model.channels) == set(series.channels)
                    self._switch(changes, series, name if fits else None)
                    self._tell_series(changes, series)
            if older is not None:
                changes.tables.execute("delete from models where id = ?", (older,))
                self.models.read(changes.tables)

        await self.writer.do(work)
        await asyncio.to_thread(self.models.clear)

    async def delete(self, name: str) -> None:
        """Forget a series: its rows, alarms and state."""

        def work(changes: Changes) -> None:
            series = self.find(name)
            changes.touched.add(series.id)
            for table in ("rows", "alarms", "snapshots"):
                changes.tables.execute(f"delete from {table} where series = ?", (series.id,))
            changes.tables.execute("delete from series where id = ?", (series.id,))
            self._forget(series)
            changes.events.append(LiveEvent("deleted", name, lambda: {"name": name}))

        await self.writer.do(work)

    # in the writer's thread

    def _push_early(self, name: str, batch: Batch) -> None:
        """Have a few new rows scored while requests before them are written."""
        if (series := self.series.get(name)) is None:
            self._early.begin(name, batch)
        else:
            self._early.push(series, batch)

    def _push(self, name: str, batch: Batch, changes: Changes) -> TakenRows:
        series = self.series.get(name)
        if series is None:
            series = self._create(changes, name, batch)
        elif batch.kind != series.time_kind:
            raise InputError.of(
                "times of rows",
                f"must be of one kind in a series ({_in_words(series.time_kind)} here)",
                f"got {_in_words(batch.kind)}",
            )
        stream = self._wake(changes, series)
        taken = take(changes, series, stream, batch.of_channels(series.channels))
        for changed in taken.changed:
            self._tell_change(changes, series, changed)
        if taken.taken:
            # as it is when it is told: a record for each row would cost more than telling it
            event = LiveEvent("series", name, partial(self.record, series))
            changes.events.append(event)
        return taken

    def _create(self, changes: Changes, name: str, batch: Batch) -> WatchedSeries:
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
        model = self.models.fitting(batch.channels)
        channels = batch.channels if model is None else model.channels
        stream = self._early.begun(name, batch)
        key = self._early.next_key() if stream is None else stream.key
        columns = changes.tables.execute(
            "insert into series (id, name, channels, time_kind, model) values (?, ?, ?, ?, ?) "
            f"returning {COLUMNS}",
            (key, name, json.dumps(channels), batch.kind, None if model is None else model.key),
        ).fetchone()
        series = self._remember(WatchedSeries(columns))
        series.stream = stream
        changes.touched.add(key)
        return series

    def _wake(self, changes: Changes, series: WatchedSeries) -> RemoteStream:
        try:
            return series.wake(changes.tables, self._host, self.models.place(series.model))
        except (DataNotFound, ModelFileError) as error:
            log.error("the model of %r cannot be loaded: %s", series.name, error)
            raise Refusal(
                503,
                f"the model {self.models.name_of(series.model)!r} of this series cannot be loaded: "
                f"switch the series to another, or to none, then send this again",
            ) from error

    def _switch(self, changes: Changes, series: WatchedSeries, name: str | None) -> None:
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
            self._tell_alarm(changes, series.open_alarm)
            series.open_alarm = None
        key = None if model is None else model.key
        series.switch(changes.tables, self._host, key, self.models.place(key))
        series.write(changes.tables)

    def _alarm(self, changes: Changes, key: int) -> dict[str, Any]:
        if (found := records.alarm_by_key(changes.tables, key)) is None:
            raise not_found("alarm", key)
        return found

    def _tell_change(self, changes: Changes, series: WatchedSeries, changed: AlarmChange) -> None:
        alarm = self._tell_alarm(changes, changed.key)
        for follow in self.on_alarm:
            follow(changes, series, alarm, changed.change)

    def _tell_alarm(self, changes: Changes, key: int) -> dict[str, Any]:
        alarm = self._alarm(changes, key)
        changes.events.append(LiveEvent("alarm", alarm["series"], lambda: alarm))
        return alarm

    def _tell_series(self, changes: Changes, series: WatchedSeries) -> dict[str, Any]:
        record = self.record(series)
        changes.events.append(LiveEvent("series", series.name, lambda: record))
        return record

    def _keep_all(self, changes: Changes) -> None:
        for series in self.series.values():
            if series.rows > series.snapshot_row:
                series.keep(changes.tables)

    def _remember(self, series: WatchedSeries) -> WatchedSeries:
        self.series[series.name] = self._by_key[series.id] = series
        return series

    def _forget(self, series: WatchedSeries) -> None:
        if series.stream is not None:
            series.stream.drop()
        self.series.pop(series.name, None)
        self._by_key.pop(series.id, None)


def _in_words(kind: TimeKind) -> str:
    return {
        TimeKind.none: "no times",
        TimeKind.number: "numbers",
        TimeKind.utc: "times with a zone",
        TimeKind.local: "times without a zone",
    }[kind]
