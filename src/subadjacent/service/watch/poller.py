"""One query of a Prometheus server: its series are pushed from their history on, row by row.

Rows go into the service's registry as if a client had pushed them. Rows that it has already are
duplicates, so an interrupted read is simply repeated. Rows are at multiples of the step, so that a
restart asks for the same ones. All times are whole milliseconds since 1970, as the server counts
them: seconds as fractions would drift.

Shapes: T times, B rows, C channels.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

import numpy as np

from subadjacent.decision.machine import OPENED
from subadjacent.service.metrics import Measures
from subadjacent.service.problems import Refusal
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.request_body import RowBatch
from subadjacent.service.series import LiveSeries
from subadjacent.service.times import TimeKind
from subadjacent.service.watch.exposition import PollerHealth
from subadjacent.service.watch.labels import describe, exposed, group
from subadjacent.service.watch.prometheus_api import (
    Array,
    Labels,
    PrometheusAPI,
    ReadFailure,
    Table,
)
from subadjacent.service.watch.settings import (
    MILLISECONDS,
    MIN_HISTORY_ROWS,
    PolledQuery,
    WatchSettings,
)
from subadjacent.service.writer import Changes

log = logging.getLogger(__name__)

MAX_POINTS = 11_000
"""Points of one series that the server gives in one answer; it refuses to give more."""

MAX_VALUES = 500_000
"""Values queried in one answer, of all series together: some 15 MB of JSON."""

DEFAULT_POINTS = 1_000
"""Points to query while the number of series is unknown."""

VALUES_AT_ONCE, SERIES_AT_ONCE = 5_000, 1_000
"""Values and series that are pushed together: the service's queue holds that many."""

LEARNED_AT_ONCE = 500
"""Rows of history pushed together; other requests wait no longer than for these."""

MAX_RETRY = 60 * MILLISECONDS
"""Longest pause between two tries: a server that is back is noticed within a minute."""

STALE_ROWS, STALE = 5, 300 * MILLISECONDS
"""A score older than both is hidden; Prometheus shows its own values for as long."""

Remark = Callable[[str], None]


async def poll(
    settings: WatchSettings, remark: Remark, registry: SeriesRegistry, measures: Measures
) -> None:
    """Poll all queries until cancelled; ``remark`` gets sentences for people."""

    def report(changes: Changes, series: LiveSeries, alarm: dict[str, Any], change: str) -> None:
        if change == OPENED:
            sentence = f"alarm: {series.name}: {alarm['sentence']}"
            changes.then.append(partial(remark, sentence))

    registry.on_alarm.append(report)
    health = PollerHealth(measures.registry)
    rates = {query.name: query.false_alarms for query in settings.queries}
    for name, (query, _) in polled_series(registry).items():
        # not shown before it is polled: its labels are not known yet
        registry.series[name].labels = {}
        registry.false_alarms[name] = rates.get(query, "auto")
    async with aclosing(PrometheusAPI(settings)) as api:
        pollers = [Poller(query, api, registry, health, remark) for query in settings.queries]
        await asyncio.gather(*(poller.run() for poller in pollers))


def polled_series(registry: SeriesRegistry) -> dict[str, tuple[str, str]]:
    """The query of every polled series and the fingerprint of its settings, by name."""
    with registry.reader() as tables:
        found = tables.execute(
            "select name, query, fingerprint from polled join series using (name)"
        )
        return {name: (query, fingerprint) for name, query, fingerprint in found}


