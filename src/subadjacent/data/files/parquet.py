"""Parquet files → frames, some rows at a time, decoded in a process of their own.

polars aborts the whole process on some damaged files, and writes on standard error before it
raises on others. A damaged file may therefore end the process that decodes it, and nothing else.
Rows come over a pipe, once, a block at a time, so neither process ever holds more than a block.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from subadjacent.data.files.blocks import Block
from subadjacent.errors import InputError, SubAdjacentError

if TYPE_CHECKING:
    import polars as pl

MAGIC = b"PAR1"
READY = b"ready\n"
COMMAND = (
    sys.executable,
    "-P",
    "-c",
    "from subadjacent.data.files.parquet import answer_requests; answer_requests()",
)


class Parquet:
    """One Parquet file; ``name`` is what messages call it.

    A file that is cut, or is something else, is told by its first and last bytes; damage in
    between by the process that decodes it.
    """

    decimal_comma = False
    has_header = True

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.notes: tuple[str, ...] = ()
        self.unnamed: set[str] = set()
        with path.open("rb") as file:
            begins = file.read(len(MAGIC)) == MAGIC
            size = file.seek(0, 2)
            file.seek(max(size - len(MAGIC), 0))
            ends = file.read() == MAGIC
        if not size:
            raise InputError(f"{name} must be a Parquet file; it is empty")
        if not begins or not ends or size < 12:
            fault = "it is cut off: get it whole" if begins else "it is something else"
            raise InputError(f"{name} must be a whole Parquet file; {fault}, or export it as CSV")
        schema, self.length = DECODER.schema(path, name)
        self.schema = dict(schema)
        self.columns = tuple(self.schema)

    def sample(self, rows: int) -> Block:
        """The first rows; refuses a file that has none."""
        flat = tuple(name for name, dtype in self.schema.items() if not dtype.is_nested())
        for block in self.blocks(rows, flat):
            return block
        raise InputError(f"{self.name} must have rows of data; it has columns and nothing else")

    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        """All rows in order, at most ``rows`` at a time."""
        for start in range(0, self.length, rows):
            frame = DECODER.rows(self.path, self.name, columns, start, rows)
            numbers = range(start + 1, start + frame.height + 1)
            yield Block(frame, self.name, numbers, "row")


class Decoder:
    """Requests rows from the decoding process.

    The process is started by the first request, and again by the next one after it has ended.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def schema(self, path: Path, name: str) -> tuple[pl.Schema, int]:
        """Columns and their types, and how many rows there are."""
        facts, frame = self._request(path, name, columns=None)
        return frame.schema, facts["length"]

    def rows(
        self, path: Path, name: str, columns: tuple[str, ...], start: int, rows: int
    ) -> pl.DataFrame:
        """At most ``rows`` rows of some columns, from row ``start`` on."""
        return self._request(path, name, columns=columns, start=start, rows=rows)[1]

    def _request(self, path: Path, name: str, **wanted: Any) -> tuple[dict[str, Any], pl.DataFrame]:
        import polars as pl

        request = json.dumps({"path": str(path.absolute()), **wanted}).encode()
        with self._lock:
            facts, arrow = self._exchange(request)
        if facts is None:
            raise InputError(
                f"{name} is damaged: it cannot be decoded; get it again, or export it as CSV"
            )
        if facts.get("kind") == "DuplicateError":
            raise InputError(
                f"{name} must name every column once; {facts['error'][:200]}: rename the others"
            )
        if "error" in facts:
            raise InputError(
                f"{name} is damaged or written in a way that is not known; "
                f"{facts['error'][:200]}: make it again, or export it as CSV"
            )
        return facts, pl.read_ipc(arrow)

    def _exchange(self, request: bytes) -> tuple[dict[str, Any] | None, bytes]:
        """The answer to a request: facts and rows; no facts where the process ended over it."""
        if self._process is None:
            self._process = _start()
            weakref.finalize(self, _stop_own, self._process, os.getpid())
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(request + b"\n")
            stdin.flush()
            facts = json.loads(stdout.readline() or b"null")
            arrow = stdout.read(facts["bytes"]) if facts else b""
            if facts and len(arrow) == facts["bytes"]:
                return facts, arrow
        except BrokenPipeError:
            pass
        except BaseException:
            # half an answer may be under way, which must not be taken for the next one
            self._end()
            raise
        self._end()
        return None, b""

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _stop(process)


def _start() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        COMMAND,
        # it must find the same packages, however this process came to find them
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # what a panic says there is meant for those who write polars
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    if process.stdout.readline() != READY:
        _stop(process)
        raise SubAdjacentError(
            f"the process that decodes Parquet files does not start ({' '.join(COMMAND)}); "
            f"export them as CSV"
        )
    return process


def _stop_own(process: subprocess.Popen[bytes], owner: int) -> None:
    """Stop it, unless this is a fork of the process that started it and goes on using it."""
    if os.getpid() == owner:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        # what it was never given to read cannot be given to it any more
        with suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()


DECODER = Decoder()
"""The decoder that all files share: starting one costs more than reading a small file."""


def answer_requests() -> None:
    """The main loop of the decoding process: answer requests until standard input is closed.

    It says that it is ready. Then each line of standard input is a request, and each answer a
    line of JSON on standard output, followed by as many bytes of Arrow as that line says.
    Standard input closes when the process that asks has ended, for whatever reason.
    """
    # Ctrl-C reaches every process of a terminal; the one that asks decides what it means
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        facts, arrow = _answer(json.loads(line))
        sys.stdout.buffer.write(json.dumps(facts | {"bytes": len(arrow)}).encode() + b"\n")
        sys.stdout.buffer.write(arrow)
        sys.stdout.buffer.flush()


def _answer(request: dict[str, Any]) -> tuple[dict[str, Any], memoryview]:
    """Some rows of some columns; without columns, the schema and the number of rows."""
    import polars as pl

    facts: dict[str, Any] = {}
    try:
        lazy = pl.scan_parquet(_source(request["path"]), glob=False)
        if request["columns"] is None:
            frame = lazy.collect_schema().to_frame()
            facts["length"] = int(lazy.select(pl.len()).collect().item())
        else:
            wanted = lazy.select(request["columns"])
            frame = wanted.slice(request["start"], request["rows"]).collect()
        arrow = io.BytesIO()
        frame.write_ipc(arrow)
    # polars' panics are no children of Exception
    except (Exception, pl.exceptions.PanicException) as error:
        message = (str(error).splitlines() or [""])[0] or type(error).__name__
        return {"error": message, "kind": type(error).__name__}, memoryview(b"")
    return facts, arrow.getbuffer()


def _source(path: str) -> str | IO[bytes]:
    """The path, or the open file where its name is not UTF-8, which polars does not take."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return Path(path).open("rb")
    return path
