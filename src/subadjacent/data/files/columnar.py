"""Parquet and Arrow files → blocks of rows, decoded in a process of their own.

polars aborts the whole process on some damaged files, and writes on standard error before it
raises on others. A damaged file may therefore end the process that decodes it, and nothing else.
"""

from __future__ import annotations

import atexit
import inspect
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import polars as pl

from subadjacent.data.files.blocks import Block, Source
from subadjacent.errors import InputError


class Format(NamedTuple):
    """A binary format that polars scans; files begin and end with its mark."""

    name: str
    mark: bytes
    suffixes: tuple[str, ...]
    scan: str


FORMATS = (
    Format("Parquet", b"PAR1", (".parquet", ".pq"), "scan_parquet"),
    Format("Arrow", b"ARROW1", (".arrow", ".feather", ".ipc"), "scan_ipc"),
)
MARKS = tuple(kind.mark for kind in FORMATS)


class ColumnarFile(Source):
    """One file of a binary format."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self.kind = _formats(path)[0]
        _check_whole(path, name, self.kind)
        schema, self._length = DECODER.request(name, path, self.kind.scan)
        self.schema = dict(schema)
        self.columns = tuple(self.schema)

    @classmethod
    def accepts(cls, path: Path) -> bool:
        """Whether a file is of one of these formats."""
        return bool(_formats(path))

    @property
    def length(self) -> int:
        """The number of rows."""
        return int(self._length)

    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        """All rows in order, at most ``rows`` at a time."""
        for start in range(0, self.length, rows):
            frame = DECODER.request(self.name, self.path, self.kind.scan, columns, start, rows)
            yield Block(frame, self.name, range(start + 1, start + frame.height + 1), "row")


def _formats(path: Path) -> list[Format]:
    """The formats that a file has by its name and by its first bytes, in this order."""
    with path.open("rb") as file:
        begin = file.read(max(map(len, MARKS)))
    by_name = [kind for kind in FORMATS if path.suffix.lower() in kind.suffixes]
    return by_name + [kind for kind in FORMATS if begin.startswith(kind.mark)]


def _check_whole(path: Path, name: str, kind: Format) -> None:
    """Refuse a file that is cut off, or of another format."""
    with path.open("rb") as file:
        begins = file.read(len(kind.mark)) == kind.mark
        size = file.seek(0, 2)
        file.seek(max(size - len(kind.mark), 0))
        ends = file.read() == kind.mark
    if not size:
        raise InputError(f"{name} must be a {kind.name} file; it is empty")
    if not begins or not ends or size < 12:
        fault = "it is cut off: get it whole" if begins else "it is something else"
        raise InputError(f"{name} must be a whole {kind.name} file; {fault}, or export it as CSV")


class Decoder:
    """The process that decodes files; started by the first request and after it has ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def request(self, name: str, path: Path, scan: str, *rows: Any) -> Any:
        """The frame of some columns and ``rows`` (first, count), or else schema and length."""
        with self._lock:
            try:
                failure, result = self._exchange((str(path.absolute()), scan, *rows))
            except BaseException as ended:
                # half an answer may be under way, which must not be read as the next one
                self.stop()
                if not isinstance(ended, (BrokenPipeError, EOFError, pickle.UnpicklingError)):
                    raise
                raise InputError(
                    f"{name} is damaged: it cannot be decoded; get it again, or export it as CSV"
                ) from None
        if failure is not None:
            raise failure(result)
        return result

    def _exchange(self, request: tuple[Any, ...]) -> Any:
        if self.process is None:
            self.process = subprocess.Popen(
                (sys.executable, "-P", "-c", f"import {__name__} as decoder; decoder.answer()"),
                # it must find the same packages, however this process came to find them
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # messages of a panic are meant for those who write polars
                stderr=subprocess.DEVNULL,
                # Ctrl-C reaches every process of a terminal; the one that sends requests decides
                start_new_session=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        pickle.dump(request, self.process.stdin)
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)

    def stop(self) -> None:
        """End the process, if there is one; it ends by itself when this one does."""
        process, self.process = self.process, None
        if process is not None:
            # in a fork of the process that started it, which goes on using it, this sends no signal
            process.kill()
            process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                # a request that was never read cannot be written any more
                with suppress(BrokenPipeError):
                    pipe.close()


DECODER = Decoder()
"""The decoder that all files share: starting one costs more than reading a small file."""
atexit.register(DECODER.stop)


def answer() -> None:
    """Answer pickled requests on standard output, until standard input is closed."""
    with suppress(EOFError):
        while True:
            pickle.dump(_answer(*pickle.load(sys.stdin.buffer)), sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _answer(
    path: str, scan: str, columns: tuple[str, ...] | None = None, start: int = 0, rows: int = 0
) -> tuple[type[pl.exceptions.PolarsError] | None, Any]:
    """The kind of error, if any, and its message or the result."""
    try:
        reader = getattr(pl, scan)
        # older versions have no patterns in names of Arrow files
        options = {"glob": False} if "glob" in inspect.signature(reader).parameters else {}
        lazy = reader(_source(path), **options)
        if columns is None:
            length = int(lazy.select(pl.len()).collect().item())
            return None, (lazy.collect_schema(), length)
        return None, lazy.select(columns).slice(start, rows).collect()
    except pl.exceptions.DuplicateError as error:
        return pl.exceptions.DuplicateError, str(error)
    # polars' panics are no children of Exception
    except (Exception, pl.exceptions.PanicException) as error:
        return pl.exceptions.ComputeError, str(error) or type(error).__name__


def _source(path: str) -> str | IO[bytes]:
    """The path, or the open file where its name is not UTF-8, which polars refuses."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return Path(path).open("rb")
    return path
