"""One query: learned from the server's history, then row by row, series that come and go.

Shapes: T times on the grid, B rows that come together, C channels.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping

import numpy as np

from subadjacent.service.watch.grid import (
    chunks,
    last_part,
    last_tick,
    next_part,
    points_at_once,
    ticks,
)
from subadjacent.service.watch.grouping import describe, group
from subadjacent.service.watch.prometheus_api import Array, Labels, PrometheusAPI, Table
from subadjacent.service.watch.settings import FEWEST_ROWS, Query
from subadjacent.service.watch.watched import WatchedSeries

VALUES_AT_ONCE = 5_000
"""Values that are judged before others get their turn: a fraction of a second."""

Remark = Callable[[str], None]


class QueryWatch:
    """The series of one query, as far as they are known.

    Every row is asked for once. ``clock`` is the time of the last row that was taken by all
    series; ``seen`` has the label sets that had a value within ``forget_after`` before it, and when
    the last one was.
    """

    def __init__(self, query: Query, api: PrometheusAPI, remark: Remark) -> None:
        self.query = query
        self.clock: int | None = None
        self.seen: dict[Labels, int] = {}
        self.series: dict[Labels, WatchedSeries] = {}
        self.refused = 0
        self.rows = 0
        self._api = api
        self._remark = remark
        self._learned_at: int | None = None
        self._said_bound = False

    async def catch_up(self, now: int) -> None:
        """Take every row that there is by now; learn first, where there is nothing to go on from.

        May be interrupted where it waits: what was taken until then is whole.
        """
        query = self.query
        end = last_tick(now, query.step, query.offset)
        # ahead by far: somebody has put a clock right
        if self.clock is None or abs(end - self.clock) > query.history:
            await self._begin(end)
        assert self.clock is not None
        while self.clock < end:
            points = points_at_once(len(self.seen))
            first, last = next_part(self.clock + query.step, end, query.step, points)
            table = await self._api.read(query.expr, first, last, query.step)
            await self._take(table, first, last)
        await self._follow_changes()

    def forget(self) -> None:
        """Begin anew with the next row: what is there cannot be trusted."""
        self.clock = None

    async def _begin(self, end: int) -> None:
        """Learn every series from history."""
        self.seen, self.series = {}, {}
        query = self.query
        # label sets that had no value of late are not watched: they are of things that are gone
        first, last = last_part(
            end - query.forget_after, end, query.step, points_at_once(self.query.max_series)
        )
        self._notice(await self._api.read(query.expr, first, last, query.step), first, last)
        self.series = await self._learn(self._wanted(), end)
        self.clock = end
        self._learned_at = end if self.series else None

    async def _follow_changes(self) -> None:
        """Learn series whose label sets have changed; drop those that are gone.

        At most once in so many rows as a series needs to be of use: by then the new label set has
        them in the history, and a series that is learned from it is of use at once.
        """
        assert self.clock is not None
        wanted = self._wanted()
        changed = {
            key: channels
            for key, channels in wanted.items()
            if key not in self.series or self.series[key].channels != channels
        }
        self.series = {key: one for key, one in self.series.items() if key in wanted}
        pause = FEWEST_ROWS * self.query.step
        if changed and (self._learned_at is None or self.clock - self._learned_at >= pause):
            self.series |= await self._learn(changed, self.clock)
            self._learned_at = self.clock

    def _wanted(self) -> dict[Labels, dict[str, Labels]]:
        return group(self.seen, self.query.groupby, self.query.name)

    async def _learn(
        self, wanted: Mapping[Labels, Mapping[str, Labels]], end: int
    ) -> dict[Labels, WatchedSeries]:
        """New series that have taken the history up to ``end``."""
        if not wanted:
            return {}
        times = self._history(end)
        history = await self._read_back({one for c in wanted.values() for one in c.values()}, times)
        learned = {}
        for key, channels in wanted.items():
            rows = np.stack([history[labels] for labels in channels.values()], axis=1)  # (T, C)
            series = WatchedSeries(key, channels, self.query)
            for part in chunks(len(times), max(1, VALUES_AT_ONCE // len(channels))):
                series.push(rows[part], times[part])
                await asyncio.sleep(0)
            series.watch_from_here()
            learned[key] = series
        counted = f"{len(learned):,} series" + (" more" if self.series else "")
        self._remark(f"{self.query.name}: learned {counted} from history")
        return learned

    def _history(self, end: int) -> range:
        """Times of the rows to learn from, up to ``end``."""
        return ticks(end - self.query.history + self.query.step, end, self.query.step)

    async def _read_back(self, wanted: set[Labels], times: range) -> Table:
        """History of label sets, newest part first: the server may not have it all."""
        query = self.query
        history = {labels: np.full(len(times), math.nan) for labels in wanted}
        last = times[-1]
        while last >= times[0]:
            first, _ = last_part(times[0], last, query.step, points_at_once(len(self.seen)))
            table = await self._api.read(query.expr, first, last, query.step)
            place = slice(times.index(first), times.index(last) + 1)
            for labels in wanted & table.keys():
                history[labels][place] = table[labels]
            last = first - query.step
        return history

    async def _take(self, table: Table, first: int, last: int) -> None:
        """Push the rows of an answer into all series, a few at a time."""
        times = ticks(first, last, self.query.step)
        self._notice(table, first, last)
        width = sum(len(one.channels) for one in self.series.values())
        missing = np.full(len(times), math.nan)
        for part in chunks(len(times), max(1, VALUES_AT_ONCE // max(width, 1))):
            for series in self.series.values():
                columns = [table.get(labels, missing)[part] for labels in series.channels.values()]
                before = series.rows
                self._tell(series, series.push(np.stack(columns, axis=1), times[part]))
                self.rows += series.rows - before
            # all series have these rows now: here it may be interrupted
            self.clock = times[part][-1]
            await asyncio.sleep(0)

    def _tell(self, series: WatchedSeries, sentences: list[str]) -> None:
        for sentence in sentences:
            self._remark(f"alarm: {describe(series.key, self.query.name)}: {sentence}")

    def _notice(self, table: Table, first: int, end: int) -> None:
        """Remember which label sets had values, up to as many as may be watched."""
        last = {labels: _last_value(column) for labels, column in table.items()}
        fresh = [
            labels for labels in sorted(table) if labels not in self.seen and last[labels] >= 0
        ]
        # those that are watched have their place; the others come in order
        room = max(0, self.query.max_series - len(self.seen))
        for labels in [*(table.keys() & self.seen.keys()), *fresh[:room]]:
            if last[labels] >= 0:
                self.seen[labels] = first + last[labels] * self.query.step
        gone = [one for one, at in self.seen.items() if end - at > self.query.forget_after]
        for labels in gone:
            del self.seen[labels]
        self.refused = len(fresh) - len(fresh[:room])
        if self.refused and not self._said_bound:
            self._remark(
                f"{self.query.name}: {self.query.max_series:,} label sets are watched and "
                f"{self.refused:,} are not: narrow the query, or raise max_series"
            )
        self._said_bound = self.refused > 0


def _last_value(column: Array) -> int:
    """Number of the last value that is there; -1 for none."""
    there = np.flatnonzero(np.isfinite(column))
    return int(there[-1]) if len(there) else -1
