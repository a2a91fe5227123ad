"""Asks the decoder's process for rows of Parquet files, and outlives its end.

polars aborts the whole process on some damaged files, and writes on standard error before it
raises on others. What it decodes for us it therefore decodes elsewhere: rows come over a pipe,
once, a block at a time, so neither process ever holds more than a block.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subadjacent.errors import InputError, SubadjacentError

if TYPE_CHECKING:
    import polars as pl

COMMAND = (sys.executable, "-P", "-m", "subadjacent.data.files.decoder")
READY = b"ready\n"


class Decoder:
    """One process, started when it is first asked and again whenever it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def schema(self, path: Path, name: str) -> tuple[pl.Schema, int]:
        """Columns and their types, and how many rows there are."""
        facts, frame = self._ask(path, name, columns=None)
        return frame.schema, facts["length"]

    def rows(
        self, path: Path, name: str, columns: tuple[str, ...], start: int, rows: int
    ) -> pl.DataFrame:
        """At most ``rows`` rows of some columns, from row ``start`` on."""
        return self._ask(path, name, columns=columns, start=start, rows=rows)[1]

    def _ask(self, path: Path, name: str, **wanted: Any) -> tuple[dict[str, Any], pl.DataFrame]:
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
        """Facts and rows; no facts where the process ended over it."""
        # a fork has the pipes of the process that it came from, which goes on using them
        if self._process is None or self._owner != os.getpid():
            self._process, self._owner = _start(), os.getpid()
            weakref.finalize(self, _stop, self._process)
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
        raise SubadjacentError(
            f"the process that decodes Parquet files does not start ({' '.join(COMMAND)}); "
            f"export them as CSV"
        )
    return process


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        # what it was never given to read cannot be given to it any more
        with suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()


DECODER = Decoder()
"""The one that all files share: starting it costs more than a small file."""
