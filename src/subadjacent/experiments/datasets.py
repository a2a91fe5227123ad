"""The rows a run is about: a dataset, a share of its training rows, or a few rows for a trial."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from subadjacent.data.benchmarks import Benchmark, fingerprint, load_benchmark
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.experiments.run import Run

# rows and entities of a quick trial
QUICK_ROWS = 1600
QUICK_ENTITIES = 2


def load(run: Run, root: str | None) -> Benchmark:
    """The rows to fit on and to judge by."""
    benchmark = whole(run.dataset, root, is_contaminated(run))
    if run.quick:
        benchmark = _few(benchmark)
    if run.train_share < 1:
        benchmark = replace(
            benchmark, train=tuple(_first(one, run.train_share) for one in benchmark.train)
        )
    return benchmark


@lru_cache(maxsize=2)
def whole(dataset: str, root: str | None, contaminated: bool = False) -> Benchmark:
    """A dataset, kept while runs on it follow each other."""
    return load_benchmark(dataset, root, contaminated=contaminated)


@lru_cache
def fingerprint_of(dataset: str, root: str | None, contaminated: bool = False) -> str:
    """What tells the data of one row of results from that of another."""
    return fingerprint(whole(dataset, root, contaminated))


def is_contaminated(run: Run) -> bool:
    """Whether NeurIPS-TS is to be trained on a series with anomalies."""
    return dict(run.settings).get("train") == "contaminated"


def cut_entities(benchmark: Benchmark) -> list[Benchmark]:
    """One benchmark an entity."""
    return [
        replace(benchmark, train=(train,), test=(test,))
        for train, test in zip(benchmark.train, benchmark.test, strict=True)
    ]


def _first(series: TrainSeries, share: float) -> TrainSeries:
    rows = max(round(len(series) * share), 1)
    return TrainSeries(series.values[:rows], series.channels, series.entity)


def _few(benchmark: Benchmark) -> Benchmark:
    """The first long entities' first rows, and as many test rows around their first anomaly."""
    pairs = zip(benchmark.train, benchmark.test, strict=True)
    long = [pair for pair in pairs if min(len(pair[0]), len(pair[1])) >= QUICK_ROWS][
        :QUICK_ENTITIES
    ]
    test = []
    for _, one in long:
        middle = int(np.argmax(one.labels))
        start = max(min(middle - QUICK_ROWS // 2, len(one) - QUICK_ROWS), 0)
        rows = slice(start, start + QUICK_ROWS)
        cut = TrainSeries(one.rows.values[rows], one.rows.channels, one.rows.entity)
        test.append(TestSeries(cut, one.labels[rows]))
    return replace(
        benchmark,
        train=tuple(
            TrainSeries(one.values[:QUICK_ROWS], one.channels, one.entity) for one, _ in long
        ),
        test=tuple(test),
    )
