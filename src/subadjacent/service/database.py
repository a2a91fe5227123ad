"""The data folder, the tables in it, and connections to them.

One file, ``service.sqlite``, in write-ahead mode: readers never wait for the writer. ``FULL``
makes a commit wait for the disk, so that what was answered outlives the power too.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subadjacent.durable import lock, opened
from subadjacent.errors import InputError, ModelFileError

VERSION = 1
FILE = "service.sqlite"

TABLES = """
create table if not exists models (
    id integer primary key autoincrement,
    name text not null unique,
    detector text not null,
    channels text not null,
    rows integer,
    fitted_at real not null
);
create table if not exists series (
    id integer primary key autoincrement,
    name text not null unique,
    channels text not null,
    time_kind text not null,
    model integer references models,
    -- the stream counts rows and alarms from these numbers: another model begins another stream
    first_row integer not null default 0,
    first_number integer not null default 0,
    rows integer not null default 0,
    last_time real,
    severity real not null default 0,
    sure real not null default 0,
    open_alarm integer,
    muted_until real
);
create table if not exists rows (
    series integer not null,
    row integer not null,
    taken real not null,
    time real,
    vals blob not null,
    bands blob not null,
    score real,
    severity real not null,
    sure real not null,
    anomalous integer not null,
    final integer not null,
    primary key (series, row)
) without rowid;
create table if not exists alarms (
    id integer primary key autoincrement,
    series integer not null,
    number integer not null,
    state text not null,
    start real,
    end real,
    first integer not null,
    last integer not null,
    severity real not null,
    kind text not null,
    sentence text not null,
    causes text not null,
    for_good integer not null,
    normal integer not null default 0,
    acknowledged integer not null default 0,
    note text not null default '',
    opened_at real not null,
    unique (series, number)
);
create index if not exists alarms_of_series on alarms (series, id);
create index if not exists open_alarms on alarms (state, id);
create table if not exists snapshots (
    series integer primary key,
    row integer not null,
    facts text not null,
    arrays blob not null
);
create table if not exists jobs (
    id integer primary key autoincrement,
    name text not null,
    state text not null,
    step text not null default '',
    done integer not null default 0,
    total integer not null default 0,
    error text,
    started_at real not null
);
create table if not exists outbox (
    id integer primary key autoincrement,
    address text not null,
    body text not null
);
-- series that are polled: by which query, with which settings
create table if not exists polled (
    name text primary key,
    query text not null,
    fingerprint text not null
);
"""

ALARM_COLUMNS = {
    "status": "text not null default 'confirmed'",
    "repeat": "integer not null default 1",
    "repeat_of": "integer",
}
"""Columns of alarms that folders of earlier versions do not have."""


def connect(folder: Path) -> sqlite3.Connection:
    """A connection of the one writer; makes the tables in a new folder."""
    connection = _open(folder)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    # a full disk must not leave a log that grows for ever
    connection.execute("pragma journal_size_limit = 67108864")
    (version,) = connection.execute("pragma user_version").fetchone()
    if version not in (0, VERSION):
        connection.close()
        raise ModelFileError(
            f"{folder / FILE} was written by another version ({version}, this one writes "
            f"{VERSION}): name another folder with --data"
        )
    # a folder of an earlier version lacks some of them
    connection.executescript(f"begin; {TABLES} pragma user_version = {VERSION}; commit;")
    known = {column["name"] for column in connection.execute("pragma table_info(alarms)")}
    for name, definition in ALARM_COLUMNS.items():
        if name not in known:
            connection.execute(f"alter table alarms add column {name} {definition}")
    return connection


def connect_reader(folder: Path) -> sqlite3.Connection:
    """A connection that only reads, for any one thread at a time."""
    connection = _open(folder)
    connection.execute("pragma query_only = on")
    return connection


def _open(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        folder / FILE, isolation_level=None, check_same_thread=False, timeout=30
    )
    connection.row_factory = sqlite3.Row
    return connection


REMEDY = "name another folder with --data"
WRITTEN_FOLDERS = (".", "models", "uploads")
"""Folders that are written to, if they are there already."""


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder; refuse one that another service uses, or that cannot be used."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    with opened(folder) as handle:
        if handle is None or not lock(handle, wait=False):
            raise InputError.of(
                "data",
                "must be a folder that no other service uses",
                f"got {folder}",
                f"end the other one, or {REMEDY}",
            )
        _check_writable(folder)
        _check_replicas(folder)
        yield


def _check_writable(folder: Path) -> None:
    try:
        for part in filter(Path.is_dir, (folder / part for part in WRITTEN_FOLDERS)):
            with tempfile.TemporaryFile(dir=part):
                pass
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        # only writing tells whether the file can be written
        connect(folder).close()
    except sqlite3.Error as error:
        raise InputError.of(
            "data", f"must have tables of ours in {FILE}, or none", f"{folder}: {error}", REMEDY
        ) from error


def _check_replicas(folder: Path) -> None:
    """Refuse a folder whose series were shared among replicas, which 0.2 had: all must be found."""
    if found := next(folder.glob(f"replica-*/{FILE}"), None):
        raise InputError.of(
            "data",
            "must hold the series of one service",
            f"{found.parent} holds series of a replica",
            "start subadjacent 0.2 once without --replicas, which takes them back",
        )


def _unwritable(folder: Path, error: OSError) -> InputError:
    # where a file is in its place, the system says only that it exists
    why = "it is a file" if folder.is_file() else error.strerror
    return InputError.of("data", "must be a folder to write to", f"{folder}: {why}", REMEDY)
