"""The distance to the nearest reference."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.references import LENGTHS, LONGEST, ReferenceWindows


def oracle(past: np.ndarray, rows: np.ndarray, length: int) -> np.ndarray:
    """The definition read aloud: every window against every other, channel by channel."""
    distances = np.empty((len(rows) - LONGEST + 1, rows.shape[1]))
    for row in range(len(distances)):
        window = rows[row + LONGEST - length : row + LONGEST]
        for channel in range(rows.shape[1]):
            distances[row, channel] = min(
                np.sqrt(
                    np.square(window[:, channel] - past[end - length + 1 : end + 1, channel]).mean()
                )
                for end in range(LONGEST - 1, len(past))
            )
    return distances


def remember(
    references: ReferenceWindows, rows: np.ndarray, normal: np.ndarray | None = None
) -> None:
    count = len(rows) - LONGEST + 1
    normal = np.ones(count, bool) if normal is None else normal
    references.add(rows, np.arange(LONGEST - 1, len(rows)), normal)


def test_a_window_that_is_a_reference_has_no_distance() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((100, 1))
    references = ReferenceWindows(1)
    remember(references, rows)
    for distance in references.nearest_distances(rows[40 : 40 + LONGEST]):
        assert distance == pytest.approx(np.zeros((1, 1)), abs=1e-7)
    # all of the window is one too high
    for distance in references.nearest_distances(rows[40 : 40 + LONGEST] + 100):
        assert distance[0, 0] == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("new", [1, 7])
def test_it_is_the_nearest_of_all(channels: int, new: int) -> None:
    rng = np.random.default_rng(channels)
    past = rng.standard_normal((60, channels))
    rows = rng.standard_normal((LONGEST - 1 + new, channels))
    references = ReferenceWindows(channels)
    remember(references, past)
    for length, distances in zip(LENGTHS, references.nearest_distances(rows), strict=True):
        np.testing.assert_allclose(distances, oracle(past, rows, length), atol=1e-9)


def test_capacity_grows_and_nothing_is_lost() -> None:
    rows = np.random.default_rng(0).standard_normal((900, 1))
    references, together = ReferenceWindows(1), ReferenceWindows(1)
    for begin in range(0, 900 - LONGEST + 1, 5):
        part = rows[begin : begin + LONGEST + 4]
        ends = np.arange(begin, begin + len(part) - LONGEST + 1) + LONGEST - 1
        references.add(part, ends, np.ones(len(ends), bool))
    remember(together, rows)
    new = np.random.default_rng(1).standard_normal((LONGEST + 2, 1))
    np.testing.assert_allclose(
        references.nearest_distances(new), together.nearest_distances(new), atol=1e-9
    )
    assert references._slots.shape[2] < 2_000


def test_windows_of_alarms_are_no_references() -> None:
    rows = np.zeros((40, 1))
    rows[30:] = 7.0
    references = ReferenceWindows(1)
    normal = np.arange(LONGEST - 1, 40) < 30
    remember(references, rows, normal)
    for distance in references.nearest_distances(np.full((LONGEST, 1), 7.0)):
        assert distance[0, 0] > 5


def test_without_a_reference_the_distance_is_0() -> None:
    for distance in ReferenceWindows(2).nearest_distances(np.ones((LONGEST + 2, 2))):
        assert distance.tolist() == np.zeros((3, 2)).tolist()


def test_the_oldest_references_are_forgotten_and_wide_rows_have_fewer() -> None:
    assert (ReferenceWindows(1).size, ReferenceWindows(20).size) == (2_000, 1_000)
    references = ReferenceWindows(200)
    assert references.size == 100
    rows = np.zeros((100 + LONGEST + 50, 200))
    rows[:LONGEST] = 3.0
    remember(references, rows)
    for distance in references.nearest_distances(np.full((LONGEST, 200), 3.0)):
        assert distance.min() == pytest.approx(3)
