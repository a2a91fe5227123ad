"""What Ray costs: starting a cluster, a task, and how work grows with workers.

    python benchmarks/cluster.py --write benchmarks/reports/cluster_2026-11-16.md

Everything on this machine. Efficiency is the time of the same fits with one worker, over the time
with several, times how many they are: 1 means that nothing is lost.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from live_data import markdown

from subadjacent import SubAdjacentDetector, __version__
from subadjacent.runtime import cores
from subadjacent.workflow.cluster import connected, over_cluster


def nothing(item: Any) -> Any:
    return item


def fit(seed: int) -> float:
    """Fit the default to a short series, and give its threshold."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(400, 3))
    return float(SubAdjacentDetector().fit(rows).threshold_)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def of_a_task(tasks: int) -> float:
    """Seconds that a task which does nothing takes, of many handed out one by one."""
    import ray

    task: Any = ray.remote(nothing)
    ray.get([task.remote(0) for _ in range(100)])  # processes are started
    return seconds(lambda: ray.get([task.remote(0) for _ in range(tasks)])) / tasks


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=5_000)
    parser.add_argument("--fits", type=int, default=600)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    fits = range(options.fits)
    took: dict[int, float] = {}
    found: dict[int, list[float]] = {}
    alone = seconds(lambda: [fit(seed) for seed in fits])
    for workers in sorted({1, options.workers}):
        started = time.perf_counter()
        with connected(workers):
            start = time.perf_counter() - started
            list(over_cluster(fit, range(workers)))  # everything is imported
            took[workers] = seconds(lambda: found.update({workers: list(over_cluster(fit, fits))}))  # noqa: B023
            if workers == options.workers:
                one = of_a_task(options.tasks)
    if len({tuple(each) for each in found.values()}) != 1:
        raise SystemExit("the fits differ with the number of workers")
    ratio = took[1] / took[options.workers] / options.workers
    lines = [
        ["what", "measured"],
        [f"to start a cluster of {options.workers} workers", f"{start:.1f} s"],
        ["a task that does nothing", f"{1e3 * one:.2f} ms"],
        [f"{options.fits} fits without Ray, one by one", f"{alone:.1f} s"],
        *(
            [f"the same with {number} of Ray's workers", f"{spent:.1f} s"]
            for number, spent in took.items()
        ),
        [f"efficiency, 1 to {options.workers} workers", f"{ratio:.2f}"],
        ["lost to Ray with 1 worker", f"{100 * (took[1] / alone - 1):.0f} %"],
    ]
    import ray

    text = (
        f"# What Ray costs, on {cores()} cores\n\n"
        f"Made by `python benchmarks/cluster.py --write`, with subadjacent {__version__}, "
        f"Ray {ray.__version__}.\n\n{markdown(lines)}\n"
    )
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
