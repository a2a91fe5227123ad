"""Area of PA%K over K: with every K and threshold in turn."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from evaluation.awkward import Pair, close, scored, series
from evaluation.slow import best_pa_k_area_oracle, pa_k_area_oracle
from subadjacent.evaluation.metrics import (
    best_pa_k_area,
    pa_k_area,
)


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
