"""Matrix profiles: by hand, against the definition and another library, and what they ignore."""

from __future__ import annotations

import numpy as np
import pytest

from methods.tasks import noise, task
from subadjacent.errors import InputError
from subadjacent.rivals.matrix_profile import MatrixProfile, ProfileMethod, nearest, shapes


def fitted(rows: np.ndarray, starts: tuple[int, ...] = (0,), **settings: int) -> MatrixProfile:
    found = ProfileMethod(**settings)._fit_one(task(rows, starts))
    assert isinstance(found, MatrixProfile)
    return found


def distances(test: np.ndarray, train: np.ndarray, length: int) -> np.ndarray:
    """Of every window of one channel to the nearest of training."""
    own, known = (
        shapes(np.lib.stride_tricks.sliding_window_view(one, length)) for one in (test, train)
    )
    return np.sqrt(nearest(own, known)[0])


def test_shapes_by_hand() -> None:
    """Rise, fall and rest: alike whatever their level and size."""
    train = np.array([0.0, 1.0, 2.0])
    assert distances(np.array([10.0, 30.0, 50.0]), train, 3) == pytest.approx(0)
    # the opposite: every entry of ±sqrt(3/2) and 0 is off by twice itself
    assert distances(np.array([2.0, 1.0, 0.0]), train, 3) == pytest.approx(12**0.5)
    # no shape at all: as far as the length of a shape
    assert distances(np.array([5.0, 5.0, 5.0]), train, 3) == pytest.approx(3**0.5)
    assert distances(np.array([0.0, 1.0, 2.0]), np.full(3, 4.0), 3) == pytest.approx(3**0.5)
    assert distances(np.array([5.0, 5.0, 5.0]), np.full(3, 4.0), 3) == pytest.approx(0)


def test_rows_are_assessed_by_all_windows_that_cover_them() -> None:
    """Windows of 3 rows over 4: the first fits, the second has nothing of a rise."""
    model = fitted(np.array([[0.0], [1.0], [2.0]]), window=3)
    found = model.predict(np.array([[0.0], [1.0], [2.0], [1.0]]))
    first, second = 0.0, 2 * 3 * (1 - 0.0)  # correlation of (1, 2, 1) with a rise: 0
    assert found.departures is not None
    np.testing.assert_allclose(
        found.departures[:, 0], [first, second / 2, second / 2, second], atol=1e-12
    )
    np.testing.assert_allclose(found.error, np.sqrt(found.departures[:, 0]))
    # the rise, at the level and of the size of the second window
    size = np.std([1, 2, 1]) * 1.5**0.5
    wanted = [0, (1 + 4 / 3 - size) / 2, (2 + 4 / 3) / 2, 4 / 3 + size]
    np.testing.assert_allclose(found.expected[:, 0], wanted, atol=1e-12)


def test_distances_are_those_of_the_definition() -> None:
    train, test, length = noise(80, 1)[:, 0], noise(30, 1, seed=1)[:, 0], 6

    def shape(window: np.ndarray) -> np.ndarray:
        return (window - window.mean()) / window.std()

    wanted = [
        min(
            float(np.linalg.norm(shape(test[i : i + length]) - shape(train[j : j + length])))
            for j in range(len(train) - length + 1)
        )
        for i in range(len(test) - length + 1)
    ]
    np.testing.assert_allclose(distances(test, train, length), wanted)


def test_long_segments_are_assessed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(noise(), window=5)
    at_once = model.predict(noise(50, seed=1))
    monkeypatch.setattr("subadjacent.rivals.matrix_profile.CORRELATIONS", 7 * 296)
    for one, other in zip(at_once, model.predict(noise(50, seed=1)), strict=True):
        np.testing.assert_allclose(one, other)


# ---- what is kept


def test_few_rows_are_all_kept_and_no_window_reaches_over_a_break() -> None:
    rows = np.arange(8.0)[:, None]
    model = fitted(rows, starts=(0, 4), window=3)
    assert model.references[:, 0].tolist() == list(range(8))
    assert model.starts.tolist() == [0, 4]
    assert len(model._known(0).flat) == 4


def test_of_many_rows_blocks_are_kept_evenly() -> None:
    rows = np.arange(1000.0)[:, None]
    model = fitted(rows, window=4, references=120)
    # blocks of 40 rows: the first, the middle and the last of 25
    assert model.starts.tolist() == [0, 40, 80]
    assert model.references[[0, 39, 40, 80, 119], 0].tolist() == [0, 39, 480, 960, 999]
    assert len(fitted(rows, window=4, references=1).references) == 40


def test_windows_of_many_values_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subadjacent.rivals.matrix_profile.MAX_VALUES", 400)
    assert len(fitted(noise(1000, 1), window=4).references) == 80


def test_a_state_that_would_take_too_much_memory_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = fitted(noise(), window=5).state()
    monkeypatch.setattr("subadjacent.rivals.matrix_profile.MAX_VALUES", 1499)
    with pytest.raises(InputError, match="references must be at most 299 rows"):
        ProfileMethod()._restore(state, 3)
