"""Measures of rows: by hand, in a loop over every threshold, beside scikit-learn, in general."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
)

from counting import calls
from evaluation.awkward import Pair, adjust_oracle, awkward, best_oracle, every_threshold, scored
from subadjacent.evaluation.adjust import adjust_scores, point_adjust, point_adjust_k
from subadjacent.evaluation.metrics import (
    auroc,
    average_precision,
    best_f1,
    best_point_adjusted_f1,
    f1,
    precision,
    recall,
)


def close(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)


def average_precision_oracle(scores: Any, labels: Any) -> float:
    """Lower the threshold; at each step add the precision times the recall gained."""
    if not sum(labels):
        return math.nan
    total, before = 0.0, 0.0
    for threshold in list(every_threshold(scores))[1:]:
        hits = sum(1 for s, y in zip(scores, labels, strict=True) if s > threshold and y)
        alarmed = sum(1 for s in scores if s > threshold)
        total += (hits / sum(labels) - before) * hits / alarmed
        before = hits / sum(labels)
    return total


def auroc_oracle(scores: Any, labels: Any) -> float:
    """All pairs of an anomalous and a normal row: 1 if higher, one half if tied."""
    pairs = [
        (scores[i] > scores[j]) + (scores[i] == scores[j]) / 2
        for i in range(len(scores))
        for j in range(len(scores))
        if labels[i] and not labels[j]
    ]
    return float(sum(pairs) / len(pairs)) if pairs else math.nan


# rows 1 to 4 are anomalous; alarms at rows 0, 1 and 2
PREDICTED, LABELS = [1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 1, 0]
# falling: 9 (1), 7 (0), 5 (1), 5 (0), 2 (1), 1 (0)
SCORES, TRUTH = [5.0, 9, 2, 7, 1, 5], [1, 1, 1, 0, 0, 0]


def test_precision_recall_and_f1_by_hand() -> None:
    assert precision(PREDICTED, LABELS) == 2 / 3
    assert recall(PREDICTED, LABELS) == 2 / 4
    assert f1(PREDICTED, LABELS) == 4 / 7


def test_f1_of_adjusted_predictions_by_hand() -> None:
    assert f1(point_adjust(PREDICTED, LABELS), LABELS) == 8 / 9


def test_best_f1_by_hand() -> None:
    # alarms:       1        2        4        5        6
    # F1:          2/4      2/5      4/7      6/8      6/9
    assert best_f1(SCORES, TRUTH) == (0.75, 1.0)


def test_best_point_adjusted_f1_by_hand() -> None:
    # the three anomalous rows are one event, found at its highest score, 9
    assert best_point_adjusted_f1(SCORES, TRUTH) == (1.0, 7.0)


def test_average_precision_by_hand() -> None:
    # recall 1/3 at precision 1, 2/3 at 2/4 (the fives come together), 1 at 3/5
    assert close(average_precision(SCORES, TRUTH), (1 + 1 / 2 + 3 / 5) / 3)


def test_auroc_by_hand() -> None:
    # of nine pairs: 9 is above 3, 5 is above one and ties with one, 2 is above one
    assert auroc(SCORES, TRUTH) == 5.5 / 9


def test_of_thresholds_as_good_the_highest_is_taken() -> None:
    # one hit in one alarm and two in four: 2/3 both times
    assert best_f1([4.0, 3, 2, 1], [1, 0, 0, 1]) == (2 / 3, 3.0)


def test_when_all_rows_are_best_alarmed_the_threshold_lies_just_below() -> None:
    found = best_f1([2.0, 1.0], [1, 1])
    assert found == (1.0, np.nextafter(1.0, 0))


@pytest.mark.parametrize(
    ("measure", "predicted", "labels", "expected"),
    [
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
    ],
)
def test_what_is_nothing_of_nothing_is_nan(
    measure: Callable[..., float], predicted: list[int], labels: list[int], expected: float
) -> None:
    assert close(measure(predicted, labels), expected)


def test_without_anomalies_there_is_nothing_to_rank() -> None:
    scores, labels = np.array([3.0, 1, 2]), [0, 0, 0]
    assert math.isnan(auroc(scores, labels))
    assert math.isnan(average_precision(scores, labels))
    for best in (best_f1(scores, labels), best_point_adjusted_f1(scores, labels)):
        assert math.isnan(best.f1)
        assert not (scores > best.threshold).any()


def test_with_only_anomalies_every_alarm_is_right() -> None:
    scores, labels = np.array([3.0, 1, 2]), [1, 1, 1]
    assert math.isnan(auroc(scores, labels))
    assert average_precision(scores, labels) == 1
    assert best_f1(scores, labels).f1 == 1
    assert best_point_adjusted_f1(scores, labels) == (1, np.nextafter(3, 0))


@awkward
def test_best_f1_is_that_of_a_loop_over_every_threshold(scores: Any, labels: Any) -> None:
    found = best_f1(scores, labels)
    expected, alarms = best_oracle(scores, labels)
    assert close(found.f1, expected)
    assert (np.asarray(scores) > found.threshold).tolist() == alarms


@awkward
@pytest.mark.parametrize("k", [0, 20, 50])
def test_best_adjusted_f1_is_that_of_a_loop_over_every_threshold(
    scores: Any, labels: Any, k: float
) -> None:
    found = best_f1(adjust_scores(scores, labels, k), labels)
    expected, _ = best_oracle(scores, labels, lambda rows, truth: adjust_oracle(rows, truth, k))
    assert close(found.f1, expected)
    alarmed = np.asarray(scores) > found.threshold
    assert close(f1(point_adjust_k(alarmed, labels, k), labels), expected)
    if not k:
        assert found.threshold == best_point_adjusted_f1(scores, labels).threshold


@awkward
def test_ranking_measures_are_those_of_loops(scores: Any, labels: Any) -> None:
    assert close(average_precision(scores, labels), average_precision_oracle(scores, labels))
    assert close(auroc(scores, labels), auroc_oracle(scores, labels))


@given(scored())
def test_every_measure_agrees_with_its_loop(pair: Pair) -> None:
    scores, labels = pair
    found, (expected, alarms) = best_f1(scores, labels), best_oracle(scores, labels)
    assert close(found.f1, expected)
    assert (np.array(scores) > found.threshold).tolist() == alarms
    adjusted = best_point_adjusted_f1(scores, labels)
    assert close(adjusted.f1, best_oracle(scores, labels, adjust_oracle)[0])
    assert close(average_precision(scores, labels), average_precision_oracle(scores, labels))
    assert close(auroc(scores, labels), auroc_oracle(scores, labels))


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


@pytest.mark.parametrize("levels", [2, 10, 10**6])
def test_long_series_are_those_of_scikit_learn(levels: int) -> None:
    rng = np.random.default_rng(levels)
    labels = rng.random(20_000) < 0.05
    scores = rng.integers(levels, size=20_000) + labels * levels // 3
    assert close(average_precision(scores, labels), average_precision_score(labels, scores))
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


@given(scored())
def test_measures_stay_between_0_and_1_and_best_is_best(pair: Pair) -> None:
    scores, labels = np.array(pair[0]), pair[1]
    plain, adjusted = best_f1(scores, labels), best_point_adjusted_f1(scores, labels)
    found = [
        *(plain.f1, adjusted.f1, average_precision(scores, labels), auroc(scores, labels)),
        *(measure(scores > 0, labels) for measure in (precision, recall, f1)),
    ]
    assert all(0 <= value <= 1 for value in found if not math.isnan(value))
    if any(labels):
        # alarming every row is always possible; so is not adjusting, but for worse
        assert f1([1] * len(labels), labels) <= plain.f1 <= adjusted.f1
        assert f1(scores > plain.threshold, labels) == plain.f1
        assert f1(point_adjust(scores > adjusted.threshold, labels), labels) == adjusted.f1


@given(scored(both=True), st.sampled_from(["cube", "ranks", "double", "order"]))
def test_only_the_order_of_the_scores_matters(pair: Pair, how: str) -> None:
    # whole numbers: every transform below then keeps order and ties exactly
    scores, labels = np.unique(pair[0], return_inverse=True)[1].astype(float), np.array(pair[1])
    moved = {
        "cube": (scores - 3) ** 3,
        "ranks": np.searchsorted(np.unique(scores), scores),
        "double": 2 * scores - 7,
        "order": -np.exp2(-scores),
    }[how]
    for measure in (auroc, average_precision):
        assert measure(moved, labels) == measure(scores, labels)
    for best in (best_f1, best_point_adjusted_f1):
        before, after = best(scores, labels), best(moved, labels)
        assert after.f1 == before.f1
        assert ((moved > after.threshold) == (scores > before.threshold)).all()


@given(scored(both=True))
def test_the_opposite_score_has_the_opposite_auroc(pair: Pair) -> None:
    scores, labels = np.array(pair[0]), pair[1]
    assert close(auroc(scores, labels) + auroc(-scores, labels), 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_noise_looks_far_better_after_point_adjustment(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.zeros(10_000, dtype=int)
    for start in (1_000, 4_000, 7_000):
        labels[start : start + 400] = 1
    noise = rng.random(10_000)
    assert best_f1(noise, labels).f1 < 0.25
    assert best_point_adjusted_f1(noise, labels).f1 > 0.8


def test_noise_looks_less_good_the_more_of_an_event_must_be_found() -> None:
    labels = np.repeat([0, 1, 0, 1, 0], [3_000, 500, 3_000, 500, 3_000])
    noise = np.random.default_rng(0).random(len(labels))
    found = [best_f1(adjust_scores(noise, labels, k), labels).f1 for k in (0, 5, 20, 50, 100)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.9
    assert found[-1] == best_f1(noise, labels).f1 < 0.25


def test_no_loop_goes_over_thresholds() -> None:
    def work(rows: int) -> int:
        rng = np.random.default_rng(0)
        labels = np.repeat(rng.random(100) < 0.1, rows // 100)
        scores = rng.normal(size=rows)
        return calls(
            lambda: (
                best_f1(scores, labels),
                best_point_adjusted_f1(scores, labels),
                average_precision(scores, labels),
                auroc(scores, labels),
            )
        )

    assert work(1_000_000) < 2 * work(10_000)
