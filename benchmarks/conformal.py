"""What conformal thresholds promise, and what comes of it.

    python benchmarks/conformal.py --output benchmarks/reports/conformal.csv --page --jobs 16

Scores that are normal throughout, drawn many times: the share of rows (or blocks) that are alarms,
as a mean over draws and what one draw in ten exceeds; the share of draws where no row could be an
alarm, and of those with a warning of any kind. The default detector on normal processes.

With --page the table of docs/decision.md is made from it.
"""

from __future__ import annotations

import argparse
import csv
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from live_data import put_between, read_csv
from numpy.typing import NDArray
from scipy.signal import lfilter

from reproduce.cases.normal import NORMAL, normal_rows
from subadjacent import AdaptiveConformal, Conformal, SubAdjacentDetector
from subadjacent.decision import conformal
from subadjacent.decision.base_threshold import BaseThreshold
from subadjacent.decision.conformal import block_maxima

Scores = NDArray[np.float64]
Line = dict[str, Any]

ALPHA, BLOCK = 0.01, 25
# rows to assess, in each draw
FRESH = 5_000
WARM_UP = 1_000

PAGE, MARK = Path(__file__).parents[1] / "docs" / "decision.md", "conformal"
# what the table on the page calls the columns it shows
COLUMNS = {"data": "normal scores"} | {
    name: name for name in ("form", "asked", "mean", "one in ten", "no alarm", "warned")
}


