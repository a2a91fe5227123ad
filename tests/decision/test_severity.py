"""Severity: 1 at the level, one more for every ten times as rare, a share of the way below."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.decision.extremes import Tail
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.severity import as_severity, severity

# above 2, scores exceed 2 + x with chance 0.01 (1 + x / 5) ** -10: a shape of 0.1, a scale of 0.5
NORMAL = NormalScores(1.0, 2.0, 0.5, 1_000, Tail(2.0, 0.1, 0.5, 0.01))


def test_severity_by_hand() -> None:
    # half of the way from a typical row (1) to the level (2), the level, and below a typical row
    assert severity(np.array([1.5, 2.0, 0.5]), 2.0, NORMAL).tolist() == [0.5, 1.0, -0.5]
    # a tenth as rare: (1 + x / 5) ** -10 = 0.1
    tenth = 2 + 5 * (10**0.1 - 1)
    np.testing.assert_allclose(severity(np.array([tenth]), 2.0, NORMAL), [2.0])


def test_severity_is_the_ratio_of_chances_whatever_the_level() -> None:
    scores = np.array([3.0, 5.0, 20.0])
    for level in (2.0, 2.5, 4.0):
        for score in scores[scores > level]:
            ratio = NORMAL.tail.chance(level) / NORMAL.tail.chance(score)
            found = severity(np.array([score]), level, NORMAL)
            np.testing.assert_allclose(found, [1 + np.log10(ratio)])


def test_a_tail_that_ends_makes_no_severity_infinite() -> None:
    bounded = NormalScores(1.0, 2.0, 0.5, 1_000, Tail(2.0, -0.5, 0.5, 0.01))
    found = severity(np.array([3.0, 1e3, 1e9]), 2.0, bounded)
    assert np.isfinite(found).all()
    assert (np.diff(found) > 0).all()


def test_where_all_normal_scores_are_alike_the_unit_is_their_own() -> None:
    alike = NormalScores(0.0, 0.0, 0.0, 100, Tail(0.0, 0.0, 0.0, 0.0))
    assert severity(np.array([-1.0, 0.0]), 0.0, alike).tolist() == [0.0, 1.0]
    # a level below a typical row: spreads are the unit
    assert severity(np.array([0.5]), 1.0, NORMAL).tolist() == [0.0]


@given(
    st.lists(st.floats(-10, 1e6), min_size=2, max_size=20),
    st.floats(-5, 50),
    st.floats(-0.9, 0.9),
)
def test_severity_rises_with_the_score_and_is_one_at_the_level(
    scores: list[float], level: float, shape: float
) -> None:
    normal = NormalScores(1.0, 2.0, 0.5, 1_000, Tail(2.0, shape, 0.5, 0.01))
    ordered = np.sort(scores)
    found = severity(ordered, level, normal)
    assert (np.diff(found) >= 0).all()
    assert ((found > 1) == (ordered > level))[np.abs(ordered - level) > 1e-6].all()


def test_return_periods_as_severity_by_hand() -> None:
    requested = np.log(1_000)
    periods = np.log([1.0, np.sqrt(1_000), 1_000, 10_000, 1e6])
    np.testing.assert_allclose(as_severity(periods, requested), [0, 0.5, 1, 2, 4])
