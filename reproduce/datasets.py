"""The rows of a run: a dataset, a share of its training rows, or a few rows for a trial.

A dataset is a public one, or a generated kind of anomaly; of these the seed of a run draws one
series.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from reproduce.benchmarks import (
    SOURCES,
    Benchmark,
    fingerprint,
    load_benchmark,
    source_named,
)
from reproduce.benchmarks.archive import generate
from reproduce.cases import DEVELOPMENT, KEPT_BACK, case
from reproduce.run import Run
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.errors import InputError

# generated kinds of anomaly
KINDS = (*DEVELOPMENT, *KEPT_BACK)

# settings of a run that say which series of NeurIPS-TS it has, and say nothing to a detector
DATA_SETTINGS = ("train", "anomalies")

# rows and entities of a quick trial
QUICK_ROWS = 1600
QUICK_ENTITIES = 2


class RunData(NamedTuple):
    """The part of a run's settings that its rows depend on, before they are cut.

    ``contaminated`` and ``anomalies``, a single kind in place of all five, are for
    NeurIPS-TS alone, ``seed`` for generated kinds.
    """

    dataset: str
    contaminated: bool
    seed: int
    anomalies: str = ""


def data_of(run: Run) -> RunData:
    """The part of a run's settings that its rows depend on."""
    settings = dict(run.settings)
    contaminated = settings.get("train") == "contaminated"
    seed = run.seed if run.dataset in KINDS else 0
    return RunData(run.dataset, contaminated, seed, str(settings.get("anomalies", "")))


def load(run: Run, root: str | None) -> Benchmark:
    """Rows to fit on, and labelled rows to evaluate on."""
    benchmark = load_whole(data_of(run), root)
    if run.quick:
        benchmark = _shorten(benchmark)
    if run.train_share < 1:
        benchmark = replace(
            benchmark, train=tuple(_first(series, run.train_share) for series in benchmark.train)
        )
    return benchmark


@lru_cache(maxsize=2)
def load_whole(data: RunData, root: str | None) -> Benchmark:
    """A dataset, cached for the runs that follow on it."""
    if data.dataset in KINDS:
        return _drawn(data.dataset, data.seed)
    if data.anomalies:
        # a file holds the series with all five
        source = SOURCES[data.dataset]
        return generate(source, contaminated=data.contaminated, kinds=(data.anomalies,))
    return load_benchmark(data.dataset, root, contaminated=data.contaminated)


@lru_cache
def fingerprint_of(data: RunData, root: str | None) -> str:
    """Fingerprint of the data that a row of results was made on."""
    return fingerprint(load_whole(data, root))


def dataset_named(name: str) -> str:
    """The name of a dataset as runs have it; case does not matter, nor "_" or "-"."""
    words = name.lower().replace("_", " ").replace("-", " ")
    if words in KINDS:
        return words
    try:
        return source_named(name).name
    except InputError:
        known = ", ".join((*SOURCES, *KINDS))
        raise InputError(f"datasets must be among {known}; got {name!r}") from None


def title_of(dataset: str) -> str:
    """Title of a dataset in tables."""
    return SOURCES[dataset].title if dataset in SOURCES else dataset


def _drawn(kind: str, seed: int) -> Benchmark:
    series = case(kind, seed)
    test = TestSeries(TrainSeries(series.test), series.labels)
    return Benchmark(kind, kind, (TrainSeries(series.train),), (test,), "generated")


def cut_entities(benchmark: Benchmark) -> list[Benchmark]:
    """One benchmark for each entity."""
    return [
        replace(benchmark, train=(train,), test=(test,))
        for train, test in zip(benchmark.train, benchmark.test, strict=True)
    ]


def _first(series: TrainSeries, share: float) -> TrainSeries:
    rows = max(round(len(series) * share), 1)
    return TrainSeries(series.values[:rows], series.channels, series.entity)


def _shorten(benchmark: Benchmark) -> Benchmark:
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
