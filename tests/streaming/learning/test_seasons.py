"""What is usual at each time of a cycle."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.seasons import FIRST_LOOK, Seasons


def with_cycle(period: int = 4, channels: int = 1) -> Seasons:
    seasons = Seasons(channels)
    seasons.periods[:] = period
    seasons.usual = np.tile(np.arange(period) * 10.0, (channels, 1))
    seasons.seen = np.ones((channels, period))
    return seasons


def test_a_row_has_the_usual_value_of_its_time_and_that_of_rows_before() -> None:
    found = with_cycle(4).at(np.array([9, 10]))
    # row 9 is at time 1 of a cycle of 4; five to eight rows before it is a whole cycle
    assert found[:, 0].tolist() == [[10.0, 15.0], [20.0, 15.0]]


def test_without_a_cycle_there_is_nothing_usual() -> None:
    assert Seasons(3).at(np.arange(5)).tolist() == np.zeros((5, 3, 2)).tolist()


def test_what_comes_changes_what_is_usual_at_its_time_only() -> None:
    seasons = with_cycle(4)
    seasons.learn(np.array([5]), np.array([[20.0]]))
    # half way: it was seen once before
    assert seasons.usual[0, :4].tolist() == [0.0, 15.0, 20.0, 30.0]
    for _ in range(50):
        seasons.learn(np.array([5]), np.array([[20.0]]))
    assert seasons.usual[0, 1] == pytest.approx(20, abs=0.01)
    # the latest never counts for less than this
    seasons.learn(np.array([5]), np.array([[120.0]]))
    assert seasons.usual[0, 1] == pytest.approx(35, abs=0.1)


def test_a_cycle_is_found_and_filled_with_what_was_usual() -> None:
    rng = np.random.default_rng(0)
    day = np.sin(2 * np.pi * np.arange(48) / 48)
    rows = np.stack(
        [np.tile(day, 10) + 0.1 * rng.standard_normal(480), rng.standard_normal(480)], 1
    )
    seasons = Seasons(2)
    assert seasons.look(rows, 479).tolist() == [0]
    assert seasons.periods.tolist() == [48, 0]
    np.testing.assert_allclose(seasons.at(np.arange(480, 528))[:, 0, 0], day, atol=0.25)
    # the same cycle again is no news
    assert seasons.look(rows, 479).tolist() == []


def test_cycles_are_looked_for_ever_more_rarely_at_first() -> None:
    seasons = Seasons(1)
    looks = [seasons.next_look]
    rows = np.random.default_rng(0).standard_normal((64, 1))
    for _ in range(12):
        seasons.look(rows, 63)
        looks.append(seasons.next_look)
    assert looks[:3] == [FIRST_LOOK, 300, 450]
    assert np.diff(looks)[-1] == 2_000


def test_what_was_learned_is_restored() -> None:
    seasons, other = with_cycle(7, 2), Seasons(2)
    seasons.learn(np.arange(3), np.ones((3, 2)))
    other.restore(seasons.state())
    numbers = np.arange(20)
    assert (other.at(numbers) == seasons.at(numbers)).all()
    assert other.next_look == seasons.next_look
    other.learn(np.arange(3), np.ones((3, 2)))
    seasons.learn(np.arange(3), np.ones((3, 2)))
    assert (other.usual == seasons.usual).all()
