"""Deletes old rows and alarms, a few per second."""

from __future__ import annotations

import sqlite3
import time as clock
from collections.abc import Mapping

from subadjacent.service.series import LiveSeries
from subadjacent.service.settings import Retention
from subadjacent.service.writer import Changes

MAX_DELETED_ROWS = 5_000
"""Rows that are deleted in one transaction: it takes some hundredths of a second."""

SERIES_AT_ONCE = 50
MIN_DELETED_ROWS = 100
"""Rows beyond the bound that wait to be deleted together."""

MAX_ALARMS = 1_000
"""Alarms of a series that are kept; the newest."""

DAY = 86_400.0


class Sweeper:
    """Deletes old rows and alarms of some series in every call."""

    def __init__(self, series: Mapping[str, LiveSeries], rule: Retention) -> None:
        self._series, self._rule = series, rule
        self._turn: list[str] = []

    def __call__(self, changes: Changes) -> None:
        """Delete old rows and alarms of the next series."""
        if not self._turn:
            self._turn = list(self._series)
        some, self._turn = self._turn[:SERIES_AT_ONCE], self._turn[SERIES_AT_ONCE:]
        for name in some:
            series = self._series.get(name)
            if series is not None:
                self._sweep(changes.tables, series)

    def _sweep(self, tables: sqlite3.Connection, series: LiveSeries) -> None:
        oldest = series.oldest_row(tables)
        cutoff = oldest
        if self._rule.rows is not None:
            cutoff = max(cutoff, series.rows - self._rule.rows)
        if self._rule.days is not None:
            after = clock.time() - self._rule.days * DAY
            (first,) = tables.execute(
                "select min(row) from rows where series = ? and taken >= ?", (series.id, after)
            ).fetchone()
            cutoff = max(cutoff, series.rows if first is None else first)
            tables.execute(
                "delete from alarms where series = ? and state = 'closed' and opened_at < ?",
                (series.id, after),
            )
        tables.execute(
            "delete from alarms where series = ? and state = 'closed' and id <= (select id from "
            "alarms where series = ? order by id desc limit 1 offset ?)",
            (series.id, series.id, MAX_ALARMS),
        )
        # rows after the last snapshot are needed to make the stream anew
        cutoff = min(cutoff, _snapshot_row(tables, series), oldest + MAX_DELETED_ROWS)
        if cutoff - oldest >= MIN_DELETED_ROWS:
            tables.execute("delete from rows where series = ? and row < ?", (series.id, cutoff))


def _snapshot_row(tables: sqlite3.Connection, series: LiveSeries) -> int:
    """The row from which on the stream of a series is restored."""
    found = tables.execute("select row from snapshots where series = ?", (series.id,)).fetchone()
    return int(series.first_row if found is None else found[0])
