"""A process of its own that decodes Parquet files: a damaged one may end it, and nothing else.

Run as a module, and imported by nothing that runs beside it. It says that it is ready. Then each
line of standard input is a request, and each answer a line of JSON on standard output and as many
bytes of Arrow as that says. Standard input closes when whoever asks is gone, however that came
about.
"""

from __future__ import annotations

import io
import json
import signal
import sys
from typing import Any

import polars as pl


def answer(request: dict[str, Any]) -> tuple[dict[str, Any], memoryview]:
    """Some rows of some columns; without columns, the schema and the number of rows."""
    facts: dict[str, Any] = {}
    try:
        lazy = pl.scan_parquet(request["path"], glob=False)
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
        told = (str(error).splitlines() or [""])[0] or type(error).__name__
        return {"error": told, "kind": type(error).__name__}, memoryview(b"")
    return facts, arrow.getbuffer()


def main() -> None:
    """Answer until there is nobody to ask."""
    # Ctrl-C reaches every process of a terminal; the one that asks decides what it means
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin.buffer:
        facts, arrow = answer(json.loads(line))
        sys.stdout.buffer.write(json.dumps(facts | {"bytes": len(arrow)}).encode() + b"\n")
        sys.stdout.buffer.write(arrow)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
