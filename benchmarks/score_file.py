"""Peak memory and time of `subadjacent score` on Parquet files that are never loaded whole.

    python benchmarks/score_file.py --rows 100_000 1_000_000 10_000_000 --channels 40

A model is fitted once, on 20,000 rows at most; then files of more and more rows are scored with
it. In bounded memory, the peak stays where it is from some number of rows on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHUNK = 100_000
LEARNED = 20_000
COMMAND = Path(sys.executable).with_name("subadjacent")


def write(path: Path, rows: int, channels: int) -> None:
    """Noise with a row a second, a chunk at a time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = [f"sensor_{number}" for number in range(channels)]
    writer = None
    for start in range(0, rows, CHUNK):
        count = min(CHUNK, rows - start)
        seconds = np.arange(start, start + count).astype("datetime64[s]").astype("datetime64[ms]")
        columns = {"time": pa.array(seconds)}
        for name in names:
            columns[name] = pa.array(rng.standard_normal(count, np.float32))
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def learn(path: Path, model: Path) -> None:
    """A model of the file's first rows."""
    import pyarrow.parquet as pq

    from subadjacent import SubAdjacentDetector

    first = pq.ParquetFile(path).read_row_group(0).to_pandas()[:LEARNED].set_index("time")
    SubAdjacentDetector().fit(first).save(model)


def run(*command: str | Path) -> tuple[float, float]:
    """Seconds, and the peak of memory in MiB, of a command by itself."""
    started = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return time.perf_counter() - started, usage.ru_maxrss / unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--channels", type=int, default=40)
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.prepare:
        # in a process of its own: a process that is started begins with its parent's peak
        write(arguments.prepare, arguments.rows[0], arguments.channels)
        model = arguments.prepare.with_name("model")
        if not model.exists():
            learn(arguments.prepare, model)
        return
    idle = run(sys.executable, "-c", "from subadjacent import SubAdjacentDetector")[1]
    print(f"{arguments.channels} channels; libraries: {idle:.0f} MiB")
    print(f"{'rows':>12} {'seconds':>8} {'peak MiB':>9} {'rows alone, MiB':>16}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for rows in arguments.rows:
            file = Path(folder) / "rows.parquet"
            run(
                sys.executable, __file__, "--prepare", file, "--rows", str(rows),
                "--channels", str(arguments.channels),
            )  # fmt: skip
            scores = Path(folder) / "scores.parquet"
            seconds, peak = run(COMMAND, "score", file.with_name("model"), file, "-o", scores, "-q")
            alone = rows * arguments.channels * 4 / 2**20
            print(f"{rows:>12,} {seconds:>8.1f} {peak:>9.0f} {alone:>16.0f}", flush=True)
            scores.unlink()


if __name__ == "__main__":
    main()
