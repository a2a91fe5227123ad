"""The lowest level at which most alarms are real: by hand, its order, and on pure noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.scoring.extremes import Tail
from subadjacent.scoring.normal import (
    EXCURSION_GAP,
    NormalScores,
    excursions,
    level_of_one,
    lowest_level,
)

# 10 excursions above 10 in a thousand rows, 10 / e above 11, 10 / e**2 above 12
NORMAL = NormalScores(
    typical=0.0, high=10.0, spread=1.0, rows=1000, tail=Tail(10.0, shape=0.0, scale=1.0, rate=0.01)
)
HALF = 0.5


def events(heights: list[float], rows: int = 1000) -> np.ndarray:
    """Rows that score 0 but for single ones, far apart."""
    scores = np.zeros(rows)
    scores[EXCURSION_GAP * np.arange(len(heights))] = heights
    return scores


def test_excursions_by_hand() -> None:
    scores = np.zeros(100)
    assert excursions(scores, 0.0) == 0
    scores[10] = 1.0
    assert excursions(scores, 0.0) == 1
    assert excursions(scores, 1.0) == 0
    # fewer than 25 rows on it is the same
    scores[34] = 2.0
    assert excursions(scores, 0.0) == 1
    scores[59] = 2.0
    assert excursions(scores, 0.0) == 2
    assert excursions(scores, 1.0) == 2


def test_the_level_of_a_single_alarm_by_hand() -> None:
    # half an excursion in a thousand rows: 10 exp(-x) = 1 / 2
    assert level_of_one(1000, NORMAL, NORMAL, HALF) == pytest.approx(10 + np.log(20))
    assert level_of_one(4000, NORMAL, NORMAL, HALF) == pytest.approx(10 + np.log(80))
    assert level_of_one(1000, NORMAL, NORMAL, 1 / 3) == pytest.approx(10 + np.log(30))


def test_many_anomalies_may_each_be_smaller_by_hand() -> None:
    # 2.23 excursions above 11.5 are to be expected; of five above it they are less than a half
    heights = [11.5, 11.51, 11.52, 11.53, 11.54, 11.55]
    assert lowest_level(events(heights), NORMAL, NORMAL, HALF) == 11.5
    alone = pytest.approx(10 + np.log(20))
    assert lowest_level(events(heights[:5]), NORMAL, NORMAL, HALF) == alone
    assert lowest_level(events(heights), NORMAL, NORMAL, HALF / 2) > 11.5


def test_the_lowest_level_that_will_do_is_taken_by_hand() -> None:
    # seven above 11.2, where 3.01 are to be expected, and 11 above 12.5
    low, high = list(np.linspace(11.2, 11.3, 8)), list(np.linspace(12.5, 12.6, 11))
    assert lowest_level(events(low), NORMAL, NORMAL, HALF) == 11.2
    found = lowest_level(events(low + high), NORMAL, NORMAL, HALF)
    assert found == 11.2


def test_the_least_level_is_looked_at_too_by_hand() -> None:
    # 10 above 10 are to be expected: a half of 20, and more than that of 19, whatever their height
    heights = list(np.linspace(12.5, 12.6, 20))
    assert lowest_level(events(heights), NORMAL, NORMAL, HALF) == 10.0
    assert lowest_level(events(heights[:19]), NORMAL, NORMAL, HALF) == 12.5
    # the higher one of what the entity's own rows exceed and what those of all do: 1.35 above 12
    above = replace(NORMAL, high=12.0)
    for own, pooled in ((above, NORMAL), (NORMAL, above)):
        assert lowest_level(events(heights[:3]), own, pooled, HALF) == 12.0
        assert lowest_level(events(heights[:2]), own, pooled, HALF) > 12.0


def test_levels_are_looked_at_row_by_row_where_a_hundred_are_above() -> None:
    heights = 11 + 0.02 * np.arange(101)
    # 30 exp(1 - height) are to be expected of 3000 rows: 9.04 above the one with 90 above it, and
    # 8.86 above the next, with 89: the first that are at most a tenth
    found = lowest_level(events(list(heights), 3000), NORMAL, NORMAL, 0.1)
    assert found == pytest.approx(heights[11], abs=1e-9)


def test_without_a_high_row_the_level_is_that_of_a_single_alarm() -> None:
    for scores in (np.zeros(0), np.zeros(1), np.full(500, 10.0), events([11.0])):
        assert lowest_level(scores, NORMAL, NORMAL, HALF) == pytest.approx(10 + np.log(20))


def test_a_segment_counts_as_at_least_as_long_as_the_training_rows() -> None:
    heights = [11.5, 11.51, 11.52, 11.53, 11.54, 11.55]
    assert lowest_level(events(heights, 200), NORMAL, NORMAL, HALF) == 11.5
    # of 200 rows half an excursion goes above 10 + log 4
    shorter = replace(NORMAL, rows=200)
    assert lowest_level(events([], 200), shorter, NORMAL, HALF) == pytest.approx(10 + np.log(4))
    assert lowest_level(events([], 4000), NORMAL, NORMAL, HALF) == pytest.approx(10 + np.log(80))


def test_an_entity_that_was_restless_in_training_is_judged_by_all() -> None:
    restless = replace(NORMAL, tail=Tail(10.0, shape=0.0, scale=50.0, rate=0.01))
    calm = lowest_level(np.zeros(1000), NORMAL, NORMAL, HALF)
    assert lowest_level(np.zeros(1000), restless, NORMAL, HALF) == calm
    assert lowest_level(np.zeros(1000), NORMAL, restless, HALF) == calm
    assert lowest_level(np.zeros(1000), restless, restless, HALF) > calm
    # so are the excursions that are counted
    heights = [11.5, 11.51, 11.52, 11.53, 11.54, 11.55]
    assert lowest_level(events(heights), restless, NORMAL, HALF) == 11.5
    assert lowest_level(events(heights), NORMAL, restless, HALF) == 11.5


def test_no_level_is_below_what_a_normal_row_in_a_hundred_exceeds() -> None:
    scores = events(list(np.linspace(10.5, 30, 40)))
    assert lowest_level(scores, NORMAL, NORMAL, HALF) < 13
    above = replace(NORMAL, high=14.0)
    for own, pooled in ((above, NORMAL), (NORMAL, above)):
        assert lowest_level(scores, own, pooled, HALF) >= 14
        assert lowest_level(np.zeros(1000), own, pooled, HALF) == 14


def test_where_training_scores_were_all_alike_whatever_is_higher_stands_out() -> None:
    alike = NormalScores.of(np.full(500, 4.0))
    assert lowest_level(np.full(1000, 4.0), alike, alike, HALF) == 4.0
    assert lowest_level(np.full(1000, 5.0), alike, alike, HALF) == 4.0


HEIGHTS = st.lists(st.floats(9.0, 16.0), max_size=30)


@given(HEIGHTS, st.integers(0, 5000), st.floats(0.05, 0.9))
def test_a_longer_segment_has_no_lower_level(heights: list[float], more: int, share: float) -> None:
    scores = events(heights)
    longer = np.concatenate([scores, np.zeros(more)])
    short = lowest_level(scores, NORMAL, NORMAL, share)
    assert short >= NORMAL.high
    assert lowest_level(longer, NORMAL, NORMAL, share) >= short


@given(HEIGHTS, st.floats(0.05, 0.9), st.floats(0.05, 0.9))
def test_a_smaller_share_has_no_lower_level(heights: list[float], one: float, two: float) -> None:
    strict, lenient = sorted((one, two))
    levels = [lowest_level(events(heights), NORMAL, NORMAL, share) for share in (strict, lenient)]
    assert levels[0] >= levels[1]


def test_more_anomalies_have_no_higher_level() -> None:
    levels = [
        lowest_level(events(list(11 + 0.01 * np.arange(count))), NORMAL, NORMAL, 1 / 3)
        for count in range(35)
    ]
    assert (np.diff(levels) <= 0).all()
    assert levels[0] == pytest.approx(10 + np.log(30))
    # 3.68 above 11 are a third of 12 of them; 10 above 10 are a third of 30
    assert levels[13] == levels[29] == 11.0
    assert levels[30] == levels[-1] == 10.0


@given(HEIGHTS, st.floats(0.05, 0.9))
def test_at_most_the_share_is_expected_to_be_false(heights: list[float], share: float) -> None:
    scores = events(heights)
    level = lowest_level(scores, NORMAL, NORMAL, share)
    expected = len(scores) * NORMAL.tail.chance(level)
    assert expected <= share * max(excursions(scores, level), 1) * (1 + 1e-9)


DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "normal": lambda rng, n: np.abs(rng.normal(size=n)),
}
QUICK_AND_SWEPT = [
    name if name == "exponential" else pytest.param(name, marks=pytest.mark.sweep) for name in DRAWS
]
STRETCHES = 120


def alarmed(name: str, train: int, test: int, *, known: bool = False) -> int:
    """Of so many segments of pure noise, how many have an alarm."""
    rng, count = np.random.default_rng(0), 0
    learned = replace(NormalScores.of(DRAWS[name](rng, 200_000)), rows=train)
    for _ in range(STRETCHES):
        normal = learned if known else NormalScores.of(DRAWS[name](rng, train))
        scores = DRAWS[name](rng, test)
        count += int(scores.max() > lowest_level(scores, normal, normal, 1 / 3))
    return count


@pytest.mark.parametrize("name", QUICK_AND_SWEPT)
def test_where_normal_scores_are_known_at_most_a_third_of_noise_has_an_alarm(name: str) -> None:
    # a third, and a deviation and a half of as many coins; and it is no rarer than asked by far
    assert STRETCHES / 10 <= alarmed(name, 2000, 2000, known=True) <= STRETCHES / 3 + 8


@pytest.mark.parametrize("name", QUICK_AND_SWEPT)
def test_a_segment_shorter_than_training_has_a_false_alarm_a_third_of_the_time(name: str) -> None:
    assert 1 <= alarmed(name, 3000, 1000) <= STRETCHES / 3


@pytest.mark.parametrize(
    "rows",
    [
        2000,
        pytest.param(
            3000,
            marks=pytest.mark.xfail(
                reason="nearly half: a shape learned from a few dozen peaks is often too short",
                raises=AssertionError,
                strict=True,
            ),
        ),
    ],
)
@pytest.mark.parametrize("name", QUICK_AND_SWEPT)
def test_a_segment_as_long_as_training_has_a_false_alarm_a_third_of_the_time(
    name: str, rows: int
) -> None:
    assert alarmed(name, rows, rows) <= STRETCHES / 3 + 8
