"""What the command finds in other draws of the same cases: a file of counts."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from examples.gallery.case import Case
from examples.gallery.run import run_case


class Counted(NamedTuple):
    """What was planted, found and told in one draw of a case."""

    case: str
    seed: int
    planted: int
    found: int
    alarms: int
    false: int


def count(cases: Iterable[Case], seeds: Iterable[int]) -> Iterator[Counted]:
    """Run the command on each case as each seed draws it."""
    seeds = list(seeds)
    for case in cases:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                outcome = run_case(case, Path(folder), seed)
            planted, alarms = len(outcome.drawn.planted), len(outcome.alarms)
            yield Counted(case.name, seed, planted, outcome.found, alarms, outcome.false)


def write_counts(file: Path, counts: Iterable[Counted]) -> None:
    """One line a draw, as they come."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Counted._fields)
        for counted in counts:
            writer.writerow(counted)
            stream.flush()


def read_counts(file: Path) -> list[Counted]:
    """What ``write_counts`` wrote."""
    with file.open(newline="", encoding="utf-8") as stream:
        _, *rows = csv.reader(stream)
    return [Counted(name, *map(int, numbers)) for name, *numbers in rows]
