"""Plain metrics of one series of scores, and those of a random score for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.errors import InputError
from subadjacent.evaluation.events import (
    detection_delay,
    events_found,
    false_alarm_runs,
    false_alarms_per_1000,
)
from subadjacent.evaluation.inputs import check_predicted, check_scored, check_threshold
from subadjacent.evaluation.metrics import auroc, average_precision, best_f1, f1, precision, recall
from subadjacent.evaluation.segments import segments

RANDOM_SERIES = 20


def summarise(scores: ArrayLike, labels: ArrayLike, threshold: float) -> dict[str, float]:
    """All plain measures, none of them adjusted; rows above ``threshold`` are alarmed.

    ``auroc`` and ``average_precision`` do not depend on the threshold. ``oracle_f1`` does not
    either: it is the F1 at the threshold that the labels would choose. What is undefined is nan,
    as the docstring of each measure says.
    """
    values, anomalous = check_scored(scores, labels)
    return _summarise(values, anomalous, values > check_threshold(threshold))


def _summarise(
    values: NDArray[np.float64], anomalous: NDArray[np.bool_], alarmed: NDArray[np.bool_]
) -> dict[str, float]:
    return {
        "precision": precision(alarmed, anomalous),
        "recall": recall(alarmed, anomalous),
        "f1": f1(alarmed, anomalous),
        "average_precision": average_precision(values, anomalous),
        "auroc": auroc(values, anomalous),
        "oracle_f1": best_f1(values, anomalous).f1,
        "alarm_rate": float(alarmed.mean()),
        "events": float(len(segments(anomalous))),
        "events_found": float(events_found(alarmed, anomalous)),
        "detection_delay": detection_delay(alarmed, anomalous),
        "false_alarms_per_1000": false_alarms_per_1000(alarmed, anomalous),
        "false_alarm_runs": float(false_alarm_runs(alarmed, anomalous)),
    }


def with_controls(
    scores: ArrayLike, labels: ArrayLike, threshold: float, rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """``summarise`` for these scores, and its mean over 20 random scores that alarm as often.

    A measure on which both rows are alike says nothing for the detector. The mean leaves out
    random scores for which a measure is undefined, such as the delay when nothing was found.
    """
    values, _ = check_scored(scores, labels)
    return decided_with_controls(values, labels, values > check_threshold(threshold), rng)


def decided_with_controls(
    scores: ArrayLike, labels: ArrayLike, alarmed: ArrayLike, rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """The same where no one threshold says it: ``alarmed`` is 1 for the rows of alarms, else 0."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator; got {rng!r}")
    values, anomalous = check_scored(scores, labels)
    flagged, _ = check_predicted(alarmed, anomalous)
    return {
        "this detector": _summarise(values, anomalous, flagged),
        "random score": _random(anomalous, int(flagged.sum()), rng),
    }


def _random(labels: NDArray[np.bool_], alarms: int, rng: np.random.Generator) -> dict[str, float]:
    """Mean summary of random scores of which exactly ``alarms`` rows are alarmed."""
    n = len(labels)
    # the ranks of a uniform score: every measure depends on these alone, and they have no ties,
    # so that a threshold alarms as many rows as it should
    rows = [
        summarise(rng.permutation(n).astype(np.float64), labels, n - alarms - 1)
        for _ in range(RANDOM_SERIES)
    ]
    return {name: _mean_defined([row[name] for row in rows]) for name in rows[0]}


def _mean_defined(values: list[Any]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan
