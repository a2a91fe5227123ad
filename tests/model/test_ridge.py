"""A point is expected from its band, and from nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.model.ridge import CHUNK, SIDES, BandRidge, main_axes

from subadjacent.core.band import Band


def model(
    near: int, far: int, *, local: bool = False, side: str = "both", step: int = 1
) -> BandRidge:
    rng, channels = np.random.default_rng(near + 10 * far), 2
    axes = rng.normal(size=(channels, 2)).astype(np.float32)
    blank = BandRidge(Band(near, far), axes, np.zeros((0, 0), np.float32), local, side, step)
    features = 2 * len(blank.offsets) + 1
    return blank.with_weights(rng.normal(size=(features, channels)) / features)


def rows(count: int, channels: int = 2) -> NDArray[np.float32]:
    return np.random.default_rng(count).normal(size=(count, channels)).astype(np.float32)


def test_neighbours_at_distance_one_by_hand() -> None:
    # one channel, axis 1, weights 2 for the point before, 3 for the point after, 1 for all
    ridge = BandRidge(
        Band(1, 1), np.ones((1, 1), np.float32), np.array([[2], [3], [1]], np.float32), local=False
    )
    values = np.array([[1], [2], [4]], np.float32)
    # expected: 0 + 3·2 + 1, 2·1 + 3·4 + 1, 2·2 + 0 + 1
    assert ridge.residuals(values).tolist() == [[1 - 7], [2 - 15], [4 - 5]]


def test_a_local_model_sees_departures_from_the_neighbours_mean_by_hand() -> None:
    ridge = BandRidge(
        Band(1, 1), np.ones((1, 1), np.float32), np.array([[2], [3], [0]], np.float32), local=True
    )
    values = np.array([[1], [2], [4]], np.float32)
    # the middle's neighbours are 1 and 4: mean 2.5, departures -1.5 and 1.5; its own is -0.5
    assert ridge.residuals(values)[1].tolist() == [-0.5 - (2 * -1.5 + 3 * 1.5)]


def slow_features(ridge: BandRidge, values: NDArray[np.float32], row: int) -> list[float]:
    """The definition read aloud, for a model that is not local."""
    found = []
    for offset in ridge.offsets:
        there = 0 <= row + offset < len(values)
        seen = values[row + offset] @ ridge.axes if there else np.zeros(ridge.axes.shape[1])
        found += list(seen)
    return [*found, 1.0]


@pytest.mark.parametrize("count", [1, 4, 17, CHUNK + 3])
@pytest.mark.parametrize(("near", "far"), [(1, 1), (2, 5), (5, 30)])
@pytest.mark.parametrize("side", SIDES)
def test_features_are_the_definition(near: int, far: int, side: str, count: int) -> None:
    ridge, values = model(near, far, side=side), rows(count)
    found = np.concatenate([features for features, _ in ridge.cases(values)])
    assert len(found) == count
    for row in {0, count // 2, count - 1}:
        np.testing.assert_allclose(found[row], slow_features(ridge, values, row), atol=1e-5)


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("near", "far"), [(1, 3), (4, 9)])
def test_nothing_outside_the_band_reaches_an_expectation(
    near: int, far: int, side: str, local: bool
) -> None:
    ridge, values, row = model(near, far, local=local, side=side), rows(40), 20
    inside = {row + offset for offset in ridge.offsets}
    assert all(near <= abs(one - row) <= far for one in inside)
    before = values - ridge.residuals(values)
    for moved in range(len(values)):
        other = values.copy()
        other[moved] += 1
        # a subtraction undone loses the last digits
        changed = not np.allclose((other - ridge.residuals(other))[row], before[row], atol=1e-6)
        assert changed == (moved in inside)


def test_every_third_point_of_a_band_by_hand() -> None:
    # distances 1 and 4, and not 2, 3 or 5: weights 1000 and 100 before, 10 and 1 after
    weights = np.array([[1000], [100], [10], [1], [0]], np.float32)
    ridge = BandRidge(Band(1, 5), np.ones((1, 1), np.float32), weights, local=False, step=3)
    assert ridge.offsets.tolist() == [-4, -1, 1, 4]
    values = np.arange(10, dtype=np.float32)[:, None]
    # row 5 sees rows 1, 4, 6 and 9
    assert ridge.residuals(values)[5].item() == 5 - (1000 * 1 + 100 * 4 + 10 * 6 + 9)
    # the band reaches as far as it says, whether or not a neighbour stands at its end
    assert ridge.complete(12) == slice(5, 7)


@pytest.mark.parametrize("count", [1, 17, 61, CHUNK + 3])
@pytest.mark.parametrize(("near", "far", "step"), [(2, 5, 2), (5, 30, 7), (20, 60, 16), (3, 4, 9)])
@pytest.mark.parametrize("side", SIDES)
def test_features_of_every_so_many_points_are_the_definition(
    near: int, far: int, step: int, side: str, count: int
) -> None:
    ridge, values = model(near, far, side=side, step=step), rows(count)
    distances = [one for one in range(near, far + 1) if (one - near) % step == 0]
    assert sorted({*np.abs(ridge.offsets).tolist()}) == distances
    found = np.concatenate([features for features, _ in ridge.cases(values)])
    for row in {0, count // 2, count - 1}:
        np.testing.assert_allclose(found[row], slow_features(ridge, values, row), atol=1e-5)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("near", "far", "step"), [(1, 7, 3), (4, 18, 5), (2, 3, 16)])
def test_nothing_between_the_steps_reaches_an_expectation(
    near: int, far: int, step: int, side: str
) -> None:
    ridge, values, row = model(near, far, side=side, step=step), rows(40), 20
    signs = {"both": (-1, 1), "before": (-1,), "after": (1,)}[side]
    inside = {row + sign * one for sign in signs for one in range(near, far + 1, step)}
    before = values - ridge.residuals(values)
    for moved in range(len(values)):
        other = values.copy()
        other[moved] += 1
        changed = not np.allclose((other - ridge.residuals(other))[row], before[row], atol=1e-6)
        assert changed == (moved in inside)


def test_a_model_of_what_came_before_never_looks_ahead() -> None:
    for local in (False, True):
        ridge, values = model(2, 6, local=local, side="before"), rows(60)
        np.testing.assert_allclose(
            ridge.residuals(values[:35]), ridge.residuals(values)[:35], atol=1e-5
        )


def test_a_local_model_does_not_mind_a_level_that_has_moved() -> None:
    ridge, values = model(2, 6, local=True), rows(50)
    moved = ridge.residuals(values + np.float32(300))
    np.testing.assert_allclose(moved, ridge.residuals(values), atol=2e-3)
    plain = model(2, 6)
    assert not np.allclose(plain.residuals(values + 5), plain.residuals(values), atol=0.1)


def test_axes_are_those_of_most_variance() -> None:
    rng = np.random.default_rng(3)
    values = (rng.normal(size=(5000, 3)) * [0.1, 2.0, 0.5]).astype(np.float32)
    axes = main_axes([values], most=2)
    assert axes.shape == (3, 2)
    np.testing.assert_allclose(np.abs(axes).T, [[0, 1, 0], [0, 0, 1]], atol=0.05)


def test_rows_that_never_moved_have_an_axis_all_the_same() -> None:
    assert main_axes([np.zeros((10, 3), np.float32)]).shape == (3, 1)
