"""The tables, and connections to them.

One file, ``service.sqlite``, in write-ahead mode: readers never wait for the writer. ``FULL``
makes a commit wait for the disk, so that what was answered outlives the power too.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from subadjacent.errors import ModelFileError

VERSION = 1
FILE = "service.sqlite"

TABLES = """
create table models (
    id integer primary key autoincrement,
    name text not null unique,
    detector text not null,
    channels text not null,
    rows integer,
    fitted_at real not null
);
create table series (
    id integer primary key autoincrement,
    name text not null unique,
    channels text not null,
    time_kind text not null,
    model integer references models,
    -- its stream counts rows and alarms from these on: another model begins another stream
    first_row integer not null default 0,
    first_number integer not null default 0,
    rows integer not null default 0,
    last_time real,
    severity real not null default 0,
    sure real not null default 0,
    open_alarm integer,
    muted_until real
);
create table rows (
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
create table alarms (
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
create index alarms_of_series on alarms (series, id);
create index open_alarms on alarms (state, id);
create table snapshots (
    series integer primary key,
    row integer not null,
    facts text not null,
    arrays blob not null
);
create table jobs (
    id integer primary key autoincrement,
    name text not null,
    state text not null,
    step text not null default '',
    done integer not null default 0,
    total integer not null default 0,
    error text,
    started_at real not null
);
create table outbox (
    id integer primary key autoincrement,
    address text not null,
    body text not null
);
"""


def connect(folder: Path) -> sqlite3.Connection:
    """A connection of the one writer; makes the tables in a new folder."""
    connection = sqlite3.connect(
        folder / FILE, isolation_level=None, check_same_thread=False, timeout=30
    )
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    # a full disk must not leave a log that grows for ever
    connection.execute("pragma journal_size_limit = 67108864")
    (version,) = connection.execute("pragma user_version").fetchone()
    if version == 0:
        connection.executescript(f"begin; {TABLES} pragma user_version = {VERSION}; commit;")
    elif version != VERSION:
        connection.close()
        raise ModelFileError(
            f"{folder / FILE} was written by another version ({version}, this one writes "
            f"{VERSION}): name another folder with --data"
        )
    return connection


def connect_reader(folder: Path) -> sqlite3.Connection:
    """A connection that only reads, for any one thread at a time."""
    connection = sqlite3.connect(
        folder / FILE, isolation_level=None, check_same_thread=False, timeout=30
    )
    connection.execute("pragma query_only = on")
    connection.row_factory = sqlite3.Row
    return connection
