"""The clean protocol, which measures what a user would get.

No label reaches fitting, scoring or the threshold. Rows are scaled by training rows, training
stops early on the last of them, every dataset has the same score, and the threshold follows from
training scores. One model scores all entities; metrics are means over entities.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.benchmarks import Benchmark
from subadjacent.data.series import TrainSeries
from subadjacent.evaluation.all_metrics import all_metrics
from subadjacent.evaluation.metrics import auroc, average_precision, best_f1
from subadjacent.experiments.datasets import cut_entities, load
from subadjacent.experiments.methods import build
from subadjacent.experiments.run import Run


def execute(run: Run, root: str | None, device: str) -> dict[str, Any]:
    """Fit, score and evaluate; one row of results."""
    benchmark = load(run, root)
    pieces = cut_entities(benchmark) if run.per_entity else [benchmark]
    outcomes = [_one_model(run, piece, device) for piece in pieces]
    scores = np.concatenate([outcome.scores for outcome in outcomes])
    labels = np.concatenate([test.labels for test in benchmark.test])
    return (
        mean_over_entities([metrics for outcome in outcomes for metrics in outcome.metrics])
        | {
            "pooled_auroc": auroc(scores, labels),
            "pooled_average_precision": average_precision(scores, labels),
            "pooled_oracle_f1": best_f1(scores, labels).f1,
        }
        | {
            "fit_seconds": sum(outcome.fit_seconds for outcome in outcomes),
            "score_seconds": sum(outcome.score_seconds for outcome in outcomes),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ModelOutcome:
    """Scores of one fitted detector, its metrics entity by entity, and seconds."""

    scores: NDArray[Any]
    metrics: list[dict[str, float]]
    fit_seconds: float
    score_seconds: float


def _one_model(run: Run, benchmark: Benchmark, device: str) -> _ModelOutcome:
    detector = build(run, device)
    started = time.perf_counter()
    detector.fit(as_input(benchmark.train))
    fitted = time.perf_counter()
    scores = detector.decision_function(as_input([test.rows for test in benchmark.test]))
    scored = time.perf_counter()
    by_entity = list(scores.values()) if isinstance(scores, dict) else [scores]
    metrics = [
        all_metrics(entity_scores, test.labels, detector.threshold_)
        for entity_scores, test in zip(by_entity, benchmark.test, strict=True)
    ]
    return _ModelOutcome(np.concatenate(by_entity), metrics, fitted - started, scored - fitted)


def as_input(series: Sequence[TrainSeries]) -> Any:
    """Series as a detector takes them: arrays by entity, or one array."""
    if series[0].entity is None:
        return series[0].values
    return {each.entity: each.values for each in series}


def mean_over_entities(metrics: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Mean of each metric over the entities."""
    return {name: _mean_defined([entity[name] for entity in metrics]) for name in metrics[0]}


def _mean_defined(values: list[float]) -> float:
    """Mean over the entities that a metric is defined for; nan without any."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan
