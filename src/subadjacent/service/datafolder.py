"""The folder for all that is kept: whether it can be used is known before anything is served."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from subadjacent.durable import lock, opened
from subadjacent.errors import InputError
from subadjacent.service.schema import FILE, VERSION, connect

REMEDY = "name another folder with --data"
PARTS = (".", "models", "uploads")
"""Folders that are written to, if they are there already."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Have a folder for oneself; refuse one that another service uses, or that cannot be used."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_to_write(folder, error) from error
    with opened(folder) as handle:
        if handle is None or not lock(handle, wait=False):
            raise InputError.of(
                "data",
                "must be a folder that no other service uses",
                f"got {folder}",
                f"end the other one, or {REMEDY}",
            )
        _check(folder)
        _check_replicas(folder)
        yield


def _check(folder: Path) -> None:
    try:
        for part in filter(Path.is_dir, (folder / part for part in PARTS)):
            with tempfile.TemporaryFile(dir=part):
                pass
    except OSError as error:
        raise _not_to_write(folder, error) from error
    try:
        with closing(connect(folder)) as tables:
            # a file that cannot be written is found out by writing
            tables.execute("begin immediate")
            tables.execute(f"pragma user_version = {VERSION}")
            tables.execute("rollback")
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


def _not_to_write(folder: Path, error: OSError) -> InputError:
    # of a file in its place the system says just that it is there
    why = "it is a file" if folder.is_file() else error.strerror
    return InputError.of("data", "must be a folder to write to", f"{folder}: {why}", REMEDY)
