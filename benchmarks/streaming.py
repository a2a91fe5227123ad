"""Rows as they come: how long one takes, and how many two processes take in a second.

    python benchmarks/streaming.py --write benchmarks/reports/streaming.md

One row at a time of one series (``score_one``): median and 99th percentile, and what a row costs
late against early, which must not grow. Rows that come together (``score_many``): rows a second.
Then as many series as are asked for, shared by the processes, which begin together; their rows
come in turn, one row or several of a series at once. All by `StreamScorer`, with and without a
model, on one thread each. ``--cpu`` counts what the processor spends on it instead of the time
that passes: for machines that have other work.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import numpy as np
from live_data import markdown, quiet
from threadpoolctl import threadpool_limits

import subadjacent
from subadjacent import SubAdjacentDetector
from subadjacent.streaming.scorer import StreamScorer

CHANNELS = (1, 5, 20)
FITTED = 2_000  # rows that a model is fitted on
WARM_UP = 500  # rows of a series before anything is timed: a learner is of use after 100
TOGETHER = 100  # rows of one series that come at once
MOST_MS = 1.0  # aim for one row in a hundred
LEAST_RATE = 20_000  # aim for rows a second, of five channels

meeting: Barrier  # of a process that feeds series


class Setting(NamedTuple):
    """What is scored."""

    channels: int
    model: bool

    def __str__(self) -> str:
        plural = "" if self.channels == 1 else "s"
        return f"{self.channels} channel{plural}, {'a model' if self.model else 'no model'}"

    def scorer(self) -> StreamScorer:
        """A new one; its model is fitted on rows like those that come."""
        if not self.model:
            return StreamScorer(None)
        with quiet():
            return StreamScorer(SubAdjacentDetector().fit(self.rows(FITTED, seed=1)))

    def rows(self, count: int, seed: int = 0) -> np.ndarray:
        """A day's cycle and noise in each channel."""
        rng = np.random.default_rng(seed)
        angle = np.arange(count)[:, None] / 288 * 2 * np.pi + np.arange(self.channels)
        return 10 + 3 * np.sin(angle) + rng.normal(0, 0.3, (count, self.channels))


class Timing(NamedTuple):
    """How rows are timed: how many first are not, and by the processor's clock or the wall's."""

    warm_up: int
    cpu: bool

    def now(self) -> float:
        """Seconds, from whatever moment."""
        return time.process_time() if self.cpu else time.time()


class Latency(NamedTuple):
    """Milliseconds of one row, and the cost of late rows in times of early ones."""

    median: float
    slow: float  # one in a hundred takes longer
    growth: float


