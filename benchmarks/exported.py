"""The default as an ONNX file in ONNX Runtime, beside the library: one row, and a million.

    python benchmarks/exported.py --write benchmarks/reports/exported.md

One row: by itself; and the newest of all rows that its score depends on, which is how a file
scores rows as they come, beside the library's stream, which remembers what it needs of them. Many
rows: seconds, and peak memory beyond the rows themselves, by Linux's counters. What is measured
has a process of its own, on as many cores as are asked for. ``--cpu`` counts what the processor
spends on it instead of the time that passes: for machines that have other work.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from growth import forget_peak, peak_mib
from live_data import markdown, quiet

import subadjacent
from subadjacent import SubAdjacentDetector
from subadjacent.detectors.onnx import to_onnx

FITTED = 10_000  # rows that models are fitted on: as many references as there may be
MILLION = 1_000_000
WARM_UP = 20  # rows that are not timed


class Setting(NamedTuple):
    """What is scored, on what."""

    channels: int
    cores: int
    fitted: int  # rows
    cpu: bool

    def __str__(self) -> str:
        channels = f"{self.channels} channel{'' if self.channels == 1 else 's'}"
        return f"{channels}, {self.cores} core{'' if self.cores == 1 else 's'}"

    def now(self) -> float:
        """Seconds, from whatever moment."""
        return time.process_time() if self.cpu else time.perf_counter()

    def rows(self, count: int, seed: int = 0) -> np.ndarray:
        """A cycle and noise in each channel."""
        rng = np.random.default_rng(seed)
        angle = np.arange(count)[:, None] / 200 * 2 * np.pi + np.arange(self.channels)
        return 10 + 3 * np.sin(angle) + rng.normal(0, 0.3, (count, self.channels))

    def detector(self, lookahead: int | str) -> SubAdjacentDetector:
        """A detector, in a process that uses no more cores than it may."""
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: self.cores])
        with quiet():
            return SubAdjacentDetector(lookahead=lookahead).fit(self.rows(self.fitted, seed=1))

    def opened(self, detector: SubAdjacentDetector) -> onnxruntime.InferenceSession:
        """The detector as a file, in ONNX Runtime."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self.cores
        return onnxruntime.InferenceSession(to_onnx(detector), options)


class Milliseconds(NamedTuple):
    """Of one row: half take less, and 99 in a hundred."""

    median: float
    slow: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.slow:.2f})"


def timed(setting: Setting, work: Callable[[int], Any], repeats: int) -> Milliseconds:
    taken = []
    for number in range(WARM_UP + repeats):
        started = setting.now()
        work(number)
        taken.append(1000 * (setting.now() - started))
    times = np.array(taken[WARM_UP:])
    return Milliseconds(float(np.median(times)), float(np.quantile(times, 0.99)))


def one_row(setting: Setting, repeats: int) -> list[str]:
    """A line: a row by itself, and the newest of those that its score depends on."""
    detector = setting.detector(lookahead=0)
    session = setting.opened(detector)
    reach = detector.models_.pooled.reach
    # windows begin at multiples of a few rows
    needed = -(-reach.before // reach.every) * reach.every + 1
    rows = setting.rows(needed + WARM_UP + repeats)
    stream = detector.stream()
    stream.score_many(rows[:needed])

    def newest(number: int) -> np.ndarray:
        return rows[number : number + needed]

    found = [
        timed(setting, lambda n: detector.decision_function(rows[n : n + 1]), repeats),
        timed(setting, lambda n: session.run(None, {"rows": rows[n : n + 1]}), repeats),
        timed(setting, lambda n: detector.decision_function(newest(n)), repeats),
        timed(setting, lambda n: session.run(None, {"rows": newest(n)}), repeats),
        timed(setting, lambda n: stream.score_one(rows[needed + n]), repeats),
    ]
    return [f"{setting}, {needed} rows", *map(str, found)]


class Scored(NamedTuple):
    """Seconds and MiB beyond the rows, and the scores of the last rows."""

    seconds: float
    mib: float
    last: np.ndarray


def many_rows(setting: Setting, count: int, exported: bool) -> Scored:
    """Score, explain and decide on rows, in a process of its own."""
    detector = setting.detector(lookahead="full")
    rows = setting.rows(count)
    session = setting.opened(detector)
    # what either takes for a few rows is no matter of their number
    detector.assess(rows[:1000])
    session.run(None, {"rows": rows[:1000]})
    before, started = forget_peak(), setting.now()
    score = session.run(None, {"rows": rows})[0] if exported else detector.assess(rows).scores
    return Scored(setting.now() - started, peak_mib() - before, score[-10_000:])


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """What ``work`` comes to in a fresh process: a peak hides smaller ones after it."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def few(settings: Sequence[Setting], repeats: int) -> Iterator[list[str]]:
    yield ["ms, median (99 %)", *("alone", "ONNX"), *("newest", "ONNX", "stream")]
    for setting in settings:
        yield apart(one_row, setting, repeats)


def many(settings: Sequence[Setting], count: int) -> Iterator[list[str]]:
    yield [f"{count:,} rows", "seconds", "ONNX", "MiB", "ONNX", "largest difference"]
    for setting in settings:
        own, other = (apart(many_rows, setting, count, exported) for exported in (False, True))
        yield [
            str(setting),
            *(f"{one.seconds:.1f}" for one in (own, other)),
            *(f"{one.mib:,.0f}" for one in (own, other)),
            f"{np.abs(own.last - other.last).max():.1e}",
        ]


def main() -> None:
    """Print the tables, and write them if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=MILLION)
    parser.add_argument("--fitted", type=int, default=FITTED, help="rows to learn from")
    parser.add_argument("--repeats", type=int, default=500, help="of one row")
    parser.add_argument("--channels", type=int, nargs="+", default=(1, 3, 20))
    parser.add_argument("--cores", type=int, nargs="+", default=(1, 2))
    parser.add_argument("--cpu", action="store_true", help="by the processor's clock")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    settings = [
        Setting(channels, cores, options.fitted, options.cpu)
        for channels in options.channels
        for cores in options.cores
    ]
    tables = [
        markdown(list(few(settings, options.repeats))),
        markdown(list(many(settings, options.rows))),
    ]
    text = page(tables, options.cpu)
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


def page(tables: Sequence[str], cpu: bool) -> str:
    """The report."""
    made = (
        f"Made by `python benchmarks/exported.py --write`, with subadjacent "
        f"{subadjacent.__version__}, NumPy {np.__version__}, ONNX Runtime "
        f"{onnxruntime.__version__}, on a machine of {os.cpu_count()} cores."
        f"{' Times are those of the processor: the machine had other work.' if cpu else ''}"
    )
    one = (
        "One row, `lookahead=0`, by `decision_function` and by the file beside it: alone, and as "
        "the newest of the rows that its score depends on; then by `stream()`, which remembers "
        "these:"
    )
    more = (
        'Many rows, `lookahead="full"`: scores, contributions and alarms, by `assess` and by the '
        "file; memory beyond that of the rows; the largest difference of a score in the last "
        "10,000 rows:"
    )
    return (
        "\n\n".join(["# The default as an ONNX file", made, one, tables[0], more, tables[1]]) + "\n"
    )


if __name__ == "__main__":
    main()
