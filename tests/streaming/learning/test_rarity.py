"""How rarely so much comes."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.rarity import Rarity


def test_what_comes_once_in_the_period_has_severity_1() -> None:
    rarity = Rarity(1_000)
    rng = np.random.default_rng(0)
    rarity.learn(rng.exponential(size=50_000), 1.0)
    # of exponential amounts one in 1,000 exceeds log 1,000
    assert rarity.severity(np.array([np.log(1_000)]))[0] == pytest.approx(1, abs=0.03)
    assert rarity.severity(np.array([2 * np.log(1_000)]))[0] == pytest.approx(2, abs=0.1)


def test_a_longer_period_makes_the_same_less_severe() -> None:
    amount = np.array([9.0])
    assert Rarity(100).severity(amount)[0] == pytest.approx(2 * Rarity(10_000).severity(amount)[0])


def test_before_anything_was_counted_an_amount_stands_for_itself() -> None:
    # half of nothing in one of two rows, and an excess of 1
    expected = (np.log(2) + 3) / np.log(1_000)
    assert Rarity(1_000).severity(np.array([3.0]))[0] == pytest.approx(expected)


def test_what_came_often_of_late_is_not_rare() -> None:
    rarity = Rarity(1_000)
    rarity.learn(np.zeros(1_000), 1.0)
    before = rarity.severity(np.array([5.0]))[0]
    rarity.learn(np.full(100, 5.0), 1.0)
    assert rarity.severity(np.array([5.0]))[0] < before / 2


def test_counts_fade_and_are_restored() -> None:
    rarity, other = Rarity(1_000), Rarity(1_000)
    rarity.learn(np.full(10, 2.0), 1.0)
    rarity.learn(np.zeros(5), 0.5)
    assert rarity.counts.sum() == 10
    other.restore(rarity.state())
    assert other.severity(np.array([2.0])) == rarity.severity(np.array([2.0]))
