"""The clean protocol, which measures what a user would get.

No label reaches fitting, scoring or the threshold. Rows are scaled by training rows, training
stops early on the last of them, every dataset has the same score, and the threshold follows from
training scores. One model scores all entities; metrics are means over entities. Alarms are counted
over all entities together, as a person who answers them would.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from reproduce.benchmarks import SOURCES, Benchmark
from reproduce.datasets import cut_entities, load
from reproduce.methods import build
from reproduce.run import Run
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.base import BaseDetector
from subadjacent.evaluation.alarm_oracle import measures_with_oracle
from subadjacent.evaluation.alarms import AlarmCounts, count_alarms, total
from subadjacent.evaluation.all_metrics import all_metrics
from subadjacent.evaluation.metrics import auroc, average_precision, best_f1


def execute(run: Run, root: str | None, device: str) -> dict[str, Any]:
    """Fit, score and evaluate; one row of results."""
    return _measure(
        partial(build, run, device), load(run, root), _interval(run.dataset), run.per_entity
    )


def measure(
    detector: BaseDetector, benchmark: Benchmark, *, per_entity: bool = False
) -> dict[str, Any]:
    """Fit, score and evaluate any detector, also one of your own or of another library.

    Parameters
    ----------
    detector
        Copies of it are fitted.
    benchmark
        The result of ``load_benchmark``, or training and test series of your own.
    per_entity
        One model for each entity, instead of one for all.

    Returns
    -------
    Metrics of rows, means over entities; counts and measures of alarms over all; seconds.
    """
    return _measure(partial(clone, detector), benchmark, _interval(benchmark.name), per_entity)


def _measure(
    fresh: Callable[[], BaseDetector],
    benchmark: Benchmark,
    interval: float | None,
    per_entity: bool,
) -> dict[str, Any]:
    pieces = cut_entities(benchmark) if per_entity else [benchmark]
    outcomes = [_one_model(fresh(), piece) for piece in pieces]
    scores = np.concatenate([scores for outcome in outcomes for scores in outcome.scores])
    labels = [test.labels for test in benchmark.test]
    pooled = np.concatenate(labels)
    return (
        mean_over_entities([metrics for outcome in outcomes for metrics in outcome.metrics])
        | {
            "pooled_auroc": auroc(scores, pooled),
            "pooled_average_precision": average_precision(scores, pooled),
            "pooled_oracle_f1": best_f1(scores, pooled).f1,
        }
        | measures_with_oracle(
            total(outcome.alarms for outcome in outcomes),
            [scores for outcome in outcomes for scores in outcome.normalized],
            labels,
            interval,
        )
        | {
            "fit_seconds": sum(outcome.fit_seconds for outcome in outcomes),
            "score_seconds": sum(outcome.score_seconds for outcome in outcomes),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ModelOutcome:
    """One fitted detector's results on its entities, and seconds.

    ``normalized`` are the scores in units of the threshold: in these, models can be compared.
    """

    scores: list[NDArray[Any]]
    normalized: list[NDArray[Any]]
    metrics: list[dict[str, float]]
    alarms: AlarmCounts
    fit_seconds: float
    score_seconds: float


def _one_model(detector: BaseDetector, benchmark: Benchmark) -> _ModelOutcome:
    started = time.perf_counter()
    detector.fit(as_input(benchmark.train))
    fitted = time.perf_counter()
    assessment = detector.assess(as_input([test.rows for test in benchmark.test]))
    scores = _by_entity(assessment.scores)
    scored = time.perf_counter()
    metrics = [
        all_metrics(decided.scores, test.labels, decided.anomalous)
        for decided, test in zip(assessment.decisions, benchmark.test, strict=True)
    ]
    # no channels: nobody reads the causes
    alarms = assessment.alarms(channels=0)
    counts = total(
        count_alarms(
            [(alarm.first, alarm.last) for alarm in alarms if alarm.entity == test.rows.entity],
            test.labels,
        )
        for test in benchmark.test
    )
    normalized = _by_entity(assessment.normalized_scores)
    return _ModelOutcome(scores, normalized, metrics, counts, fitted - started, scored - fitted)


def _by_entity(scores: Any) -> list[NDArray[Any]]:
    return list(scores.values()) if isinstance(scores, dict) else [scores]


def _interval(dataset: str) -> float | None:
    """Seconds from row to row, where they are published."""
    return SOURCES[dataset].interval if dataset in SOURCES else None


def as_input(series: Sequence[TrainSeries]) -> Any:
    """Series as a detector takes them: arrays by entity, or one array."""
    if series[0].entity is None:
        return series[0].values
    return {one_series.entity: one_series.values for one_series in series}


def mean_over_entities(metrics: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Mean of each metric over the entities."""
    return {name: _mean_defined([entity[name] for entity in metrics]) for name in metrics[0]}


def _mean_defined(values: list[float]) -> float:
    """Mean over the entities that a metric is defined for; nan without any."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan
