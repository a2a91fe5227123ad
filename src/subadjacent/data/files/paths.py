"""Names, patterns and standard input → open files; other errors → ours."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl

from subadjacent.data.files.blocks import Source
from subadjacent.data.files.columnar import MARKS, ColumnarFile
from subadjacent.data.files.delimited import Delimited
from subadjacent.data.files.opening import HEAD_BYTES, PACKED, ZIPPED, find_encoding
from subadjacent.data.forks import refuse_lost_threads
from subadjacent.errors import DataNotFound, InputError, SubAdjacentError

STANDARD_INPUT = "-"

SOURCES: tuple[type[Source], ...] = (ColumnarFile, Delimited)
"""Readers of formats: the first that accepts a file reads it. The last takes all text."""

MAX_COPIED_BYTES = 1 << 34
"""Bytes that are taken from standard input or a pipe, 16 GiB, but at most half of what is free."""


def open_sources(paths: Sequence[str]) -> list[Source]:
    """The files that paths and patterns name, in order; their content tells their format."""
    if isinstance(paths, str):
        paths = [paths]
    sources = []
    if "" in map(os.fspath, paths):
        raise InputError("a path must name a file; got an empty one")
    for name in (name for path in paths for name in expand(os.fspath(path))):
        with only_our_errors(_called(name)):
            sources.append(_open(name))
    if not sources:
        raise InputError("paths must name at least one file; got none")
    return sources


def expand(path: str) -> list[str]:
    """The files that match a name or a pattern, sorted by name."""
    expanded = os.path.expanduser(path)  # noqa: PTH111 — Path would drop a leading ./
    if path == STANDARD_INPUT or not glob.has_magic(expanded) or Path(expanded).exists():
        return [path if path == STANDARD_INPUT else expanded]
    matches = sorted(glob.glob(expanded, recursive=True))  # noqa: PTH207 — absolute or not
    if not matches:
        raise DataNotFound(f"no file matches {path!r}; check the folder and the pattern")
    return matches


def _called(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name


def _open(name: str) -> Source:
    called = _called(name)
    path = Path(name)
    if name != STANDARD_INPUT:
        if path.is_dir():
            raise InputError(
                f"{name} must be a file; it is a folder: name the files in it, "
                f"for instance {path / '*.csv'}"
            )
        if path.is_char_device() or path.is_block_device():
            raise InputError(
                f"{name} must be a file or a pipe; it is a device, which may never end: "
                f"copy its data to a file"
            )
    if name != STANDARD_INPUT and (path.is_file() or not path.exists()):
        return _as_source(path, called)
    copy = _copy_to_file(name)
    try:
        source = _as_source(copy, called)
    except BaseException:
        copy.unlink()
        raise
    weakref.finalize(source, copy.unlink, missing_ok=True)
    return source


def _as_source(path: Path, called: str) -> Source:
    return next(source for source in SOURCES if source.accepts(path))(path, called)


def _copy_to_file(name: str) -> Path:
    """A copy of what can be read only once: standard input, or a pipe."""
    handle, copy = tempfile.mkstemp(prefix="subadjacent-")
    try:
        with open(handle, "wb") as out:  # noqa: PTH123 — a handle has no path
            if name == STANDARD_INPUT:
                _copy(sys.stdin.buffer, out, Path(copy), name)
            else:
                with Path(name).open("rb") as pipe:
                    _copy(pipe, out, Path(copy), name)
    except BaseException:
        Path(copy).unlink()
        raise
    return Path(copy)


def _copy(stream: IO[bytes], out: IO[bytes], copy: Path, name: str) -> None:
    """Copy a stream up to a bound; refuse binary data at once."""
    free = shutil.disk_usage(copy.parent).free
    most, total = min(MAX_COPIED_BYTES, free // 2), 0
    while data := stream.read(HEAD_BYTES):
        if not total and not data.startswith((*MARKS, ZIPPED, *PACKED)):
            find_encoding(data, _called(name))
        total += len(data)
        if total > most:
            raise InputError(
                f"{_called(name)} must end after {most:,} bytes, for it is copied to "
                f"{copy.parent}; it goes on: write it to a file, and name that"
            )
        out.write(data)


@contextmanager
def only_our_errors(name: str) -> Iterator[None]:
    """Turn any error in reading a file into one of ours, with the file's name."""
    refuse_lost_threads()
    try:
        yield
    except (SubAdjacentError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise DataNotFound(f"{name} is not there; check the path") from error
    except PermissionError as error:
        raise InputError(f"{name} must be readable; permission is denied") from error
    except (EOFError, OSError) as error:
        raise InputError(
            f"{name} cannot be read to its end; {_first_line(error)}: get it again"
        ) from error
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"{name} must name every column once; {_first_line(error)}: rename the others"
        ) from error
    except (Exception, pl.exceptions.PanicException) as error:
        raise InputError(
            f"{name} is damaged or written in a way that is not known; "
            f"{_first_line(error)}: make it again, or export it as CSV"
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
