"""How long the default takes on two cores, as ratios where that can be.

    python benchmarks/default.py

A fit and scores are held against Sub-PCA's on the same rows, right after each other. Fleets, the
README's file and the demo are whole runs, in seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import subadjacent

COMMAND = Path(sys.executable).with_name("subadjacent")


class Measure(NamedTuple):
    """What was measured, what came, and what was aimed at."""

    what: str
    came: str
    target: str


def seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def against_sub_pca(rows: int, repeats: int) -> Iterator[Measure]:
    """Medians of ratios, each of two runs one after the other."""
    from subadjacent import SubAdjacentDetector, SubPCADetector, multivariate

    plant = multivariate(n=rows, channels=25, seed=0)
    ratios: dict[str, list[float]] = {"fit": [], "decision_function": [], "alarms": []}
    fits = []
    for _ in range(repeats):
        ours, other = SubAdjacentDetector(), SubPCADetector()
        fits.append(seconds(lambda ours=ours: ours.fit(plant.train)))
        ratios["fit"].append(fits[-1] / seconds(lambda other=other: other.fit(plant.train)))
        scores = seconds(lambda ours=ours: ours.decision_function(plant.test))
        theirs = seconds(lambda other=other: other.decision_function(plant.test))
        ratios["decision_function"].append(scores / theirs)
        ratios["alarms"].append(seconds(lambda ours=ours: ours.alarms(plant.test)) / scores)
    size = f"{rows:,} x 25"
    median = {name: float(np.median(values)) for name, values in ratios.items()}
    yield Measure(f"fit of {size}", f"{np.median(fits):.1f} s", "")
    yield Measure(f"fit of {size}, against Sub-PCA", f"{median['fit']:.2f} x", "at most 2 x")
    came = f"{median['decision_function']:.2f} x"
    yield Measure("decision_function, against Sub-PCA", came, "at most 1.5 x")
    came = f"{median['alarms']:.2f} x"
    yield Measure("alarms, against decision_function", came, "at most 1.3 x")


def fleet(entities: int, rows: int, target: str) -> Measure:
    """A fit of many entities, to the end."""
    from subadjacent import SubAdjacentDetector, multivariate

    # a few plants, each many times with other noise: making them up must not take longer than fits
    plants = [multivariate(n=rows, channels=5, seed=seed).train for seed in range(20)]
    noise = np.random.default_rng(0)
    series = {
        f"unit {n}": plants[n % 20] + 0.1 * noise.normal(size=(rows, 5)) for n in range(entities)
    }
    took = seconds(lambda: SubAdjacentDetector().fit(series))
    return Measure(f"fit of {entities:,} entities x {rows:,} x 5", f"{took:.1f} s", target)


def commands() -> Iterator[Measure]:
    """The README's file, and the demo."""
    with tempfile.TemporaryDirectory() as folder:

        def run(*arguments: str) -> float:
            return seconds(
                lambda: subprocess.run(
                    [COMMAND, *arguments], cwd=folder, check=True, capture_output=True
                )
            )

        run("generate", "plant", "--rows", "4000", "-o", "plant.csv")
        took = min(run("detect", "plant.csv", "--quiet") for _ in range(3))
        yield Measure("detect of the README's file", f"{took:.1f} s", "at most 4 s")
        took = min(run("demo", "--output", "demo", "--quiet") for _ in range(3))
        yield Measure("demo", f"{took:.1f} s", "at most 8 s")


def measure(rows: int, *, quick: bool = False) -> Iterator[Measure]:
    """All of it; the largest fleet only where there is time for it."""
    yield from against_sub_pca(rows, 1 if quick else 5)
    yield fleet(10 if quick else 200, 500, "at most 3 s")
    if not quick:
        yield fleet(1_000, 1_000, "at most 9 s (90 s for 10,000)")
    yield from commands()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--write", type=Path, help="a Markdown file for the table")
    arguments = parser.parse_args()
    lines = []
    for line in measure(arguments.rows):
        lines.append(line)
        print(f"{line.what:56} {line.came:>10}   {line.target}".rstrip(), flush=True)
    if arguments.write is not None:
        arguments.write.write_text(page(lines), encoding="utf-8")


def page(lines: list[Measure]) -> str:
    """What came, as Markdown."""
    cores = os.cpu_count()
    rows = [f"| {line.what} | {line.came} | {line.target} |" for line in lines]
    made = (
        f"Made by `python benchmarks/default.py --write`, with subadjacent "
        f"{subadjacent.__version__}, NumPy {np.__version__}. Ratios are medians of five, each of "
        f"two runs one after the other."
    )
    return "\n".join(
        [
            f"# The default on {cores} cores",
            "",
            made,
            "",
            "| | came | aimed at |",
            "|---|--:|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    main()
