"""Scoring a lake: one machine without Ray, then clusters of one worker and more on this machine.

    python benchmarks/lake.py --files 8 --entities 16 --rows 20_000 --workers 1 2

Every file holds some rows of every entity, and every entity is a part, so that all files are cut.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from subadjacent import SubAdjacentDetector, load
from subadjacent.data.files import Columns, open_files
from subadjacent.runtime import Progress
from subadjacent.workflow.cluster import as_ready, connected, over_cluster
from subadjacent.workflow.lake import score_lake
from subadjacent.workflow.score import score

COLUMNS = Columns(time="time", entity="machine")
LEARNED = 2_000
TASKS = 1_000
"""Tasks that do nothing, to see what one costs."""


def rows_of(machine: int, start: int, rows: int, channels: int) -> pl.DataFrame:
    """Noise, a row a second."""
    rng = np.random.default_rng([machine, start])
    seconds = np.arange(start, start + rows).astype("datetime64[s]").astype("datetime64[us]")
    values = {f"c{one}": rng.standard_normal(rows) for one in range(channels)}
    return pl.DataFrame({"time": seconds, **values}).with_columns(
        pl.lit(f"machine {machine}").alias("machine")
    )


def write(folder: Path, files: int, entities: int, rows: int, channels: int) -> str:
    """A lake; the pattern that matches it."""
    for number in range(files):
        parts = [rows_of(one, LEARNED + number * rows, rows, channels) for one in range(entities)]
        pl.concat(parts).sort("time", maintain_order=True).write_parquet(
            folder / f"{number:04}.parquet"
        )
    return f"{folder}/*.parquet"


def learn(folder: Path, entities: int, channels: int) -> None:
    """A model of all machines."""
    parts = [rows_of(one, 0, LEARNED, channels) for one in range(entities)]
    frame = pl.concat(parts).rename({"time": "timestamp", "machine": "item_id"})
    SubAdjacentDetector().fit(frame).save(folder)


@contextmanager
def timed(what: str, rows: int) -> Iterator[None]:
    """Say how long it took, and how many rows that is in a second."""
    started = time.perf_counter()
    yield
    seconds = time.perf_counter() - started
    print(f"{what:<24} {seconds:>8.1f} {rows / seconds:>12,.0f}", flush=True)


def stages(progress: Progress, seen: dict[str, float]) -> None:
    """Note when a stage was last heard of."""
    seen[progress.stage] = time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--entities", type=int, default=16)
    parser.add_argument("--rows", type=int, default=20_000, help="of an entity in a file")
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    files, entities, rows = arguments.files, arguments.entities, arguments.rows
    total = files * entities * rows
    print(f"{total:,} rows of {entities} entities in {files} files, {arguments.channels} channels")
    print(f"{'':<24} {'seconds':>8} {'rows/s':>12}")
    with tempfile.TemporaryDirectory() as folder:
        lake, model = Path(folder, "lake"), Path(folder, "model")
        lake.mkdir()
        pattern = write(lake, files, entities, rows, arguments.channels)
        learn(model, entities, arguments.channels)
        detector = load(model)
        with timed("one machine, no Ray", total):
            score(detector, open_files([pattern], COLUMNS))
        for workers in arguments.workers:
            seen = {"begin": time.perf_counter()}
            with connected(workers):
                seen["start"] = time.perf_counter()
                with timed(f"workers: {workers}", total):
                    score_lake(
                        model,
                        open_files([pattern], COLUMNS),
                        Path(folder, f"scores-{workers}"),
                        part_rows=total // entities,
                        spread=over_cluster,
                        watch=lambda progress, seen=seen: stages(progress, seen),
                    )
                _say_stages(seen)
                _say_tasks()


def _say_stages(seen: dict[str, float]) -> None:
    times = list(seen.items())
    spent = [f"{name} {end - before:.1f} s" for (_, before), (name, end) in pairwise(times)]
    print(f"  {', '.join(spent)}")


def _say_tasks() -> None:
    started = time.perf_counter()
    assert len(list(as_ready(abs, range(TASKS)))) == TASKS
    print(f"  a task: {1e3 * (time.perf_counter() - started) / TASKS:.2f} ms")


if __name__ == "__main__":
    main()
