"""What a watcher has learned, kept in a folder between runs.

The server keeps the rows; only what was learned from them is kept here, now and then. After a
crash the rows since then are asked for again, and give the same answers again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from subadjacent.errors import InputError
from subadjacent.methods.method import State
from subadjacent.service.watch.prometheus_api import Labels
from subadjacent.service.watch.query import QueryWatch
from subadjacent.service.watch.settings import Query
from subadjacent.service.watch.watched import WatchedSeries

FILE = "watch.sqlite"

VERSION = 1
"""Of what is kept; what another version wrote is not used, and learned again."""

TABLES = """
CREATE TABLE IF NOT EXISTS query (name TEXT PRIMARY KEY, settings TEXT, facts TEXT);
CREATE TABLE IF NOT EXISTS series (query TEXT, key TEXT, facts TEXT, arrays BLOB,
                                   PRIMARY KEY (query, key));
"""


class Store:
    """States of queries in an SQLite file that one watcher holds at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # no waiting: whoever holds it does so until it ends
            self._database = sqlite3.connect(self._path, timeout=0, isolation_level=None)
            try:
                self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.executescript(f"BEGIN EXCLUSIVE; {TABLES} COMMIT;")
            except BaseException:
                self._database.close()
                raise
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise InputError(f"data must be a folder to write to; {folder}: {error}") from error
            raise InputError(
                f"data must be a folder that no other watcher uses; {folder} is in use: "
                f"name another, or stop that one"
            ) from error
        except (OSError, sqlite3.DatabaseError) as error:
            raise InputError(
                f"data must be a folder to write to, with no {FILE} of another program; "
                f"{folder}: {error}"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()

    def save(self, watch: QueryWatch) -> None:
        """Keep a query's series, all or nothing, in place of what was kept of it."""
        if watch.clock is None:
            return
        facts = {
            "clock": watch.clock,
            "seen": [[[list(pair) for pair in labels], at] for labels, at in watch.seen.items()],
        }
        rows = [
            (watch.query.name, _written(key), json.dumps(state.facts), _packed(state))
            for key, series in watch.series.items()
            for state in (series.state(),)
        ]
        with closing(self._database.cursor()) as cursor:
            cursor.execute("BEGIN")
            try:
                self._delete(cursor, watch.query)
                settings = fingerprint(watch.query)
                cursor.execute(
                    "INSERT INTO query VALUES (?, ?, ?)",
                    (watch.query.name, settings, json.dumps(facts)),
                )
                cursor.executemany("INSERT INTO series VALUES (?, ?, ?, ?)", rows)
                cursor.execute("COMMIT")
            except BaseException:
                # a full disk has ended it already
                if self._database.in_transaction:
                    cursor.execute("ROLLBACK")
                raise

    def restore(self, watch: QueryWatch) -> bool:
        """Put back what was kept of a query; False where nothing was that can be used."""
        query = watch.query
        found = self._database.execute(
            "SELECT facts FROM query WHERE name = ? AND settings = ?",
            (query.name, fingerprint(query)),
        ).fetchone()
        if found is None:
            return False
        try:
            facts = json.loads(found[0])
            seen = {_labels(labels): int(at) for labels, at in facts["seen"]}
            series = {
                _labels(json.loads(key)): WatchedSeries.restore(
                    _labels(json.loads(key)), State(load(arrays), json.loads(text)), query
                )
                for key, text, arrays in self._database.execute(
                    "SELECT key, facts, arrays FROM series WHERE query = ?", (query.name,)
                )
            }
            clock = int(facts["clock"])
        except (KeyError, TypeError, ValueError, AttributeError, SafetensorError):
            # of another version, or damaged: the server has what it was learned from
            return False
        watch.seen, watch.series, watch.clock = seen, series, clock
        return True

    def _delete(self, cursor: sqlite3.Cursor, query: Query) -> None:
        cursor.execute("DELETE FROM query WHERE name = ?", (query.name,))
        cursor.execute("DELETE FROM series WHERE query = ?", (query.name,))


def fingerprint(query: Query) -> str:
    """Tells whether what was learned was learned from the same rows in the same way."""
    text = json.dumps({"version": VERSION} | query.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _packed(state: State) -> bytes:
    # arrays that lie in memory column by column would come back with their values in another order
    return save({name: np.ascontiguousarray(array) for name, array in state.arrays.items()})


def _written(key: Labels) -> str:
    return json.dumps([list(pair) for pair in key])


def _labels(saved: Any) -> Labels:
    return tuple((str(name), str(value)) for name, value in saved)
