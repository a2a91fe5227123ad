"""What a large cluster makes of its machines: a simulation of dispatch, stragglers and failures.

    python benchmarks/stragglers.py --rows 20_000_000_000 --rate 90_000 --workers 2 1_000 16_000

One process hands out tasks, one after the other, to workers that are free. A task lasts as long as
its rows take at the rate that was measured for one worker, spread a little; some last several
times as long, since their machine is slow; and one whose machine dies is done again from its start.
Efficiency is the work itself, divided by workers times the seconds until the last task has ended.
"""

from __future__ import annotations

import argparse
import heapq
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

TASK_SECONDS = (2.0, 20.0, 60.0)
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """Workers and their troubles.

    Parameters
    ----------
    workers
        Tasks that can be under way at a time.
    dispatch
        Seconds that the one process that hands out tasks needs for each.
    spread
        Standard deviation of the logarithm of a task's duration.
    stragglers, slowdown
        Share of tasks on a slow machine, and how many times as long they last there.
    days_between_failures
        Of one machine, on average.
    """

    workers: int
    dispatch: float = 0.001
    spread: float = 0.1
    stragglers: float = 0.01
    slowdown: float = 5.0
    days_between_failures: float = 30.0


class Outcome(NamedTuple):
    """Seconds until all is done, efficiency, and tasks that were lost and done again."""

    seconds: float
    efficiency: float
    lost: int


def simulate(tasks: int, seconds: float, cluster: Cluster, rng: np.random.Generator) -> Outcome:
    """Let a cluster do tasks that take so many seconds each where nothing goes wrong."""
    waiting = deque([0.0] * tasks)  # when each can be handed out
    free = [0.0] * min(cluster.workers, tasks)
    handed_out = end = 0.0
    lost = 0
    while waiting:
        ready = waiting.popleft()
        # tasks are handed out ahead of time: only a dispatcher that cannot keep up is waited for
        handed_out += cluster.dispatch
        start = max(heapq.heappop(free), ready, handed_out)
        duration = seconds * rng.lognormal(sigma=cluster.spread)
        if rng.random() < cluster.stragglers:
            duration *= cluster.slowdown
        death = rng.exponential(cluster.days_between_failures * DAY)
        if death < duration:
            lost += 1
            duration = death
            waiting.append(start + death)
        heapq.heappush(free, start + duration)
        end = max(end, start + duration)
    return Outcome(end, tasks * seconds / (cluster.workers * end), lost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000_000)
    parser.add_argument("--rate", type=float, default=90_000, help="rows a second of one worker")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 100, 1_000, 16_000])
    parser.add_argument("--dispatch", type=float, default=0.001, help="seconds a task")
    parser.add_argument("--days-between-failures", type=float, default=30.0, help="of a machine")
    arguments = parser.parse_args()
    work = arguments.rows / arguments.rate
    print(f"{arguments.rows:,} rows are {work:,.0f} seconds of one worker")
    print(
        f"{'workers':>8} {'a task':>8} {'tasks':>9} {'seconds':>12} {'efficiency':>11} {'lost':>6}"
    )
    for workers in arguments.workers:
        for seconds in TASK_SECONDS:
            tasks = max(round(work / seconds), 1)
            cluster = Cluster(
                workers,
                arguments.dispatch,
                days_between_failures=arguments.days_between_failures,
            )
            found = simulate(tasks, seconds, cluster, np.random.default_rng(0))
            print(
                f"{workers:>8,} {seconds:>6.0f} s {tasks:>9,} {found.seconds:>12,.0f} "
                f"{found.efficiency:>10.0%} {found.lost:>6,}"
            )


if __name__ == "__main__":
    main()
