"""Area of PA%K over K: by hand, with every K and threshold in turn, beside its single steps."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from evaluation.awkward import Pair, close, scored, series
from evaluation.slow import best_pa_k_area_oracle, pa_k_area_oracle
from subadjacent.evaluation.adjust import hits_over_k
from subadjacent.evaluation.metrics import (
    best_pa_k_area,
    pa_k_area,
)


def test_area_by_hand() -> None:
    # one of four rows is found: all four for K = 0 to 24, one from K = 25 on
    predicted, labels = [0, 1, 0, 0, 0], [1, 1, 1, 1, 0]
    assert hits_over_k(predicted, labels).tolist() == [4] * 25 + [1] * 76
    assert close(pa_k_area(predicted, labels), (24 * 1 + (1 + 2 / 5) / 2 + 75 * 2 / 5) / 100)


def test_best_area_by_hand() -> None:
    # the event's rows score 9 and 1, a normal row 5. K < 50: the 9 is enough, F1 is 1; from 50 on
    # 9 alone gives 2/3, and all three rows 4/5
    assert close(best_pa_k_area([9.0, 1.0, 5.0], [1, 1, 0]), (49 + 0.9 + 50 * 0.8) / 100)


@settings(max_examples=25, deadline=None)
@given(scored())
def test_areas_are_those_of_a_walk_over_rows(pair: Pair) -> None:
    predicted = [int(score > 0) for score in pair[0]]
    assert close(pa_k_area(predicted, pair[1]), pa_k_area_oracle(predicted, pair[1]))


@pytest.mark.parametrize(("n", "levels"), [(1, None), (7, 3), (20, None), (30, 4)])
def test_best_areas_are_those_of_every_threshold(n: int, levels: int | None) -> None:
    scores, labels = series(n, seed=n, levels=levels)
    slow = best_pa_k_area_oracle(scores.tolist(), labels.tolist())
    assert close(best_pa_k_area(scores, labels), slow)


def test_what_is_undefined() -> None:
    assert math.isnan(pa_k_area([0, 0], [0, 0]))
    assert math.isnan(best_pa_k_area([1.0], [0]))
    assert pa_k_area([0, 1], [0, 0]) == pa_k_area([0, 0], [0, 1]) == pa_k_area([1, 0], [0, 1]) == 0
    assert pa_k_area([1, 1], [1, 1]) == best_pa_k_area([1.0, 1.0], [1, 1]) == 1
