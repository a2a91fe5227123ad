"""Product sums by lags are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from ridge.waves import Rows, noise, wave
from subadjacent.ridge.axes import CLIP, cut
from subadjacent.ridge.band import FAR_CLIP, BandRidge, Inputs
from subadjacent.ridge.moments import MIN_LAGGED_ROWS, Moments, moments, with_constant
from subadjacent.ridge.neighbours import Neighbours

Layout = tuple[int, int, int, int]
# near, behind, ahead, step
SIDED = [(1, 1, 1, 1), (5, 30, 30, 1), (2, 5, 3, 1), (3, 9, 0, 1), (3, 0, 9, 1)]
STEPS = [(2, 9, 9, 3), (4, 13, 0, 8), (3, 4, 4, 9), (2, 12, 5, 2)]
ANY = [(layout, False) for layout in SIDED + STEPS] + [(layout, True) for layout in SIDED]


def blank(layout: Layout, channels: int, local: bool = False, axes: int = 2) -> BandRidge:
    directions = np.random.default_rng(channels).normal(size=(channels, axes)).astype(np.float32)
    return BandRidge(Neighbours(*layout), directions, np.zeros((0, 0), np.float32), local)


def slow_moments(ridge: BandRidge, rows: Rows, first: int, last: int) -> Moments:
    """The definition read aloud: products of features and targets, row by row."""
    limit = FAR_CLIP if ridge.local else CLIP
    values = np.clip(rows.astype(np.float64), -limit, limit)
    total: Moments | None = None
    for row in range(first, last):
        around = [values[row + offset] for offset in ridge.neighbours.offsets]
        level = sum(around) / len(around) if ridge.local else np.zeros(rows.shape[1])
        seen = np.concatenate([(one - level) @ ridge.axes for one in around])
        features = np.append(cut(seen) if ridge.local else seen, 1.0)
        target = values[row] - level
        found = Moments(np.outer(features, features), np.outer(features, target), target**2)
        total = found if total is None else total + found
    assert total is not None
    return total


def multiplied_out(ridge: BandRidge, inputs: Inputs, rows: NDArray[np.int64]) -> Moments:
    """Of the features that a ridge gives of some rows."""
    features = with_constant(ridge.features(inputs, int(rows[0]), int(rows[-1]) + 1))
    return Moments.multiplied_out(features.astype(np.float64), inputs.target[rows])


def assert_same(found: Moments, wanted: Moments, tolerance: float) -> None:
    size = max(np.abs(wanted.features).max(), np.abs(wanted.targets).max())
    np.testing.assert_allclose(found.features, wanted.features, atol=tolerance * size)
    np.testing.assert_allclose(found.targets, wanted.targets, atol=tolerance * size)
    np.testing.assert_allclose(found.squares, wanted.squares, rtol=tolerance)
    assert found.rows == wanted.rows


def test_five_rows_of_one_channel_by_hand() -> None:
    ridge = BandRidge(
        Neighbours(1, 1, 1), np.ones((1, 1), np.float32), np.zeros((0, 0), np.float32), local=False
    )
    inputs = ridge.inputs(np.array([[1], [2], [4], [0], [3]], np.float32))
    found = moments(ridge, inputs, 1, 4)
    # before, after and 1: (1, 4, 1), (2, 0, 1), (4, 3, 1); targets 2, 4, 0
    assert found.features.tolist() == [[21, 16, 7], [16, 25, 7], [7, 7, 3]]
    assert found.targets.tolist() == [[10], [8], [6]]
    assert found.squares.tolist() == [20]
    assert found.rows == 3


@pytest.mark.parametrize(("layout", "local"), ANY, ids=str)
@pytest.mark.parametrize("count", [1, MIN_LAGGED_ROWS - 1, MIN_LAGGED_ROWS + 41])
@pytest.mark.parametrize("more", [0, 13])
def test_moments_are_the_definition(layout: Layout, local: bool, count: int, more: int) -> None:
    ridge = blank(layout, 3, local)
    # more rows before the first and after the last are there, and must not count
    first, last = more + layout[1], more + layout[1] + count
    rows = wave(last + layout[2] + more, 3, seed=count)
    # far out: for a local model, features of rows near it are cut
    rows[min(first + 20, last + layout[2] - 1)] = [0.5, -90.0, 0.3]
    inputs = ridge.inputs(rows)
    found = moments(ridge, inputs, first, last)
    if local and count > 20:
        assert inputs.clipped is not None
        assert inputs.clipped[first:last].any()
    assert_same(found, slow_moments(ridge, rows, first, last), 1e-5)


@pytest.mark.parametrize("local", [False, True])
def test_moments_add_up_and_come_apart(local: bool) -> None:
    ridge, rows = blank((2, 5, 5, 1), 2, local), wave(3000)
    inputs = ridge.inputs(rows)
    left, right = moments(ridge, inputs, 5, 1200), moments(ridge, inputs, 1200, 2995)
    whole = moments(ridge, inputs, 5, 2995)
    # values are multiplied in single precision where they are not taken relative to a level
    near = 1e-9 if local else 1e-5
    assert_same(left + right, whole, near)
    assert_same(whole - left, right, near)


def test_more_rows_with_cut_features_than_are_taken_at_a_time() -> None:
    ridge, rows = blank((2, 5, 5, 1), 2, local=True), noise(3 * MIN_LAGGED_ROWS)
    # every row has a neighbour that is far out
    rows[::4] += 300.0
    inputs = ridge.inputs(rows)
    assert inputs.clipped is not None
    assert inputs.clipped[5:-5].all()
    every = np.arange(5, 3 * MIN_LAGGED_ROWS - 5)
    found = moments(ridge, inputs, 5, 3 * MIN_LAGGED_ROWS - 5)
    assert_same(found, multiplied_out(ridge, inputs, every), 1e-4)


def drawn(rows: int = 400, features: int = 5) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(rows)
    x = np.concatenate([rng.normal(size=(rows, features)), np.ones((rows, 1))], axis=1)
    return x, x @ rng.normal(size=(features + 1, 2)) + rng.normal(size=(rows, 2))


@pytest.mark.parametrize("penalty", [1.0, 30.0, 1e5])
def test_solutions_are_those_of_a_ridge(penalty: float) -> None:
    x, y = drawn()
    # all but the constant, which comes last, is held back
    slow = Ridge(alpha=penalty).fit(x[:, :-1], y)
    found = Moments.multiplied_out(x, y).solve(penalty)
    np.testing.assert_allclose(found, [*slow.coef_.T, slow.intercept_], atol=1e-6)


def test_features_that_are_alike_can_be_solved_with_the_least_penalty() -> None:
    x, y = drawn()
    assert np.isfinite(Moments.multiplied_out(np.repeat(x, 3, axis=1), y).solve(0.0)).all()


def test_errors_are_those_of_residuals() -> None:
    x, y = drawn()
    weights = np.random.default_rng(1).normal(size=(6, 2))
    np.testing.assert_allclose(
        Moments.multiplied_out(x, y).errors(weights), ((y - x @ weights) ** 2).sum(axis=0)
    )
