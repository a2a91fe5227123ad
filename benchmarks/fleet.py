"""One model an entity for many entities: seconds, memory, and how two workers compare with one.

    python benchmarks/fleet.py                               # 100,000 entities; ten minutes or so
    python benchmarks/fleet.py --entities 2000 --scaling 2000

Rows are cycles with noise, one entity in fifty with something wrong. The whole command is timed,
from the start of Python to the tables on disk. For the scaling, the same command is bound to one
core, then to two.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

ROWS, CHANNELS, CYCLE = 200, 3, 24
AT_ONCE = 5_000
"""Entities whose rows are made at a time."""


class Timed(NamedTuple):
    """What a run took."""

    seconds: float
    cpu_seconds: float
    most_megabytes: float
    counts: dict[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--scaling", type=int, default=20_000, help="entities for 1 → 2; 0: none")
    parser.add_argument("--train-fraction", type=float, default=0.5)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("-o", "--output", type=Path, help="report to write, in Markdown")
    options = parser.parse_args()
    lines = [f"# Fleet, {datetime.now(UTC):%Y-%m-%d}", ""]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        make(scratch / "fleet.parquet", options.entities)
        cores = sorted(os.sched_getaffinity(0))
        extra = ["--train-fraction", str(options.train_fraction), "--engine", options.engine]
        found = run(scratch / "fleet.parquet", scratch / "out", extra, cores)
        of = f"{options.entities:,} entities of {ROWS} rows and {CHANNELS} channels"
        fitted = f"fitted on the first {options.train_fraction:.0%} of their rows"
        each = 1e3 * found.cpu_seconds / options.entities
        lines += [
            f"{of}, {fitted}, on {len(cores)} cores, engine {options.engine}:",
            "",
            f"- {found.seconds:.0f} s in all, {each:.1f} ms of a core an entity",
            f"- {found.most_megabytes:.0f} MB at most, all processes together",
            f"- {json.dumps(found.counts)}",
        ]
        if options.scaling:
            make(scratch / "some.parquet", options.scaling)
            one = run(scratch / "some.parquet", scratch / "one", extra, cores[:1])
            two = run(scratch / "some.parquet", scratch / "two", extra, cores[:2])
            efficiency = one.seconds / (2 * two.seconds)
            took = f"on one core: {one.seconds:.1f} s; on two: {two.seconds:.1f} s"
            lines += ["", f"{options.scaling:,} entities {took}; efficiency {efficiency:.2f}."]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.output:
        options.output.write_text(text)


def make(path: Path, entities: int) -> None:
    """A Parquet file of so many entities, made and written some at a time."""
    random = np.random.default_rng(0)
    row = np.arange(ROWS)
    times = [datetime(2026, 1, 1) + timedelta(hours=int(hour)) for hour in row]
    parts = path.with_suffix("")
    parts.mkdir()
    for start in range(0, entities, AT_ONCE):
        count = min(AT_ONCE, entities - start)
        phase = random.uniform(0, 2 * np.pi, (count, 1, CHANNELS))
        values = np.sin(2 * np.pi * row[:, None] / CYCLE + phase)
        values += 0.1 * random.standard_normal(values.shape)
        values[::50, 150:156, 0] += 3
        frame = pl.DataFrame(
            {
                "item_id": np.repeat([f"entity-{start + n:06d}" for n in range(count)], ROWS),
                "time": times * count,
                **{f"channel_{n}": values[..., n].ravel() for n in range(CHANNELS)},
            }
        )
        frame.write_parquet(parts / f"{start:09d}.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(path)


def run(path: Path, output: Path, extra: list[str], cores: list[int]) -> Timed:
    """The command, bound to some cores."""
    command = [Path(sys.executable).with_name("subadjacent"), "fleet", path, "-o", output, "-q"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(
        [*map(str, command), *extra],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    most = [0.0]
    over = threading.Event()
    watcher = threading.Thread(target=watch_memory, args=(process.pid, most, over))
    watcher.start()
    said, _ = process.communicate()
    over.set()
    watcher.join()
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, said
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(seconds, cpu, most[0], json.loads(said))


def watch_memory(root: int, most: list[float], over: threading.Event) -> None:
    """Note the most memory that a process and its children have together, in megabytes."""
    while not over.wait(0.5):
        most[0] = max(most[0], sum(map(proportional_megabytes, [root, *children(root)])))


def children(root: int) -> list[int]:
    """Processes that a process started, and those that they started."""
    try:
        own = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    except OSError:
        return []
    return [pid for child in map(int, own) for pid in (child, *children(child))]


def proportional_megabytes(pid: int) -> float:
    """Memory of a process; what it shares with others counts in part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
