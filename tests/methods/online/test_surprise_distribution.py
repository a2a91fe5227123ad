"""The severity of surprise by its return period."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.surprise_distribution import SurpriseDistribution


def test_a_surprise_of_the_accepted_return_period_has_severity_1() -> None:
    distribution = SurpriseDistribution(1_000)
    rng = np.random.default_rng(0)
    distribution.learn(rng.exponential(size=50_000), 1.0)
    # of exponential amounts one in 1,000 exceeds log 1,000
    assert distribution.severity(np.array([np.log(1_000)]))[0] == pytest.approx(1, abs=0.03)
    assert distribution.severity(np.array([2 * np.log(1_000)]))[0] == pytest.approx(2, abs=0.1)


def test_a_longer_period_makes_the_same_less_severe() -> None:
    amount = np.array([9.0])
    assert SurpriseDistribution(100).severity(amount)[0] == pytest.approx(
        2 * SurpriseDistribution(10_000).severity(amount)[0]
    )


def test_before_anything_was_counted_the_excess_is_that_of_the_prior() -> None:
    # one of two rows reaches 0, and the mean excess is 1
    expected = (np.log(2) + 3) / np.log(1_000)
    assert SurpriseDistribution(1_000).severity(np.array([3.0]))[0] == pytest.approx(expected)


def test_what_came_often_of_late_is_not_rare() -> None:
    distribution = SurpriseDistribution(1_000)
    distribution.learn(np.zeros(1_000), 1.0)
    before = distribution.severity(np.array([5.0]))[0]
    distribution.learn(np.full(100, 5.0), 1.0)
    assert distribution.severity(np.array([5.0]))[0] < before / 2


def test_counts_fade_and_are_restored() -> None:
    distribution, other = SurpriseDistribution(1_000), SurpriseDistribution(1_000)
    distribution.learn(np.full(10, 2.0), 1.0)
    distribution.learn(np.zeros(5), 0.5)
    assert distribution.counts.sum() == 10
    other.restore(distribution.state())
    assert other.severity(np.array([2.0])) == distribution.severity(np.array([2.0]))
