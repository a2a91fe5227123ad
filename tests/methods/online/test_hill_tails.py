"""How rare a value is, by the values before it."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.hill_tails import HillTails

ONES = np.ones


def test_a_value_that_a_twentieth_reaches_has_the_surprise_of_a_twentieth() -> None:
    tails = HillTails(1)
    values = np.array([1.0] * 95 + [np.e] * 5)[:, None]
    tails.learn(values, ONES(100), 1.0)
    # 5 of 100 are there, counted with half a value more in one more
    assert tails.surprise(np.array([[np.e]]))[0, 0] == pytest.approx(-np.log(5.5 / 101))


def test_beyond_what_was_seen_surprise_grows_with_the_logarithm() -> None:
    tails = HillTails(1)
    tails.learn(np.array([1.0] * 95 + [np.e] * 5)[:, None], ONES(100), 1.0)
    near, far = tails.surprise(np.array([[np.e], [np.e**3]]))[:, 0]
    # five values at half a bin beyond where the tail begins, five taken as seen at a quarter
    excess = (5 * 0.0625 + 5 * 0.25) / 10
    assert far - near == pytest.approx(2 / excess)


@pytest.mark.parametrize("shape", [1.0, 2.0, 4.0])
def test_the_surprise_in_a_heavy_tail_is_right(shape: float) -> None:
    rng = np.random.default_rng(0)
    tails = HillTails(1)
    tails.learn(rng.pareto(shape, (20_000, 1)) + 1, ONES(20_000), 1.0)
    rare = 1e-4 ** (-1 / shape)  # exceeded once in 10,000
    assert tails.surprise(np.array([[rare]])).item() == pytest.approx(np.log(1e4), rel=0.1)


def test_traces_are_counted_by_themselves_and_old_values_fade() -> None:
    tails = HillTails(2)
    tails.learn(np.tile([1.0, 100.0], (50, 1)), ONES(50), 1.0)
    first, second = tails.surprise(np.array([[100.0, 100.0]]))[0]
    assert first > 10 > 1 > second
    for _ in range(100):
        tails.learn(np.tile([100.0, 100.0], (10, 1)), ONES(10), 0.9)
    assert np.ptp(tails.surprise(np.array([[100.0, 100.0]]))) < 0.01


def test_a_row_counts_by_its_weight() -> None:
    whole, tenth = HillTails(1), HillTails(1)
    for tails, weight in ((whole, 1.0), (tenth, 0.1)):
        tails.learn(np.ones((100, 1)), ONES(100), 1.0)
        tails.learn(np.full((10, 1), 50.0), np.full(10, weight), 1.0)
    at = np.array([[50.0]])
    assert tenth.surprise(at).item() > whole.surprise(at).item() + 1


def test_nothing_and_what_is_beyond_the_bins_are_counted() -> None:
    tails = HillTails(1)
    tails.learn(np.array([[0.0], [1e300]]), ONES(2), 1.0)
    assert tails.counts.sum() == 2
    assert np.isfinite(tails.surprise(np.array([[0.0], [1e300]]))).all()


def test_what_was_counted_is_restored() -> None:
    tails, other = HillTails(2), HillTails(2)
    tails.learn(np.random.default_rng(1).exponential(size=(100, 2)), ONES(100), 1.0)
    other.restore(tails.counts)
    at = np.array([[1.0, 9.0]])
    assert (other.surprise(at) == tails.surprise(at)).all()
