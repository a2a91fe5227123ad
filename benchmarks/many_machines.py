"""How a fleet would run on many machines: a simulation of slow and failing ones.

    python benchmarks/many_machines.py --seconds-per-series 0.01 --seconds-per-task 0.001 \
        --output benchmarks/reports/many_machines.csv

What goes in is measured on one worker (`benchmarks/fleet.py`, `benchmarks/cluster.py`). One process
hands tasks out, one after the other. Workers differ in speed, some machines are much slower than
the rest, and machines fail: what their workers had under way is lost, and done again by others.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from live_data import markdown, write_csv

DAY = 86_400.0
ROWS_OF_SERIES = 200
# of a time and three channels, eight each, as they are worked on
BYTES_OF_ROW = 32


@dataclass(frozen=True, slots=True)
class Cluster:
    """Machines, and how they behave; times in seconds."""

    machines: int
    workers_each: int = 16
    # deviation of the logarithm of a worker's speed
    uneven: float = 0.1
    # this share of machines takes so many times as long
    slow_share: float = 0.01
    slow_by: float = 4.0
    # mean time between failures of one machine; until it is missed; until it is back
    between_failures: float = 30 * DAY
    missed_after: float = 30.0
    back_after: float = 300.0

    @property
    def workers(self) -> int:
        """Of all machines."""
        return self.machines * self.workers_each


@dataclass(frozen=True, slots=True)
class Work:
    """Series in packs, and what one worker needs for them, in seconds."""

    series: int
    per_pack: int
    per_series: float
    hand_out: float

    @property
    def packs(self) -> int:
        """The last may be smaller; it is taken for a whole one."""
        return math.ceil(self.series / self.per_pack)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds from the first task to the last result, and packs that had to be done again."""

    seconds: float
    lost: int


def simulate(work: Work, cluster: Cluster, seed: int = 0) -> Outcome:
    """Hand packs out to whoever is idle until all are done."""
    rng = np.random.default_rng(seed)
    takes = (
        work.per_pack * work.per_series * np.exp(cluster.uneven * rng.normal(size=cluster.workers))
    )
    slow = rng.random(cluster.machines) < cluster.slow_share
    takes *= np.repeat(np.where(slow, cluster.slow_by, 1.0), cluster.workers_each)
    fails = rng.exponential(cluster.between_failures, cluster.machines)
    # moments at which a worker is free, and (as worker -1) a pack is found to be lost
    moments: list[tuple[float, int]] = [(0.0, worker) for worker in range(cluster.workers)]
    left, done, lost, handing, last = work.packs, 0, 0, 0.0, 0.0
    idle: list[int] = []
    while done < work.packs:
        now, worker = heapq.heappop(moments)
        if worker < 0:
            left += 1
            if idle:
                heapq.heappush(moments, (now, idle.pop()))
            continue
        if not left:
            idle.append(worker)
            continue
        machine = worker // cluster.workers_each
        handing = max(handing, now) + work.hand_out
        while fails[machine] + cluster.back_after <= handing:
            fails[machine] += cluster.back_after + rng.exponential(cluster.between_failures)
        ends = handing + takes[worker]
        left -= 1
        if fails[machine] < ends:
            lost += 1
            heapq.heappush(moments, (fails[machine] + cluster.missed_after, -1))
            heapq.heappush(moments, (fails[machine] + cluster.back_after, worker))
        else:
            done += 1
            last = max(last, ends)
            heapq.heappush(moments, (ends, worker))
    return Outcome(last, lost)


def cases(
    work: Sequence[Work], clusters: Sequence[Cluster], seeds: int
) -> Iterator[dict[str, Any]]:
    """A row for each kind of work on each cluster: the median over seeds, and the worst."""
    for each, cluster in product(work, clusters):
        found = [simulate(each, cluster, seed) for seed in range(seeds)]
        seconds = [outcome.seconds for outcome in found]
        median = float(np.median(seconds))
        ideal = each.series * each.per_series / cluster.workers
        yield {
            "machines": cluster.machines,
            "workers": cluster.workers,
            "series": each.series,
            "series_a_task": each.per_pack,
            "days_between_failures": cluster.between_failures / DAY,
            "seconds_per_series": each.per_series,
            "seconds_per_task": each.hand_out,
            "seconds": round(median, 1),
            "worst_seconds": round(max(seconds), 1),
            "efficiency": round(ideal / median, 4),
            "tasks_lost": float(np.median([outcome.lost for outcome in found])),
            "hand_out_share": round(each.packs * each.hand_out / median, 4),
            "gigabytes_per_second": round(
                each.series * ROWS_OF_SERIES * BYTES_OF_ROW / 1e9 / median, 2
            ),
        }


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """The table for people."""
    head = ["machines", "a machine fails every", "series a task", "takes", "worst of all runs"]
    lines = [[*head, "of the ideal", "tasks done again", "handing out", "to be read"]]
    lines += [
        [
            f"{row['machines']:,}",
            f"{row['days_between_failures']:g} d",
            f"{row['series_a_task']:,}",
            f"{row['seconds']:,.0f} s",
            f"{row['worst_seconds']:,.0f} s",
            f"{100 * row['efficiency']:.0f} %",
            f"{row['tasks_lost']:,.0f}",
            f"{100 * row['hand_out_share']:.0f} %",
            f"{row['gigabytes_per_second']:.1f} GB/s",
        ]
        for row in rows
    ]
    return markdown(lines)


def main() -> None:
    """Write a row for each case, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds-per-series", type=float, required=True)
    parser.add_argument("--seconds-per-task", type=float, required=True)
    parser.add_argument("--series", type=int, default=100_000_000)
    parser.add_argument("--series-a-task", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--machines", type=int, nargs="+", default=[10, 100, 1_000])
    parser.add_argument("--days-between-failures", type=float, nargs="+", default=[30, 1])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    work = [
        Work(options.series, number, options.seconds_per_series, options.seconds_per_task)
        for number in options.series_a_task
    ]
    clusters = [
        Cluster(machines, between_failures=days * DAY)
        for machines, days in product(options.machines, options.days_between_failures)
    ]
    rows = list(cases(work, clusters, options.seeds))
    rows.sort(key=lambda row: (row["machines"], -row["days_between_failures"]))
    text = summary(rows)
    if options.output:
        write_csv(options.output, rows)
    print(text)


if __name__ == "__main__":
    main()
