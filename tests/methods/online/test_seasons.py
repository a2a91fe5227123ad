"""The seasonal profile of a channel."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.seasons import FIRST_SEARCH, Seasons


def with_cycle(period: int = 4, channels: int = 1) -> Seasons:
    seasons = Seasons(channels)
    seasons.periods[:] = period
    seasons.profile = np.tile(np.arange(period) * 10.0, (channels, 1))
    seasons.counts = np.ones((channels, period))
    return seasons


def test_features_are_the_profile_at_a_row_and_before_it() -> None:
    found = with_cycle(4).features(9, 2)
    # row 9 is at time 1 of a cycle of 4; five to eight rows before it is a whole cycle
    assert found[:, 0].tolist() == [[10.0, 15.0], [20.0, 15.0]]


def test_without_a_cycle_the_profile_is_0() -> None:
    assert Seasons(3).features(0, 5).tolist() == np.zeros((5, 3, 2)).tolist()


def test_a_row_changes_the_profile_at_its_phase_only() -> None:
    seasons = with_cycle(4)
    seasons.learn(np.array([5]), np.array([[20.0]]))
    # half way: it was seen once before
    assert seasons.profile[0, :4].tolist() == [0.0, 15.0, 20.0, 30.0]
    for _ in range(50):
        seasons.learn(np.array([5]), np.array([[20.0]]))
    assert seasons.profile[0, 1] == pytest.approx(20, abs=0.01)
    # the latest never counts for less than this
    seasons.learn(np.array([5]), np.array([[120.0]]))
    assert seasons.profile[0, 1] == pytest.approx(35, abs=0.1)


@pytest.mark.parametrize("count", [1, 3, 16, 40])
def test_features_are_the_same_however_rows_are_grouped(count: int) -> None:
    seasons, numbers = with_cycle(7), np.arange(100)
    each = np.concatenate([seasons.features(first, count) for first in range(0, 120, count)])
    assert each[:100, 0, 0].tolist() == (numbers % 7 * 10).tolist()
    ago = sum((numbers - lag) % 7 for lag in (5, 6, 7, 8)) * 10 / 4
    assert each[:100, 0, 1].tolist() == ago.tolist()


def test_what_was_learned_is_in_the_features_of_the_next_row() -> None:
    seasons = with_cycle(4)
    seasons.features(4, 1)
    seasons.learn(np.array([5]), np.array([[20.0]]))
    assert seasons.features(5, 1)[0, 0, 0] == 15


def test_a_period_is_found_and_its_profile_is_the_mean_of_the_cycles() -> None:
    rng = np.random.default_rng(0)
    day = np.sin(2 * np.pi * np.arange(48) / 48)
    rows = np.stack(
        [np.tile(day, 10) + 0.1 * rng.standard_normal(480), rng.standard_normal(480)], 1
    )
    seasons = Seasons(2)
    assert seasons.search(rows, 479).tolist() == [0]
    assert seasons.periods.tolist() == [48, 0]
    np.testing.assert_allclose(seasons.features(480, 48)[:, 0, 0], day, atol=0.25)
    # the same cycle again is no news
    assert seasons.search(rows, 479).tolist() == []


def test_periods_are_searched_for_ever_more_rarely_at_first() -> None:
    seasons = Seasons(1)
    searches = [seasons.next_search]
    rows = np.random.default_rng(0).standard_normal((64, 1))
    for _ in range(12):
        seasons.search(rows, 63)
        searches.append(seasons.next_search)
    assert searches[:3] == [FIRST_SEARCH, 300, 450]
    assert np.diff(searches)[-1] == 2_000


def test_periods_and_profiles_are_restored() -> None:
    seasons, other = with_cycle(7, 2), Seasons(2)
    seasons.learn(np.arange(3), np.ones((3, 2)))
    other.restore(seasons.state())
    assert (other.features(0, 20) == seasons.features(0, 20)).all()
    assert other.next_search == seasons.next_search
    other.learn(np.arange(3), np.ones((3, 2)))
    seasons.learn(np.arange(3), np.ones((3, 2)))
    assert (other.profile == seasons.profile).all()


def test_a_profile_is_shifted_to_where_it_explains_the_latest_rows() -> None:
    seasons = Seasons(2)
    seasons._fit_profile(0, 5, np.tile([0.0, 1.0, 4.0, 2.0, 0.0], 20), last=99)
    rows = np.zeros((10, 2))
    # the cycle went on two rows further than the row number says
    rows[:, 0] = np.tile([4.0, 2.0, 0.0, 0.0, 1.0], 2)
    seasons.align(rows, last=109)
    assert seasons.shifts.tolist() == [2, 0]
    np.testing.assert_allclose(seasons.features(100, 10)[:, 0, 0], rows[:, 0])
    # learned at the shifted phase
    seasons.learn(np.array([110]), np.array([[14.0, 0.0]]))
    assert seasons.profile[0].argmax() == 2
    # a little more like the profile one row further on: two thirds of the squares do not move it
    now, further = (np.tile(np.roll(seasons.profile[0, :5], -shift), 2) for shift in (2, 3))
    between = np.zeros((10, 2))
    between[:, 0] = 0.45 * now + 0.55 * further
    seasons.align(between, last=119)
    assert seasons.shifts.tolist() == [2, 0]
    between[:, 0] = 0.4 * now + 0.6 * further
    seasons.align(between, last=119)
    assert seasons.shifts.tolist() == [3, 0]
    seasons.shifts[0] = 2
    other = Seasons(2)
    other.restore(seasons.state())
    assert other.shifts.tolist() == [2, 0]
    # a new period begins without a shift, and streams saved before there were any have none
    seasons._fit_profile(0, 7, np.zeros(70), last=199)
    assert not seasons.shifts.any()
    other.restore({k: v for k, v in other.state().items() if k != "shifts"})
    assert not other.shifts.any()
