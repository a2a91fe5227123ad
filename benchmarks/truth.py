"""How many alarms say something false, by the rows that they speak of.

    python benchmarks/truth.py --quick --jobs 2
    python benchmarks/truth.py --most 200 --jobs 2 --out benchmarks/reports/truth.csv

Alarms of the examples, the demo, the gallery, the tutorials, generated plants and streams are held
against their rows by the checker of the tests (tests/truth), which knows nothing of the detector.
Prints how many alarms were rejected, by rule and by source, and the first ones of each rule. With
``--only RULE`` it prints all of a rule; with ``--causes`` the sentences on single channels, which a
page shows, are checked too.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: the jobs share the cores

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.truth.alarms import SOURCES, told
from tests.truth.checker import RULES, false_causes, false_statements

EXAMPLES = 2


class Checked(NamedTuple):
    """One alarm, and the rules that it breaks."""

    source: str
    case: str
    first: int
    last: int
    severity: float
    kind: str
    rules: str
    why: str
    sentence: str


def checked(source: str, number: int, causes: bool) -> list[Checked]:
    """Hold the alarms of one job against their rows, and perhaps each of their causes."""
    results = []
    for one in told(source, number):
        found = false_statements(one.rows, one.alarm)
        found += false_causes(one.rows, one.alarm) if causes else []
        results.append(
            Checked(
                one.source,
                one.case,
                one.alarm.first,
                one.alarm.last,
                round(float(one.alarm.severity), 2),
                one.alarm.kind,
                "; ".join(dict.fromkeys(false.rule for false in found)),
                "; ".join(f"{false.rule}: {false.why}" for false in found),
                one.alarm.sentence,
            )
        )
    return results


def summary(results: Sequence[Checked], examples: int = EXAMPLES) -> str:
    """Rejected alarms by source and by rule, and examples."""
    lines = ["| source | alarms | rejected |", "|---|--:|--:|"]
    for source in dict.fromkeys(one.source for one in results):
        group = [one for one in results if one.source == source]
        lines.append(f"| {source} | {len(group)} | {sum(bool(one.rules) for one in group)} |")
    rejected = [one for one in results if one.rules]
    lines += [f"| all | {len(results)} | {len(rejected)} |", "", "| rule | alarms |", "|---|--:|"]
    counts = Counter(rule for one in rejected for rule in one.rules.split("; "))
    lines += [f"| {rule} | {count} |" for rule, count in counts.most_common()]
    for rule, _ in counts.most_common():
        lines += ["", f"{rule}:"]
        broken = [one for one in rejected if rule in one.rules.split("; ")]
        # the most severe are read first
        for one in sorted(broken, key=lambda one: -one.severity)[:examples]:
            lines.append(f"  {one.source} {one.case}, rows {one.first}-{one.last}: {one.sentence}")
            lines.append(f"      {one.why}")
    return "\n".join(lines)


def main() -> None:
    """Check alarms, print what was rejected, and write a row for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few of each source, in a minute")
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--only", choices=RULES, help="print all alarms that break this rule")
    parser.add_argument("--causes", action="store_true", help="sentences on single channels too")
    parser.add_argument("--most", type=int, help="jobs of each source at most")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="CSV file with a row for each alarm")
    options = parser.parse_args()
    started = time.monotonic()
    jobs = [
        (name, number, options.causes)
        for name in options.sources
        for number in range(SOURCES[name].quick if options.quick else SOURCES[name].long)
        if options.most is None or number < options.most
    ]
    results: list[Checked] = []
    # a fresh process each: a fork of one with threads may hang
    with (
        ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool,
        Path(options.out or os.devnull).open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Checked._fields)
        # what is known when it is stopped is kept
        for found in pool.map(checked, *zip(*jobs, strict=True)):
            writer.writerows(found)
            file.flush()
            results += found
    if options.only is not None:
        results = [one for one in results if options.only in one.rules.split("; ")]
    print(summary(results, EXAMPLES if options.only is None else len(results)))
    print(f"\n{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
