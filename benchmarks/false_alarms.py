"""How many false alarms come where a share of rows, or some in a time, were asked for.

    python benchmarks/false_alarms.py --output benchmarks/reports/false_alarms.csv

Normal processes of several sizes: the default is fitted on n rows and judges the n that follow.
Of a share and of "auto" the table says how many rows in a hundred are alarms, of a budget how many
alarms there are; means over seeds, with the most that any seed has.
"""

from __future__ import annotations

import argparse
import csv
import logging
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from reproduce.cases.normal import NORMAL, normal_rows
from subadjacent import SubAdjacentDetector
from subadjacent.scoring.threshold import AlarmBudget

SIZES = ((300, 100), (300, 500), (500, 50), (1_000, 5), (1_000, 55), (3_000, 20), (10_000, 20))
SHARE, AUTO, BUDGET = "1 %", "auto", "1 in n rows"


class Judged(NamedTuple):
    """Rows of one series that are alarms under each promise, in percent; for a budget, alarms."""

    share: float
    auto: float
    budget: float


def judged(process: str, n: int, channels: int, seed: int) -> Judged:
    """Fit on the first half of a series, and judge the second."""
    rows = normal_rows(process, 2 * n, channels, seed)

    def fitted(contamination: Any) -> SubAdjacentDetector:
        return SubAdjacentDetector(contamination=contamination).fit(rows[:n])

    shares = [100 * float(np.mean(fitted(asked).predict(rows[n:]))) for asked in (0.01, "auto")]
    # a row a second: one alarm in as much time as was fitted on
    budget = AlarmBudget(1, float(n), 1.0)
    return Judged(*shares, len(fitted(budget).alarms(rows[n:])))


def quietly(process: str, n: int, channels: int, seed: int) -> Judged:
    """The same without a warning for each fit of few rows."""
    logging.disable(logging.WARNING)
    try:
        return judged(process, n, channels, seed)
    finally:
        logging.disable(logging.NOTSET)


def table(
    processes: Sequence[str], sizes: Sequence[tuple[int, int]], seeds: int, jobs: int
) -> Iterator[dict[str, Any]]:
    """One row a process, size and promise."""
    cells = list(product(processes, sizes))
    found = Parallel(n_jobs=jobs)(
        delayed(quietly)(process, *size, seed) for process, size in cells for seed in range(seeds)
    )
    for number, (process, (n, channels)) in enumerate(cells):
        of_cell = np.array(found[number * seeds : (number + 1) * seeds])
        for promise, values in zip((SHARE, AUTO, BUDGET), of_cell.T, strict=True):
            yield {
                "process": process,
                "rows": n,
                "channels": channels,
                "promise": promise,
                "mean": round(float(values.mean()), 3),
                "most": round(float(values.max()), 3),
                "seeds": seeds,
            }


def size(text: str) -> tuple[int, int]:
    """Rows and channels."""
    n, channels = text.split("x")
    return int(n), int(channels)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--processes", nargs="+", choices=list(NORMAL), default=list(NORMAL))
    parser.add_argument("--sizes", nargs="+", type=size, default=SIZES, help="such as 300x100")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = list(table(options.processes, options.sizes, options.seeds, options.jobs))
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
