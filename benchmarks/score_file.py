"""Peak memory and time of `subadjacent score` on a Parquet file that is never loaded whole.

python benchmarks/score_file.py --rows 10_000_000 --channels 40
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from subadjacent import SubAdjacentDetector

CHUNK = 100_000


def write(path: Path, rows: int, channels: int) -> None:
    """Noise with a row a second, a chunk at a time."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--channels", type=int, default=40)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write(path / "rows.parquet", arguments.rows, arguments.channels)
        first = pq.ParquetFile(path / "rows.parquet").read_row_group(0).to_pandas()
        SubAdjacentDetector(epochs=1).fit(first[:20_000].set_index("time")).save(path / "model")
        whole = arguments.rows * arguments.channels * 4 / 2**30
        started = time.perf_counter()
        command = Path(sys.executable).with_name("subadjacent")
        subprocess.run(
            [command, "score", "rows.parquet", "-m", "model", "-o", "scores.parquet", "-q"],
            cwd=folder,
            check=True,
        )
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        scored = pq.ParquetFile(path / "scores.parquet").metadata.num_rows
    print(
        f"{scored:,} rows x {arguments.channels} channels scored in {seconds:.0f} s; peak "
        f"{peak:.2f} GiB, where the rows alone are {whole:.2f} GiB in memory"
    )


if __name__ == "__main__":
    main()
