"""How long the default takes on two cores, as ratios where that can be.

    python benchmarks/default.py

A fit and scores are held against Sub-PCA's on the same rows, in the same round: of the whole
default, and without its views of states and shapes, so that the cost of a view can be read. Growth
is the time of more rows against that of fewer. Fleets, the README's file and the demo are whole
runs, in seconds.
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
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import subadjacent

COMMAND = Path(sys.executable).with_name("subadjacent")
CHANNELS = 25
# aim for fit and for scores, with all views
MOST_SUB_PCAS = 4
WHOLE = ""
# in words → views that are left out
LEFT_OUT = {
    WHOLE: (),
    " without state": ("state",),
    " without shape": ("shape",),
    " without both": ("state", "shape"),
}


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
    """Medians of ratios, each of two times of one round."""
    from subadjacent import SubAdjacentDetector, SubPCADetector, multivariate
    from subadjacent.methods.views.settings import VIEWS

    plant = multivariate(n=rows, channels=CHANNELS, seed=0)
    kept = {
        words: tuple(view for view in VIEWS if view not in left_out)
        for words, left_out in LEFT_OUT.items()
    }
    fits: dict[str, list[float]] = {words: [] for words in kept}
    scores: dict[str, list[float]] = {words: [] for words in kept}
    fit_seconds, alarms = [], []
    for _ in range(repeats):
        fit_unit, score_unit = fit_and_score(SubPCADetector(), plant)
        for words, views in kept.items():
            detector = SubAdjacentDetector(views=views)
            fit, score = fit_and_score(detector, plant)
            fits[words].append(fit / fit_unit)
            scores[words].append(score / score_unit)
            if words == WHOLE:
                fit_seconds.append(fit)
                alarms.append(seconds(lambda each=detector: each.alarms(plant.test)) / score)
    size = f"{rows:,} x {CHANNELS}"
    yield Measure(f"fit of {size}", f"{np.median(fit_seconds):.1f} s", "")
    for what, ratios in ((f"fit of {size}", fits), ("decision_function", scores)):
        for words, values in ratios.items():
            target = f"at most {MOST_SUB_PCAS} x" if words == WHOLE else ""
            came = f"{np.median(values):.2f} x"
            yield Measure(f"{what}{words}, against Sub-PCA", came, target)
    came = f"{np.median(alarms):.2f} x"
    yield Measure("alarms, against decision_function", came, "at most 1.3 x")


def fit_and_score(detector: Any, plant: Any) -> tuple[float, float]:
    """Seconds of a fit, and of the scores of as many rows."""
    fit = seconds(lambda: detector.fit(plant.train))
    return fit, seconds(lambda: detector.decision_function(plant.test))


def growth(rows: int, repeats: int) -> Iterator[Measure]:
    """Fit and score of half to eight times a quarter of the rows, against that quarter."""
    from subadjacent import SubAdjacentDetector, multivariate

    sizes = [rows // 4, rows // 2, rows, 2 * rows]
    plant = multivariate(n=sizes[-1], channels=CHANNELS, seed=0)
    times = np.empty((repeats, len(sizes), 2))
    for repeat in range(repeats):
        for number, size in enumerate(sizes):
            some = SimpleNamespace(train=plant.train[:size], test=plant.test[:size])
            times[repeat, number] = fit_and_score(SubAdjacentDetector(), some)
    ratios = np.median(times / times[:, :1], axis=0)
    for size, (fit, score) in zip(sizes[1:], ratios[1:], strict=True):
        linear = f"linear: {size / sizes[0]:.0f} x"
        for what, ratio in (("fit", fit), ("decision_function", score)):
            came = f"{ratio:.2f} x"
            yield Measure(f"{what} of {size:,} rows, against {sizes[0]:,}", came, linear)


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
    yield from growth(rows, 1 if quick else 3)
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
        f"{subadjacent.__version__}, NumPy {np.__version__}. Ratios to Sub-PCA and of alarms are "
        f"medians of five rounds, those of growth of three; both times are of the same round."
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
