"""One row of everything: each number is its measure, and the row is quick enough for sweeps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.awkward import Pair, scored
from subadjacent.evaluation.adjust import point_adjust
from subadjacent.evaluation.affiliation import affiliation
from subadjacent.evaluation.all_metrics import all_metrics
from subadjacent.evaluation.metrics import (
    best_pa_k_area,
    best_point_adjusted_f1,
    f1,
    pa_k_area,
)
from subadjacent.evaluation.ranges import range_f1
from subadjacent.evaluation.summary import summarise
from subadjacent.evaluation.volume import volumes

SCORES, LABELS = [5.0, 1, 9, 7, 0, 0, 8, 0], [0, 1, 1, 1, 0, 0, 0, 1]


def test_a_row_by_hand() -> None:
    found = all_metrics(SCORES, LABELS, np.asarray(SCORES) > 5.0, window=4)
    # alarmed are rows 2, 3 and 6; with rows 1 to 3 as one event, four rows of which three count
    assert found["point_adjusted_precision"] == 3 / 4
    assert found["point_adjusted_recall"] == 3 / 4
    assert found["point_adjusted_f1"] == 3 / 4
    # at 9 alone: three rows of four, none false
    assert found["oracle_point_adjusted_precision"] == 1
    assert found["oracle_point_adjusted_recall"] == 3 / 4
    assert found["oracle_point_adjusted_f1"] == 6 / 7
    assert found["range_precision"] == 1 / 2
    assert found["range_recall"] == pytest.approx(1 / 3)
    assert found["range_f1"] == pytest.approx(2 / 5)


@settings(max_examples=40, deadline=None)
@given(scored(), st.sampled_from([-math.inf, 0.0, math.inf]), st.sampled_from([0, 5]))
def test_each_number_is_its_measure(pair: Pair, threshold: float, window: int) -> None:
    scores, labels = np.array(pair[0]), pair[1]
    alarmed = scores > threshold
    found = all_metrics(scores, labels, scores > threshold, window=window)
    assert all(type(value) is float for value in found.values())
    near = affiliation(alarmed, labels)
    expected = {
        **summarise(scores, labels, scores > threshold),
        "vus_roc_tsb_ad": volumes(scores, labels, window).roc,
        "vus_pr_tsb_ad": volumes(scores, labels, window).pr,
        "vus_roc_original": volumes(scores, labels, window, variant="original").roc,
        "vus_pr_original": volumes(scores, labels, window, variant="original").pr,
        "range_f1": range_f1(alarmed, labels),
        "affiliation_precision": near.precision,
        "affiliation_recall": near.recall,
        "affiliation_f1": near.f1,
        "point_adjusted_f1": f1(point_adjust(alarmed, labels), labels),
        "oracle_point_adjusted_f1": best_point_adjusted_f1(scores, labels).f1,
        "pa_k_area": pa_k_area(alarmed, labels),
        "oracle_pa_k_area": best_pa_k_area(scores, labels),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, nan_ok=True)
    # precision and recall under the oracle are those that make its F1
    p, r = found["oracle_point_adjusted_precision"], found["oracle_point_adjusted_recall"]
    if any(labels):
        assert 2 * p * r / (p + r) == pytest.approx(found["oracle_point_adjusted_f1"])
