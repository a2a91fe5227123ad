"""Measures of rows: in a loop over every threshold, beside scikit-learn, in general."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
)

from evaluation.awkward import (
    AWKWARD,
    Pair,
    adjust_oracle,
    best_oracle,
    close,
    scored,
)
from subadjacent.evaluation.metrics import (
    auroc,
    average_precision,
    best_f1,
    best_point_adjusted_f1,
    f1,
    precision,
    recall,
)


def test_what_is_nothing_of_nothing_is_nan() -> None:
    for measure, predicted, labels, expected in (
        (precision, [0, 0], [0, 1], math.nan),
        (precision, [0, 1], [0, 0], 0.0),
        (precision, [0, 1], [1, 1], 1.0),
        (recall, [0, 1], [0, 0], math.nan),
        (recall, [0, 0], [0, 1], 0.0),
        (recall, [0, 1], [1, 1], 0.5),
        (f1, [0, 0], [0, 0], math.nan),
        (f1, [0, 1], [0, 0], 0.0),
        (f1, [0, 0], [0, 1], 0.0),
        (f1, [1, 0], [0, 1], 0.0),
        (f1, [1, 1], [1, 1], 1.0),
        (average_precision, [1.0, 2.0], [0, 0], math.nan),
        (average_precision, [1.0, 2.0], [1, 1], 1.0),
        (auroc, [1.0, 2.0], [0, 0], math.nan),
        (auroc, [1.0, 2.0], [1, 1], math.nan),
    ):
        assert close(measure(predicted, labels), expected), (measure, predicted, labels)


def check_against_loops(scores: Any, labels: Any) -> None:
    found, (expected, alarms) = best_f1(scores, labels), best_oracle(scores, labels)
    assert close(found.f1, expected)
    assert (np.array(scores) > found.threshold).tolist() == alarms
    adjusted = best_point_adjusted_f1(scores, labels)
    assert close(adjusted.f1, best_oracle(scores, labels, adjust_oracle)[0])


@given(scored())
def test_every_measure_agrees_with_its_loop(pair: Pair) -> None:
    check_against_loops(*pair)


def test_every_measure_agrees_with_its_loop_on_awkward_series() -> None:
    for scores, labels in AWKWARD:
        check_against_loops(scores, labels)


@given(scored(both=True))
def test_measures_are_those_of_scikit_learn(pair: Pair) -> None:
    scores, labels = pair
    assert close(average_precision(scores, labels), average_precision_score(labels, scores))
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    precisions, recalls, _ = precision_recall_curve(labels, scores)
    total = precisions + recalls
    curve = 2 * precisions * recalls / np.where(total > 0, total, 1)
    assert close(best_f1(scores, labels).f1, curve.max())
    predicted = [score > 0 for score in scores]
    assert close(f1(predicted, labels), f1_score(labels, predicted))
    assert close(recall(predicted, labels), recall_score(labels, predicted))
    if any(predicted):
        assert close(precision(predicted, labels), precision_score(labels, predicted))
