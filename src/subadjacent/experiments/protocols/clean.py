"""The protocol that shows what a user would get: no label reaches fit, score or threshold.

Scaling by training rows, early stopping on their tail, one score for every dataset, a threshold
from training scores. One model scores every entity; measures are means over entities.
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
from subadjacent.evaluation.battery import all_metrics
from subadjacent.evaluation.metrics import auroc, average_precision, best_f1
from subadjacent.experiments.datasets import cut_entities, load
from subadjacent.experiments.methods import build
from subadjacent.experiments.run import Run


def execute(run: Run, root: str | None, device: str) -> dict[str, Any]:
    """Fit, score and judge; one row of results."""
    benchmark = load(run, root)
    parts = cut_entities(benchmark) if run.per_entity else [benchmark]
    found = [_one_model(run, part, device) for part in parts]
    measures = [one for part in found for one in part.measures]
    scores = np.concatenate([part.scores for part in found])
    labels = np.concatenate([one.labels for one in benchmark.test])
    return (
        mean_over_entities(measures)
        | {
            "pooled_auroc": auroc(scores, labels),
            "pooled_average_precision": average_precision(scores, labels),
            "pooled_oracle_f1": best_f1(scores, labels).f1,
        }
        | {
            "fit_seconds": sum(part.fit_seconds for part in found),
            "score_seconds": sum(part.score_seconds for part in found),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """One fitted detector's scores, and its measures entity by entity."""

    scores: NDArray[Any]
    measures: list[dict[str, float]]
    fit_seconds: float
    score_seconds: float


def _one_model(run: Run, part: Benchmark, device: str) -> _Judged:
    detector = build(run, device)
    started = time.perf_counter()
    detector.fit(named(part.train))
    fitted = time.perf_counter()
    scores = detector.decision_function(named([one.rows for one in part.test]))
    scored = time.perf_counter()
    each = list(scores.values()) if isinstance(scores, dict) else [scores]
    measures = [
        all_metrics(one, test.labels, detector.threshold_)
        for one, test in zip(each, part.test, strict=True)
    ]
    return _Judged(np.concatenate(each), measures, fitted - started, scored - fitted)


def named(series: Sequence[TrainSeries]) -> Any:
    """As a detector takes them: by entity, or one array."""
    if series[0].entity is None:
        return series[0].values
    return {one.entity: one.values for one in series}


def mean_over_entities(measures: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Of each measure."""
    return {name: _mean([one[name] for one in measures]) for name in measures[0]}


def _mean(values: list[float]) -> float:
    """Over the entities that a measure is defined for."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan
