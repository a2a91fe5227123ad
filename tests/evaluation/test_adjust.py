"""Point adjustment, against a walk over rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.awkward import Pair, adjust_oracle, every_threshold, scored
from subadjacent.evaluation.adjust import adjust_scores, point_adjust, point_adjust_k

percents = st.one_of(st.integers(0, 100), st.sampled_from([33.3, 100 / 3, 50.0, 66.7, 99.9]))


@given(scored(), percents)
def test_adjustment_is_that_of_a_walk_over_rows(pair: Pair, k: float) -> None:
    scores, labels = pair
    predicted = [score > 0 for score in scores]
    assert point_adjust(predicted, labels).tolist() == adjust_oracle(predicted, labels)
    assert point_adjust_k(predicted, labels, k).tolist() == adjust_oracle(predicted, labels, k)


@given(scored(), percents)
def test_adjusted_scores_pass_every_threshold_where_adjusted_predictions_do(
    pair: Pair, k: float
) -> None:
    scores, labels = np.array(pair[0]), pair[1]
    adjusted = adjust_scores(scores, labels, k)
    for threshold in every_threshold(scores):
        expected = point_adjust_k(scores > threshold, labels, k)
        np.testing.assert_array_equal(adjusted > threshold, expected)
