"""How loud parts of a score are, and which are turned down."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.scoring.loudness import FAINT, TOLERANCE, Loudness, typical


def peers(loud: NDArray[np.float64]) -> Loudness:
    """Parts that all judge every row."""
    return Loudness(loud, np.ones(len(loud), dtype=bool))


def test_what_is_typical_by_hand() -> None:
    surprise = [np.array([[1.0, 3.0], [0.0, 0.0], [9.0, 9.0]]), np.array([[4.0, 4.0]])]
    judged = [np.array([True, True, False]), np.array([True])]
    # means over channels of judged rows: 2, 0, 4
    assert typical(surprise, judged, 100.0) == 200.0


def test_without_a_judged_row_there_is_silence() -> None:
    assert typical([np.ones((3, 2))], [np.zeros(3, dtype=bool)], 100.0) == 0.0


def test_what_is_louder_than_the_rest_is_turned_down_by_hand() -> None:
    # the one that is silent is no peer: the median of 1, 2, 4, 8 and 0.5 is 2, and 4 is borne
    found = peers(np.array([1.0, 2.0, 0.0, 4.0, 8.0, 0.5]))
    assert found.common == 2.0
    assert found.factors() == [1.0, 1.0, 1.0, 1.0, 0.5, 1.0]
    assert found.factor(40.0) == 0.1


def test_one_that_judges_only_some_rows_says_nothing_of_the_others_by_hand() -> None:
    # the median of 4 and 8 is 6: without the two quiet ones, 8 is borne, and so is 4
    found = Loudness(np.array([4.0, 8.0, 1.0, 1.0]), np.array([True, True, False, False]))
    assert found.common == 6.0
    assert found.factors() == [1.0, 1.0, 1.0, 1.0]
    # it is turned down itself, should it be too loud
    loud = Loudness(np.array([4.0, 8.0, 24.0]), np.array([True, True, False]))
    assert loud.factors() == [1.0, 1.0, 0.5]


def test_the_order_of_parts_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    loud, order = rng.exponential(size=9), rng.permutation(9)
    shuffled = peers(loud[order]).factors()
    assert shuffled == [peers(loud).factors()[one] for one in order]


@pytest.mark.parametrize("size", [0.1, 1.0, 1e6])
def test_it_is_the_same_in_any_unit(size: float) -> None:
    loud = 0.2 + np.random.default_rng(1).exponential(size=9)
    assert min(peers(loud).factors()) < 1
    np.testing.assert_allclose(peers(size * loud).factors(), peers(loud).factors())


@pytest.mark.parametrize("times", [2.0, 10.0, 1e9])
def test_a_part_that_is_loud_counts_no_more_when_it_gets_louder(times: float) -> None:
    """And no less: it is brought to twice what is common, which one part does not move."""
    loud = np.array([1.0, 1.1, 0.9, 1.0, 1.2, 0.8, 1.0, 1.3, 0.7])
    loud[7] *= times
    found = peers(loud)
    assert found.common == 1.0
    assert loud[7] * found.factors()[7] == pytest.approx(2.0)
    assert found.factors()[:7] == [1.0] * 7


def test_a_part_with_noise_gets_less_than_one_that_is_calm_but_for_bursts() -> None:
    rng = np.random.default_rng(2)
    # squares of the same mean
    noise, bursts = rng.normal(size=(4000, 3)) ** 2, np.full((4000, 3), 0.01)
    bursts[::100] = 99.0
    every = [np.ones(4000, dtype=bool)]
    loud = [typical([np.log1p(one / 100)], every, 100.0) for one in (bursts, bursts, noise)]
    assert peers(np.array(loud)).factors() == [1.0, 1.0, pytest.approx(0.03, rel=0.5)]


def test_without_a_peer_that_is_heard_nothing_is_too_loud() -> None:
    found = peers(np.array([0.0, 1e-9]))
    assert found.factors() == [1.0, 1.0]
    assert found.factor(1e9) == 1.0


@pytest.mark.parametrize("loud", [[0.0, 1e-9, 1e-4], [FAINT, 0.0, 1e-5]])
def test_where_hardly_anything_is_heard_nothing_is_turned_down(loud: list[float]) -> None:
    found = peers(np.array(loud))
    assert found.factors() == [1.0, 1.0, 1.0]
    assert found.factor(1.0) == pytest.approx(TOLERANCE * FAINT)
