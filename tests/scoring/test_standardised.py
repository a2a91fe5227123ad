"""Residuals on several scales, in units of what is usual."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.scoring.standardised import (
    FLOOR,
    SCALES,
    SOFTNESS,
    SPREAD,
    SPREAD_WEIGHT,
    Usual,
    averaged,
    averages,
    learn_usual,
    moving_mean,
)


def test_a_mean_over_three_rows_by_hand() -> None:
    values = np.array([3.0, 6.0, 9.0, 0.0])
    assert moving_mean(values, 3, causal=False).tolist() == [4.5, 6.0, 5.0, 4.5]
    assert moving_mean(values, 3, causal=True).tolist() == [3.0, 4.5, 6.0, 5.0]


def slow_mean(values: NDArray[np.float64], length: int, causal: bool) -> NDArray[np.float64]:
    """The definition read aloud."""
    ahead = 0 if causal else (length - 1) // 2
    found = []
    for row in range(len(values)):
        rows = [
            other
            for other in range(row + ahead + 1 - length, row + ahead + 1)
            if 0 <= other < len(values)
        ]
        found.append(values[rows].mean(axis=0))
    return np.array(found)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 10, 40])
@pytest.mark.parametrize("rows", [1, 2, 7, 39, 100])
def test_the_mean_is_the_definition(rows: int, length: int, causal: bool) -> None:
    values = np.random.default_rng(rows).normal(size=(rows, 3))
    np.testing.assert_allclose(
        moving_mean(values, length, causal=causal), slow_mean(values, length, causal), atol=1e-12
    )


def test_a_lasting_residual_of_one_by_hand() -> None:
    usual = Usual(np.array([[1.0], [0.1], [0.025]]), np.array([0.5]))
    found = usual.surprise(np.ones((200, 1)), causal=False)
    wanted = np.mean([math.log1p(1 / (v + FLOOR) / SOFTNESS) for v in (1.0, 0.1, 0.025)])
    # the average of ones is one on every scale, and so is the average of their squares
    wanted += SPREAD_WEIGHT * math.log(1 / 0.5)
    np.testing.assert_allclose(found[40:-40], wanted)
    # at the ends averages over fewer rows are held back
    assert (found[[0, -1]] < wanted).all()


def test_averages_over_fewer_rows_are_held_back_by_hand() -> None:
    ones = np.ones((5, 1))
    # of four rows one, two, three, and then all are there
    wanted = [math.sqrt(rows / 4) for rows in (1, 2, 3, 4, 4)]
    np.testing.assert_allclose(averages(ones, 4, causal=True)[:, 0], wanted)
    # one row ahead, two behind
    wanted = [math.sqrt(rows / 4) for rows in (2, 3, 4, 4, 3)]
    np.testing.assert_allclose(averages(ones, 4, causal=False)[:, 0], wanted)


@pytest.mark.parametrize("causal", [False, True])
def test_averages_of_noise_are_as_large_at_the_ends_as_within(causal: bool) -> None:
    noise = np.random.default_rng(0).normal(size=(100, 20_000))
    for scale in SCALES:
        squares = (averages(noise, scale, causal=causal) ** 2).mean(axis=1)
        np.testing.assert_allclose(squares, 1 / scale, rtol=0.05)


def test_white_noise_is_usual_less_and_less_the_more_it_is_averaged() -> None:
    noise = np.random.default_rng(0).normal(size=(100_000, 1))
    squares = learn_usual([noise], causal=False).usual.squares[:, 0]
    np.testing.assert_allclose(squares, [1 / scale for scale in SCALES], rtol=0.05)


def test_a_restless_tenth_makes_more_usual_than_the_mean_does() -> None:
    residuals = np.concatenate([np.full((900, 1), 0.1), np.full((100, 1), 1.0)])
    found = learn_usual([residuals], causal=False).usual.squares[0, 0]
    # nine blocks of 0.01, one of 1
    assert found == pytest.approx(math.sqrt((9 * 0.01**2 + 1) / 10))
    assert found > (residuals**2).mean()


def test_stretches_are_averaged_each_by_itself() -> None:
    up, down = np.ones((400, 1)), -np.ones((400, 1))
    apart = learn_usual([up, down], causal=False).usual.squares[2, 0]
    # over 40 rows, the 20 at each end have half to all of them
    assert apart == pytest.approx(1 - 0.25 * 20 * 4 / 800, abs=0.003)
    # where they meet, the mean goes from 1 to -1
    joined = learn_usual([np.concatenate([up, down])], causal=False).usual.squares[2, 0]
    assert joined == pytest.approx(1 - (0.25 * 20 * 2 + 40 * 2 / 3) / 800, abs=0.003)


def test_only_judged_rows_say_what_is_usual() -> None:
    residuals, judged = np.zeros((100, 1)), np.zeros(100, dtype=bool)
    residuals[50:], judged[50:] = 2.0, True
    found = learn_usual([residuals], causal=True, judged=[judged]).usual
    assert found.squares[0, 0] == pytest.approx(4.0)
    never = learn_usual([residuals], causal=True, judged=[np.zeros(100, dtype=bool)]).usual
    assert never.surprise(np.full((5, 1), 1e3), causal=True).max() < 1e-6


def test_rows_that_are_alike_tie() -> None:
    surprise = np.full((4, 2), 0.1) + np.array([[1e-12], [0], [-1e-12], [0]])
    assert len(set(averaged(surprise, 1, causal=True))) == 1


def test_fewer_rows_than_blocks_are_enough() -> None:
    assert np.isfinite(learn_usual([np.ones((3, 2))], causal=True).usual.squares).all()


def test_a_causal_surprise_does_not_change_when_rows_follow() -> None:
    residuals = np.random.default_rng(1).normal(size=(300, 4))
    usual = learn_usual([residuals], causal=True).usual
    whole = usual.surprise(residuals, causal=True)
    np.testing.assert_allclose(usual.surprise(residuals[:120], causal=True), whole[:120])
    assert not np.allclose(
        usual.surprise(residuals[:120], causal=False), usual.surprise(residuals, causal=False)[:120]
    )


def test_surprise_grows_with_the_residual_and_is_never_negative() -> None:
    usual = Usual(np.full((len(SCALES), 1), 0.5), np.full(1, 0.5))
    sizes = np.linspace(0, 1000, 50)
    found = [usual.surprise(np.full((1, 1), size), causal=True).item() for size in sizes]
    assert found[0] == 0
    assert (np.diff(found) > 0).all()


def test_a_score_is_the_mean_of_three_averages_by_hand() -> None:
    surprise = np.zeros((7, 2))
    surprise[3] = [6.0, 12.0]  # 9 on average
    # the row itself 9; over 2 rows 4.5; over 6 rows 1.5, from row 1 to row 6
    assert averaged(surprise, 2, causal=True)[3] == pytest.approx((9 + 4.5 + 9 / 4) / 3)
    assert averaged(surprise, 2, causal=True)[6] == pytest.approx((0 + 0 + 1.5) / 3)
    assert averaged(surprise, 1, causal=True).tolist() == [0, 0, 0, 9, 0, 0, 0]


def test_restlessness_counts_whatever_the_sign() -> None:
    rng = np.random.default_rng(2)
    usual = learn_usual([rng.normal(size=(5000, 1))], causal=False).usual
    calm, restless = (size * rng.choice([-1.0, 1.0], size=(400, 1)) for size in (1.0, 3.0))
    more = usual.surprise(restless, causal=False) - usual.surprise(calm, causal=False)
    # nine times the usual square, over what one row in a hundred has
    assert more[SPREAD:-SPREAD].min() > SPREAD_WEIGHT * math.log(9 / 1.8)


def test_rows_are_held_against_what_is_usual_in_others() -> None:
    residuals = np.full((1000, 1), 0.1)
    residuals[600:800] = 5.0
    usual, surprise = learn_usual([residuals], causal=False)
    # a fold that is like no other: to all rows together, itself among them, it is less of one
    assert surprise[0][700, 0] > usual.surprise(residuals, causal=False)[700, 0] + 1
    assert surprise[0][100, 0] == pytest.approx(
        usual.surprise(residuals, causal=False)[100, 0], abs=0.01
    )


def test_a_single_row_is_held_against_itself() -> None:
    usual, surprise = learn_usual([np.full((1, 2), 3.0)], causal=True)
    assert surprise[0].shape == (1, 2)
    np.testing.assert_allclose(surprise[0], usual.surprise(np.full((1, 2), 3.0), causal=True))
