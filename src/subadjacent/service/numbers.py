"""Numbers of alarms and jobs. Where there are several replicas, no two give the same number.

A lone service counts 1, 2, 3 … by its tables. A replica counts in steps of ``MOST_REPLICAS`` from
the milliseconds since 1970, so that numbers of all replicas together are in the order in which they
were given, and an alarm keeps its number when its series moves.
"""

from __future__ import annotations

import sqlite3
import time as clock

MOST_REPLICAS = 64
"""Numbers of a millisecond, one for each replica: a browser counts exactly far beyond them."""


class Numbers:
    """Gives the next number of one replica; nothing, for the tables to count, where it is alone."""

    def __init__(self, tables: sqlite3.Connection, replica: int | None) -> None:
        self._replica = replica
        (last,) = tables.execute("select max(seq) from sqlite_sequence").fetchone()
        self._last = last or 0

    def __call__(self) -> int | None:
        """A number above all that these tables have had."""
        if self._replica is None:
            return None
        least = max(int(clock.time() * 1_000) * MOST_REPLICAS, self._last + 1)
        self._last = least + (self._replica - least) % MOST_REPLICAS
        return self._last
