"""The rows of a run: a dataset, a share of its training rows, or a few rows for a trial."""

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
    """Rows to fit on, and labelled rows to evaluate on."""
    benchmark = load_whole(run.dataset, root, is_contaminated(run))
    if run.quick:
        benchmark = _few(benchmark)
    if run.train_share < 1:
        benchmark = replace(
            benchmark, train=tuple(_first(series, run.train_share) for series in benchmark.train)
        )
    return benchmark


@lru_cache(maxsize=2)
def load_whole(dataset: str, root: str | None, contaminated: bool = False) -> Benchmark:
    """A dataset, cached for the runs that follow on it."""
    return load_benchmark(dataset, root, contaminated=contaminated)


@lru_cache
def fingerprint_of(dataset: str, root: str | None, contaminated: bool = False) -> str:
    """Fingerprint of the data that a row of results was made on."""
    return fingerprint(load_whole(dataset, root, contaminated))


def is_contaminated(run: Run) -> bool:
    """Whether NeurIPS-TS is to be trained on a series with anomalies."""
    return dict(run.settings).get("train") == "contaminated"


def cut_entities(benchmark: Benchmark) -> list[Benchmark]:
    """One benchmark for each entity."""
    return [
        replace(benchmark, train=(train,), test=(test,))
        for train, test in zip(benchmark.train, benchmark.test, strict=True)
    ]


def _first(series: TrainSeries, share: float) -> TrainSeries:
    rows = max(round(len(series) * share), 1)
    return TrainSeries(series.values[:rows], series.channels, series.entity)


def _few(benchmark: Benchmark) -> Benchmark:
    """Two long entities: their first training rows, and test rows around their first anomaly."""
    pairs = zip(benchmark.train, benchmark.test, strict=True)
    long = [pair for pair in pairs if min(len(pair[0]), len(pair[1])) >= QUICK_ROWS][
        :QUICK_ENTITIES
    ]
    return replace(
        benchmark,
        train=tuple(
            TrainSeries(train.values[:QUICK_ROWS], train.channels, train.entity)
            for train, _ in long
        ),
        test=tuple(_around_anomaly(test) for _, test in long),
    )


def _around_anomaly(test: TestSeries) -> TestSeries:
    first = int(np.argmax(test.labels))
    start = max(min(first - QUICK_ROWS // 2, len(test) - QUICK_ROWS), 0)
    rows = slice(start, start + QUICK_ROWS)
    cut = TrainSeries(test.rows.values[rows], test.rows.channels, test.rows.entity)
    return TestSeries(cut, test.labels[rows])