def draw(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Scores:
    """Normal scores of one kind, time along the last axis."""
    noise = rng.normal(size=(*shape[:-1], shape[-1] + WARM_UP))
    if kind == "heavy tails":
        noise = rng.standard_t(3, size=noise.shape)
    if kind.startswith("AR"):
        noise = lfilter([1], [1, -float(kind.split()[1])], noise)
    scores = lfilter(np.ones(20) / 20, 1, noise**2) if kind == "means of 20 rows" else noise**2
    return np.asarray(scores[..., WARM_UP:])


def row(about: str, data: str, form: str, asked: float, found: Any, **more: Any) -> Line:
    """A line of the table; what was found in each run, as a mean and what one in ten exceeds."""
    values = np.asarray(found, dtype=float)
    return {
        "about": about,
        "data": data,
        "form": form,
        "asked": asked,
        "mean": round(float(values.mean()), 4),
        "one in ten": round(float(np.quantile(values, 0.9)), 4),
        "no alarm": "",
        "warned": "",
        "runs": len(values),
    } | more


def assessed(
    about: str, data: str, form: str, draws: list[tuple[Scores, Scores]], rule: BaseThreshold
) -> Line:
    """How many of fresh rows (or blocks) are alarms, in each of some draws of normal scores."""
    block, asked = getattr(rule, "block", 1), getattr(rule, "alpha", ALPHA)
    found, silent = [], []
    with Warnings() as warnings:
        for normal, fresh in draws:
            rule.fit(normal)
            anomalous = rule.predict(fresh).astype(float)
            found.append(block_maxima(anomalous, block).mean())
            silent.append(rule.threshold_ == sys.float_info.max)
    return row(about, data, form, asked, found, **warnings.shares(silent))


class Warnings(logging.Handler):
    """Counts what conformal thresholds warn of, and keeps all warnings off the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self._all = 0, logging.getLogger("subadjacent")

    def emit(self, record: logging.LogRecord) -> None:  # noqa: D102
        self.count += record.name == conformal.log.name

    def __enter__(self) -> Warnings:
        self._all.addHandler(self)
        self._all.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        self._all.removeHandler(self)
        self._all.propagate = True

    def shares(self, silent: list[bool]) -> Line:
        """Of fits where no row could be an alarm, and of those with a warning."""
        return {
            "no alarm": round(float(np.mean(silent)), 3),
            "warned": round(self.count / len(silent), 3),
        }


def of_rows(runs: int, kind: str, rows: int) -> list[Line]:
    """Split-conformal thresholds on scores that do and do not remember."""
    drawn = [draw(kind, np.random.default_rng(seed), (rows + FRESH,)) for seed in range(runs)]
    draws = [(scores[:rows], scores[rows:]) for scores in drawn]
    data = f"{kind}, {rows:,} held out"
    lines = [
        assessed("rows", data, "split", draws, Conformal(ALPHA)),
        assessed("rows", data, "split, cluster=1", draws, Conformal(ALPHA, cluster=1)),
        assessed("rows", data, "split", draws, Conformal(0.05)),
        assessed("rows", data, "split, cluster=1", draws, Conformal(0.05, cluster=1)),
        assessed("blocks", data, f"block {BLOCK}", draws, Conformal(0.05, BLOCK)),
    ]
    for share in (0.05, 0.25):
        form = f"a share of {share:g} is high"
        with changed(conformal, "HIGH_SHARE", share):
            lines.append(assessed("constants", data, form, draws, Conformal(ALPHA)))
    for few in (10, 40):
        form = f"{few} times is few"
        with changed(conformal, "MIN_TIMES", few):
            lines.append(assessed("constants", data, form, draws, Conformal(0.05)))
    return lines


@contextmanager
def changed(module: ModuleType, name: str, value: float) -> Iterator[None]:
    """One constant changed, and changed back."""
    before = getattr(module, name)
    try:
        setattr(module, name, value)
        yield
    finally:
        setattr(module, name, before)


def of_drift(runs: int, name: str) -> list[Line]:
    """The split and the adaptive form where normal scores grow, jump, or come and go."""
    drawn = [draw("AR 0.9", np.random.default_rng(seed), (1_000 + FRESH,)) for seed in range(runs)]
    draws = [(scores[:1_000], scores[1_000:] * DRIFTS[name]) for scores in drawn]
    return [
        assessed("drift", name, "split", draws, Conformal(ALPHA)),
        assessed("drift", name, "adaptive", draws, AdaptiveConformal(ALPHA)),
    ]


TIME = np.linspace(0, 1, FRESH)
DRIFTS = {
    "no drift": np.ones(FRESH),
    "scores grow to 4 times": 1 + 3 * TIME,
    "scores jump to 4 times": np.where(TIME < 0.2, 1.0, 4.0),
    "scores come and go by 4 times": 1 + 1.5 * (1 - np.cos(8 * np.pi * TIME)),
}


def of_default(runs: int, process: str, rows: int) -> list[Line]:
    """The default detector on normal processes: rows that are alarms."""
    lines = []
    for form, threshold in (
        ("split", Conformal(ALPHA)),
        ("adaptive", AdaptiveConformal(ALPHA)),
    ):
        found, silent = [], []
        with Warnings() as warnings:
            for seed in range(runs):
                values = normal_rows(process, 2 * rows, 5, seed)
                detector = SubAdjacentDetector(contamination=threshold).fit(values[:rows])
                found.append(np.mean(detector.predict(values[rows:])))
                silent.append(detector.threshold_ == sys.float_info.max)
        more = warnings.shares(silent)
        lines.append(row("default", f"{process}, {rows:,} rows", form, ALPHA, found, **more))
    return lines


def parts(
    options: argparse.Namespace,
) -> Iterator[tuple[Callable[..., list[Line]], tuple[Any, ...]]]:
    """What makes some lines each, and depends on nothing else; in the order of the table."""
    runs, fits = options.runs, options.fits
    for kind in ("independent", "AR 0.9", "AR 0.99", "means of 20 rows"):
        for rows in (200, 1_000, 10_000):
            yield of_rows, (runs, kind, rows)
    for name in DRIFTS:
        yield of_drift, (runs, name)
    for process in NORMAL:
        yield of_default, (fits, process, options.rows)


def write_page(report: Path) -> None:
    """Put the lines about drift between the marks of the page; all lines are in the report."""
    lines = [line for line in read_csv(report) if line["about"] == "drift"]
    table = [
        "| " + " | ".join(COLUMNS.values()) + " |",
        "|---|---|" + "--:|" * (len(COLUMNS) - 2),
        *("| " + " | ".join(line[name] for name in COLUMNS) + " |" for line in lines),
    ]
    put_between(PAGE, MARK, "\n".join(table))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=60, help="draws of scores")
    parser.add_argument("--fits", type=int, default=4, help="fits of the default")
    parser.add_argument("--rows", type=int, default=1_000, help="that a default is fitted on")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--page", action="store_true", help="write the table of the page, too")
    options = parser.parse_args()
    work = Parallel(options.jobs, return_as="generator")
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, row("", "", "", 0.0, [0.0]), lineterminator="\n")
        writer.writeheader()
        for lines in work(delayed(part)(*given) for part, given in parts(options)):
            writer.writerows(lines)
            file.flush()
    if options.page:
        write_page(options.output)


if __name__ == "__main__":
    main()
