"""Rows that are scored before it is their turn: while requests before them are written.

Only the first rows of a request that come as they will be taken, a few at a time. A series that is
new has its stream begun before it is created: a thousand that come in one second would otherwise
wait for each other. All of it is settled with the group of requests that is done together.
"""

from __future__ import annotations

import sqlite3

from subadjacent.service.bodies import Batch
from subadjacent.service.models import Models
from subadjacent.service.moments import for_stream
from subadjacent.service.streams import MOST_EARLY, RemoteStream, StreamHost
from subadjacent.service.taking import all_new, in_order
from subadjacent.service.watched import WatchedSeries


class EarlyRows:
    """What is scored early in the group of requests that is done now; in the writer's thread."""

    def __init__(self, host: StreamHost, models: Models, tables: sqlite3.Connection) -> None:
        self._host, self._models = host, models
        self._seen: set[str] = set()
        self._known: list[WatchedSeries] = []
        self._new: dict[str, tuple[Batch, RemoteStream]] = {}
        last = tables.execute("select seq from sqlite_sequence where name = 'series'").fetchone()
        self._last_key = 0 if last is None else int(last[0])

    def next_key(self) -> int:
        """A number that no series has had."""
        self._last_key += 1
        return self._last_key

    def push(self, series: WatchedSeries, batch: Batch) -> None:
        """Begin to score rows of a series that is there."""
        stream = series.stream
        if not self._is_first(series.name) or batch.values.size > MOST_EARLY:
            return
        if stream is None or not stream.is_there or not all_new(series, batch):
            return
        self._known.append(series)
        stream.push_early(batch.values, for_stream(batch.times or (), series.time_kind))

    def begin(self, name: str, batch: Batch) -> None:
        """Begin to score the first rows of a series that will be created, if no model knows it."""
        if not self._is_first(name) or batch.values.size > MOST_EARLY:
            return
        if not in_order(batch.times):
            return
        if self._models.fitting(batch.channels) is not None:
            return
        stream = self._host.begin(self.next_key(), batch.channels, name, None)
        self._new[name] = batch, stream
        stream.push_early(batch.values, for_stream(batch.times or (), batch.kind))

    def begun(self, name: str, batch: Batch) -> RemoteStream | None:
        """The stream that was begun for these rows."""
        found = self._new.get(name)
        if found is None or found[0] is not batch or not found[1].is_there:
            return None
        del self._new[name]
        return found[1]

    def _is_first(self, name: str) -> bool:
        """Whether no request of this group came before for the series: rows stay in their order."""
        first = name not in self._seen
        self._seen.add(name)
        return first

    def settle(self) -> set[int]:
        """Forget all; which series had rows scored that then were not taken."""
        for _, stream in self._new.values():
            stream.drop()
        left = {one.id for one in self._known if one.stream and one.stream.has_early}
        self._seen.clear()
        self._new.clear()
        self._known.clear()
        return left
