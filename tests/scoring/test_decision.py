"""A threshold, and the scale that it gives scores."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.scoring.decision import Decision

DECISION = Decision(threshold=3.0, typical=1.0, spread=0.5)


def test_a_row_at_the_threshold_is_not_anomalous() -> None:
    scores = np.array([2.9, 3.0, np.nextafter(3.0, 4.0), 5.0])
    assert DECISION.anomalous(scores).tolist() == [False, False, True, True]


def test_one_is_the_threshold_and_zero_a_typical_row_by_hand() -> None:
    found = DECISION.normalized(np.array([-1.0, 1.0, 2.0, 3.0, 7.0]))
    assert found.tolist() == [-1.0, 0.0, 0.5, 1.0, 3.0]


def test_a_row_at_the_threshold_is_as_likely_anomalous_as_not_by_hand() -> None:
    found = DECISION.probability(np.array([1.0, 3.0, 5.0]))
    np.testing.assert_allclose(found, [0.01, 0.5, 0.99])


@pytest.mark.parametrize("threshold", [-4.0, 0.5, 1.0, 1.0 + 1e-13])
def test_a_threshold_no_higher_than_a_typical_row_counts_in_spreads(threshold: float) -> None:
    decision = Decision(threshold, typical=1.0, spread=0.5)
    found = decision.normalized(np.array([threshold, threshold + 0.5]))
    np.testing.assert_allclose(found, [1.0, 2.0])


def test_where_all_scores_were_alike_the_unit_is_their_own() -> None:
    found = Decision(1.0, typical=1.0, spread=0.0).normalized(np.array([1.0, 1.0 + 3.0]))
    assert found.tolist() == [1.0, 4.0]


@pytest.mark.parametrize("decision", [DECISION, Decision(-1.0, 1.0, 0.5), Decision(0, 0, 0)])
def test_scale_and_probability_agree_with_the_threshold(decision: Decision) -> None:
    scores = np.random.default_rng(0).normal(size=200)
    anomalous = decision.anomalous(scores)
    np.testing.assert_array_equal(decision.normalized(scores) > 1, anomalous)
    np.testing.assert_array_equal(decision.probability(scores) > 0.5, anomalous)
    assert (np.diff(decision.probability(np.sort(scores))) >= 0).all()


def test_probabilities_stay_finite_far_out() -> None:
    found = DECISION.probability(np.array([-1e9, 1e9]))
    assert found.tolist() == [0.0, 1.0]