def one_by_one(setting: Setting, timing: Timing, count: int) -> Latency:
    """Time each of ``count`` rows that come alone."""
    scorer, taken = setting.scorer(), []
    with threadpool_limits(1):
        for row in setting.rows(timing.warm_up + count):
            started = timing.now()
            scorer.score_one(row)
            taken.append(timing.now() - started)
    times = 1000 * np.array(taken[timing.warm_up :])
    tenth = max(1, count // 10)
    growth = np.median(times[-tenth:]) / np.median(times[:tenth])
    return Latency(float(np.median(times)), float(np.quantile(times, 0.99)), float(growth))


def together(setting: Setting, timing: Timing, count: int) -> float:
    """Rows a second of one series, ``TOGETHER`` at a time."""
    scorer, rows = setting.scorer(), setting.rows(timing.warm_up + count)
    with threadpool_limits(1):
        scorer.score_many(rows[: timing.warm_up])
        started = timing.now()
        for start in range(timing.warm_up, timing.warm_up + count, TOGETHER):
            scorer.score_many(rows[start : start + TOGETHER])
        return count / (timing.now() - started)


def meet_at(barrier: Barrier) -> None:
    """What each process of a pool begins with: where it waits for the others."""
    global meeting
    meeting = barrier


def fleet(
    setting: Setting, entities: int, timing: Timing, count: int, at_once: int
) -> tuple[float, float]:
    """Feed series in turn, once all processes are ready; begin and end by the machine's clock."""
    scorer, rows = setting.scorer(), setting.rows(timing.warm_up + count)
    names = [f"series {number}" for number in range(entities)]
    with threadpool_limits(1):
        for name in names:
            scorer.score_many(rows[: timing.warm_up], entity=name)
        meeting.wait()
        started = timing.now()
        for start in range(timing.warm_up, timing.warm_up + count, at_once):
            for name in names:
                scorer.score_many(rows[start : start + at_once], entity=name)
        return started, timing.now()


@contextmanager
def processes_that_wait(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes begin what they time together."""
    # a fresh process each: a fork of one with threads may hang
    context = get_context("spawn")
    with ProcessPoolExecutor(count, context, meet_at, (context.Barrier(count),)) as pool:
        yield pool


def fleets(
    pool: ProcessPoolExecutor,
    setting: Setting,
    shares: Sequence[int],
    timing: Timing,
    count: int,
    at_once: int,
) -> float:
    """Rows a second of all processes, from the first that began to the last that ended."""
    spans = [pool.submit(fleet, setting, share, timing, count, at_once) for share in shares]
    starts, ends = np.transpose([span.result() for span in spans])
    # the processor's time of each begins somewhere else
    taken = (ends - starts).max() if timing.cpu else ends.max() - starts.min()
    return float(sum(shares) * count / taken)


def single(settings: Sequence[Setting], timing: Timing, count: int) -> Iterator[list[str]]:
    """A line for each setting: latency, and rows a second."""
    yield ["one series", "median ms", "99 % ms", "late against early", "rows/s together"]
    for setting in settings:
        alone = one_by_one(setting, timing, count)
        rate = together(setting, timing, count)
        yield [
            str(setting),
            f"{alone.median:.3f}",
            f"{alone.slow:.3f}",
            f"{alone.growth:.2f} x",
            f"{rate:,.0f}",
        ]


def main() -> None:
    """Print the tables, and write them if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=5_000, help="of one series")
    parser.add_argument("--entities", type=int, default=200)
    parser.add_argument("--entity-rows", type=int, default=200, help="of each of the series")
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="rows of a series, not timed")
    parser.add_argument("--channels", type=int, nargs="+", default=CHANNELS)
    parser.add_argument("--without-model", action="store_true", help="learning alone only")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cpu", action="store_true", help="by the processor's clock")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    timing = Timing(options.warm_up, options.cpu)
    models = (False,) if options.without_model else (False, True)
    settings = [Setting(channels, model) for channels in options.channels for model in models]
    tables = [list(single(settings, timing, options.rows))]
    entities, count = options.entities, options.processes
    shares = [entities // count + (number < entities % count) for number in range(count)]
    lines = [[f"{entities:,} series", "one row at once", f"{TOGETHER} rows at once"]]
    with processes_that_wait(count) as pool:
        for setting in settings:
            rates = [
                fleets(pool, setting, shares, timing, options.entity_rows, at_once)
                for at_once in (1, TOGETHER)
            ]
            lines.append([str(setting), *(f"{rate:,.0f} rows/s" for rate in rates)])
    tables.append(lines)
    text = page([markdown(table) for table in tables], options.processes, options.cpu)
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


def page(tables: Sequence[str], processes: int, cpu: bool) -> str:
    """The report."""
    made = (
        f"Made by `python benchmarks/streaming.py --write`, with subadjacent "
        f"{subadjacent.__version__}, NumPy {np.__version__}. Aims: less than {MOST_MS:g} ms for "
        f"99 rows in 100, {LEAST_RATE:,} rows/s of 5 channels on two cores."
        f"{' Times are those of the processor: the machine had other work.' if cpu else ''}"
    )
    title = f"# Rows as they come, on {os.cpu_count()} cores"
    between = f"Series in turn, in {processes} processes together:"
    return "\n\n".join([title, made, tables[0], between, tables[1]]) + "\n"


if __name__ == "__main__":
    main()