class Poller:
    """Polls one query.

    ``clock`` is the time of the last row that all its series have; ``seen`` has the label sets that
    had a value within ``forget_after`` before it, and the time of their last value; ``series`` has
    the label set of every channel of every series, by the name of the series.
    """

    def __init__(
        self,
        query: PolledQuery,
        api: PrometheusAPI,
        registry: SeriesRegistry,
        health: PollerHealth,
        remark: Remark,
    ) -> None:
        self.query = query
        self.clock: int | None = None
        self.seen: dict[Labels, int] = {}
        self.series: dict[str, dict[str, Labels]] = {}
        self.refused = 0
        self.rows = 0
        self._api, self._registry, self._health, self._remark = api, registry, health, remark
        self._keys: dict[str, Labels] = {}
        self._foreign: set[str] = set()
        self._learned_at: int | None = None
        self._failures = 0
        self._failure: str | None = None
        self._is_bound_reported = False

    async def run(self) -> None:
        """Push new rows at every step, until cancelled."""
        while True:
            await asyncio.sleep(await self.turn() / MILLISECONDS)

    async def turn(self) -> int:
        """Push new rows, report failures; return the milliseconds until the next turn."""
        began, rows = time.monotonic(), self.rows
        try:
            await self.catch_up(_now())
        except ReadFailure as failure:
            return self._fail(failure.kind, str(failure))
        except Refusal as refusal:
            return self._fail("internal", str(refusal))
        except Exception as error:
            # one query that fails must not end the others
            log.debug("a turn failed", exc_info=True)
            self.clock = None
            return self._fail("internal", f"{type(error).__name__}: {error}")
        now = _now()
        if self._failure is not None:
            self._remark(f"{self.query.name}: rows are read again")
            self._failure = None
        self._failures = 0
        self._health.report_answer(self, now, self.rows - rows, time.monotonic() - began)
        return self._last_tick(now) + self.query.step + self.query.offset - now

    def _last_tick(self, now: int) -> int:
        """The last multiple of the step that is at least ``offset`` ago."""
        return (now - self.query.offset) // self.query.step * self.query.step

    def _fail(self, kind: str, text: str) -> int:
        self._health.report_failure(self.query, kind)
        # a long outage is one remark
        if self._failure != kind:
            self._remark(f"{self.query.name}: no rows ({text}); trying again")
            self._failure = kind
        behind = _now() - self.query.offset - (self.clock or 0)
        if behind > max(STALE, STALE_ROWS * self.query.step):
            for name in self.series:
                self._show(name, None)
        self._failures += 1
        doubled: int = MILLISECONDS << min(self._failures - 1, 16)
        return min(doubled, MAX_RETRY)

    async def catch_up(self, now: int) -> None:
        """Push every row up to now; resume or learn the series first if needed."""
        end = self._last_tick(now)
        # far ahead or behind where a clock was corrected
        if self.clock is None or abs(end - self.clock) > self.query.history:
            await self._resume_or_learn(end)
        assert self.clock is not None
        while self.clock < end:
            times = self._next_times(self.clock, end)
            await self._push(await self._read(times), times)
        await self._follow_changes()

    def _next_times(self, after: int, end: int) -> range:
        """Times after one, up to ``end``: as many as one answer may hold."""
        step, count = self.query.step, len(self.seen)
        points = min(MAX_POINTS, max(1, MAX_VALUES // count)) if count else DEFAULT_POINTS
        return range(after + step, min(end, after + points * step) + 1, step)

    async def _read(self, times: range) -> Table:
        return await self._api.read(self.query.expr, times[0], times[-1], self.query.step)

    async def _resume_or_learn(self, end: int) -> None:
        """Resume this query's stored series; learn the others from history."""
        query = self.query
        self.seen, self.series, self.clock = {}, {}, None
        # label sets without a recent value belong to targets that are gone
        points = min(MAX_POINTS, max(1, MAX_VALUES // query.max_series))
        length = min(query.forget_after // query.step, points - 1) * query.step
        times = range(end - length, end + 1, query.step)
        self._notice(await self._read(times), times)
        wanted = self._wanted()
        stored = await asyncio.to_thread(polled_series, self._registry)
        for name, (owner, fingerprint) in stored.items():
            if owner == query.name and name not in wanted:
                await self._registry.delete(name)
            elif owner == query.name and fingerprint == query.fingerprint:
                self._resume(name, wanted[name], end)
        self._foreign = {
            name for name in wanted if name in self._registry.series and name not in stored
        }
        for name in sorted(self._foreign):
            self._remark(f"{name!r} is not watched: a client already pushes a series of this name")
        if self.series:
            self._remark(f"{query.name}: resumed {len(self.series):,} stored series")
        new = {name: channels for name, channels in wanted.items() if name not in self.series}
        clock = min((self._last_row(name) for name in self.series), default=end)
        await self._learn(new, clock)
        self.clock = clock
        self._learned_at = end if self.series else None

    def _resume(self, name: str, channels: dict[str, Labels], end: int) -> None:
        series = self._registry.series[name]
        same = series.channels == tuple(channels)
        if same and 0 <= end - self._last_row(name) <= self.query.history:
            self.series[name] = channels

    def _last_row(self, name: str) -> int:
        last = self._registry.series[name].last_time
        return round((last or 0.0) * MILLISECONDS)

    async def _follow_changes(self) -> None:
        """Relearn series whose label sets changed; delete those that are gone.

        At most once every ``MIN_HISTORY_ROWS`` rows: by then the history has enough rows of the new
        label set, and the relearned series is usable at once.
        """
        assert self.clock is not None
        wanted = self._wanted()
        for name in [name for name in self.series if name not in wanted]:
            await self._registry.delete(name)
            del self.series[name]
        changed = {
            name: channels for name, channels in wanted.items() if self.series.get(name) != channels
        }
        pause = MIN_HISTORY_ROWS * self.query.step
        if self._learned_at is None or self.clock - self._learned_at >= pause:
            await self._learn(changed, self.clock)
            self._learned_at = self.clock if self.series else None

    def _wanted(self) -> dict[str, dict[str, Labels]]:
        """The channels of each series, by name, from the label sets seen."""
        wanted = group(self.seen, self.query.groupby, self.query.name)
        self._keys = {describe(key, self.query.name): key for key in wanted}
        return {describe(key, self.query.name): channels for key, channels in wanted.items()}

    async def _learn(self, wanted: Mapping[str, dict[str, Labels]], end: int) -> None:
        """Begin series anew with the rows of the history up to ``end``; no alarm of it is sent."""
        new = {name: channels for name, channels in wanted.items() if name not in self._foreign}
        if not new:
            return
        more = " more" if self.series.keys() - new.keys() else ""
        for name in new:
            await self._enter(name)
        clock = end - self.query.history
        while clock < end:
            times = self._next_times(clock, end)
            table = await self._read(times)
            for name, channels in new.items():
                rows = _rows(table, channels, len(times))
                for start in range(0, len(times), LEARNED_AT_ONCE):
                    part = slice(start, start + LEARNED_AT_ONCE)
                    # a series without any row yet is learned later
                    if len(batch := _batch(channels, rows[part], times[part])):
                        await self._registry.push(name, batch, patient=True, quiet=True)
                        self.series[name] = channels
                        self._show(name, rows[-1])
            clock = times[-1]
        self._remark(f"{self.query.name}: learned {len(new):,} series{more} from history")

    async def _enter(self, name: str) -> None:
        """Make room for a series of this query, which begins with its next row."""
        self.series.pop(name, None)

        def work(changes: Changes) -> None:
            if name in self._registry.series:
                self._registry.remove(changes, self._registry.series[name])
            changes.tables.execute(
                "insert or replace into polled (name, query, fingerprint) values (?, ?, ?)",
                (name, self.query.name, self.query.fingerprint),
            )

        self._registry.false_alarms[name] = self.query.false_alarms
        await self._registry.writer.do(work)

    async def _push(self, table: Table, times: range) -> None:
        """Push the rows of a query result to all series, a few at a time."""
        self._notice(table, times)
        rows = {name: _rows(table, channels, len(times)) for name, channels in self.series.items()}
        width = sum(map(len, self.series.values()))
        length = max(1, VALUES_AT_ONCE // max(width, 1))
        names = list(self.series)
        for start in range(0, len(times), length):
            part = slice(start, start + length)
            for first in range(0, len(names), SERIES_AT_ONCE):
                some = names[first : first + SERIES_AT_ONCE]
                await asyncio.gather(
                    *(self._push_one(name, rows[name][part], times[part]) for name in some)
                )
            self.clock = times[part][-1]

    async def _push_one(self, name: str, rows: Array, times: range) -> None:
        batch = _batch(self.series[name], rows, times)
        if len(batch):
            record = await self._registry.push(name, batch)
            self.rows += record["taken"]
        self._show(name, rows[-1])

    def _show(self, name: str, row: Array | None) -> None:
        """Expose the newest row of a series under its labels; None hides the series."""
        if (series := self._registry.series.get(name)) is not None:
            series.labels = exposed(self._keys[name], self.query.name)
            values = () if row is None else tuple(row.tolist())
            series.newest = values if any(map(math.isfinite, values)) else None

    def _notice(self, table: Table, times: range) -> None:
        """Record when each label set last had a value, for at most ``max_series`` of them."""
        last = {labels: _last_value(column) for labels, column in table.items()}
        fresh = [
            labels for labels in sorted(table) if labels not in self.seen and last[labels] >= 0
        ]
        # watched label sets stay; new ones are added in sorted order
        room = max(0, self.query.max_series - len(self.seen))
        for labels in [*(table.keys() & self.seen.keys()), *fresh[:room]]:
            if last[labels] >= 0:
                self.seen[labels] = times[last[labels]]
        gone = [one for one, at in self.seen.items() if times[-1] - at > self.query.forget_after]
        for labels in gone:
            del self.seen[labels]
        self.refused = len(fresh) - len(fresh[:room])
        if self.refused and not self._is_bound_reported:
            self._remark(
                f"{self.query.name}: {self.query.max_series:,} label sets are watched and "
                f"{self.refused:,} are not: narrow the query, or raise max_series"
            )
        self._is_bound_reported = self.refused > 0


def _rows(table: Table, channels: Mapping[str, Labels], count: int) -> Array:
    """The rows of a series in a query result, (T, C)."""
    missing = np.full(count, math.nan)
    return np.stack([table.get(labels, missing) for labels in channels.values()], axis=1)


def _batch(channels: Mapping[str, Labels], rows: Array, times: range) -> RowBatch:
    """The rows with at least one value; a machine that is switched off has none."""
    places = np.flatnonzero(np.isfinite(rows).any(axis=1)).tolist()
    seconds = [times[place] / MILLISECONDS for place in places]
    return RowBatch(tuple(channels), rows[places], seconds, TimeKind.utc)


def _last_value(column: Array) -> int:
    """Index of the last value of a column; -1 if it has none."""
    there = np.flatnonzero(np.isfinite(column))
    return int(there[-1]) if len(there) else -1


def _now() -> int:
    return int(time.time() * MILLISECONDS)
