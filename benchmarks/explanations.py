"""Whether alarms name the right channel first, and the right kind of departure.

    python benchmarks/explanations.py --seeds 100-139 --jobs 2 \
        --out benchmarks/reports/explanations.csv

Generated plants of 20 channels with one departure each, of every kind. The default is fitted on
normal rows; of its alarms, the one that shares most rows with the departure is judged by its first
cause. Seeds below 100 are to develop with; those from 100 on are kept back for the tables in the
docs. Prints how often
a departure was found, how often the first channel and the kind were right where it was found, and
what each kind was called.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: the jobs share the cores

import argparse
import csv
import logging
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproduce.cases.departures import KINDS, DepartureCase, departure_case
from subadjacent import SubAdjacentDetector
from subadjacent.decision import kinds

NOT_FOUND = "not found"


class Judged(NamedTuple):
    """One departure, and what was said of it; empty where nothing was."""

    kind: str
    seed: int
    channel: int
    reached: int  # other channels, later
    found: int
    named_channel: str
    right_channel: int
    named_kind: str
    right_kind: int
    severity: float
    other_alarms: int


def judged(kind: str, seed: int) -> Judged:
    """Draw a plant, fit on its normal rows, and look at the alarms of those to judge."""
    logging.disable(logging.WARNING)
    # each kind has plants of its own
    case = departure_case(kind, np.random.default_rng([seed, KINDS.index(kind)]))
    alarms = SubAdjacentDetector().fit(case.train).alarms(case.test)
    return compared(case, seed, alarms)


def compared(case: DepartureCase, seed: int, alarms: Sequence[Any]) -> Judged:
    """What the alarm says that shares most rows with the departure."""
    best = max(alarms, key=lambda alarm: (shared(case, alarm), alarm.severity), default=None)
    reached = 0 if case.kind == kinds.DECOUPLED else len(case.others)
    if best is None or not shared(case, best):
        return Judged(case.kind, seed, case.channel, reached, 0, "", 0, "", 0, 0.0, len(alarms))
    channel, kind = best.causes[0].channel, best.causes[0].kind
    return Judged(
        case.kind,
        seed,
        case.channel,
        reached,
        1,
        channel,
        int(channel == f"channel_{case.channel}"),
        kind,
        int(kind == case.kind),
        round(float(best.severity), 2),
        len(alarms) - 1,
    )


def shared(case: DepartureCase, alarm: Any) -> int:
    """Rows of a departure that are rows of an alarm too."""
    first, last = int(alarm.first), int(alarm.last)
    return max(0, min(case.stop, last + 1) - max(case.start, first))


def percent(values: Sequence[int]) -> str:
    return f"{100 * sum(values) / len(values):.0f} %" if values else "none"


def summary(results: Sequence[Judged]) -> str:
    """Shares by kind, and for all."""
    lines = [
        "| planted | departures | found | right first channel | right kind | other alarms |",
        "|---|---|---|---|---|---|",
    ]
    spread = [one for one in results if one.reached]
    groups = [(kind, [one for one in results if one.kind == kind]) for kind in KINDS]
    for title, group in [*groups, ("reaches others later", spread), ("all", list(results))]:
        found = [one for one in group if one.found]
        shares = [
            percent([one.found for one in group]),
            percent([one.right_channel for one in found]),
            percent([one.right_kind for one in found]),
        ]
        others = np.mean([one.other_alarms for one in group]) if group else 0.0
        lines.append(f"| {title} | {len(group)} | {' | '.join(shares)} | {others:.1f} |")
    return "\n".join(lines)


def confusions(results: Sequence[Judged]) -> list[str]:
    """How often a kind (a row of the table) was called what (a column)."""
    called = Counter((one.kind, one.named_kind if one.found else NOT_FOUND) for one in results)
    columns = [*KINDS, kinds.UNUSUAL, NOT_FOUND]
    cells = [[str(called[kind, name] or "") for name in columns] for kind in KINDS]
    return [
        f"| planted ↓ named → | {' | '.join(columns)} |",
        "|---" * (len(columns) + 1) + "|",
        *(f"| {kind} | {' | '.join(row)} |" for kind, row in zip(KINDS, cells, strict=True)),
    ]


def seeds(text: str) -> range:
    """Such as ``0-39``, both included; or one."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    """Write a row for each departure, and print the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seeds, default=seeds("0-39"), help="such as 0-39")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    wanted = list(zip(*product(options.kinds, options.seeds), strict=True))
    # a fresh process each: a fork of one with threads may hang
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        results = list(pool.map(judged, *wanted))
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Judged._fields)
        writer.writerows(results)
    print("\n".join([summary(results), "", *confusions(results)]))


if __name__ == "__main__":
    main()
