"""The distance to the most alike of late."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.familiar import LENGTHS, LONGEST, Familiar


def oracle(seen: np.ndarray, mine: np.ndarray, length: int) -> np.ndarray:
    """The definition read aloud: every window against every other, channel by channel."""
    found = np.empty((len(mine) - LONGEST + 1, mine.shape[1]))
    for row in range(len(found)):
        window = mine[row + LONGEST - length : row + LONGEST]
        for channel in range(mine.shape[1]):
            found[row, channel] = min(
                np.sqrt(
                    np.square(window[:, channel] - seen[end - length + 1 : end + 1, channel]).mean()
                )
                for end in range(LONGEST - 1, len(seen))
            )
    return found


def remember(familiar: Familiar, rows: np.ndarray, calm: np.ndarray | None = None) -> None:
    count = len(rows) - LONGEST + 1
    calm = np.ones(count, bool) if calm is None else calm
    familiar.add(rows, np.arange(LONGEST - 1, len(rows)), calm)


def test_a_window_that_was_there_is_not_far() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((100, 1))
    familiar = Familiar(1)
    remember(familiar, rows)
    for distance in familiar.distances(rows[40 : 40 + LONGEST]):
        assert distance == pytest.approx(np.zeros((1, 1)), abs=1e-7)
    # all of the window is one too high
    for distance in familiar.distances(rows[40 : 40 + LONGEST] + 100):
        assert distance[0, 0] == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("new", [1, 7])
def test_it_is_the_nearest_of_all(channels: int, new: int) -> None:
    rng = np.random.default_rng(channels)
    seen = rng.standard_normal((60, channels))
    mine = rng.standard_normal((LONGEST - 1 + new, channels))
    familiar = Familiar(channels)
    remember(familiar, seen)
    for length, found in zip(LENGTHS, familiar.distances(mine), strict=True):
        np.testing.assert_allclose(found, oracle(seen, mine, length), atol=1e-9)


def test_room_grows_and_nothing_is_lost() -> None:
    rows = np.random.default_rng(0).standard_normal((900, 1))
    familiar, together = Familiar(1), Familiar(1)
    for begin in range(0, 900 - LONGEST + 1, 5):
        part = rows[begin : begin + LONGEST + 4]
        ends = np.arange(begin, begin + len(part) - LONGEST + 1) + LONGEST - 1
        familiar.add(part, ends, np.ones(len(ends), bool))
    remember(together, rows)
    mine = np.random.default_rng(1).standard_normal((LONGEST + 2, 1))
    for one, other in zip(familiar.distances(mine), together.distances(mine), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    assert familiar._seen[0].shape[2] < 2_000


def test_windows_of_alarms_are_not_compared_with() -> None:
    rows = np.zeros((40, 1))
    rows[30:] = 7.0
    familiar = Familiar(1)
    calm = np.arange(LONGEST - 1, 40) < 30
    remember(familiar, rows, calm)
    for distance in familiar.distances(np.full((LONGEST, 1), 7.0)):
        assert distance[0, 0] > 5


def test_without_any_window_nothing_is_far() -> None:
    for distance in Familiar(2).distances(np.ones((LONGEST + 2, 2))):
        assert distance.tolist() == np.zeros((3, 2)).tolist()


def test_the_oldest_windows_are_forgotten_and_wide_rows_remember_fewer() -> None:
    assert (Familiar(1).size, Familiar(20).size) == (2_000, 1_000)
    familiar = Familiar(200)
    assert familiar.size == 100
    rows = np.zeros((100 + LONGEST + 50, 200))
    rows[:LONGEST] = 3.0
    remember(familiar, rows)
    for distance in familiar.distances(np.full((LONGEST, 200), 3.0)):
        assert distance.min() == pytest.approx(3)
