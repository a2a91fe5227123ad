"""Every row is judged by the first model that finds all its neighbours there."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.model.ridge import SIDES, BandRidge
from subadjacent.model.sided import SidedRidge

from subadjacent.core.band import Band

ONE = np.ones((1, 1), np.float32)


def by_hand() -> SidedRidge:
    """One channel: in the middle 1 is expected, at the ends the only neighbour there is."""
    weights = {"both": [[0], [0], [1]], "before": [[1], [0]], "after": [[1], [0]]}
    models = [
        BandRidge(Band(1, 1), ONE, np.array(weights[side], np.float32), local=False, side=side)
        for side in SIDES
    ]
    return SidedRidge(tuple(models), np.array([[1.0], [2.0], [3.0]]))


def test_three_rows_by_hand() -> None:
    ridge, rows = by_hand(), np.array([[1], [2], [4]], np.float32)
    # the first expects the second, 1 - 2 times 3; the last that before it, 4 - 2 times 2
    assert ridge.residuals(rows).tolist() == [[-3.0], [1.0], [4.0]]
    # what is expected knows of no gain
    assert ridge.expected(rows).tolist() == [[2.0], [1.0], [2.0]]
    assert ridge.judged(3).tolist() == [True, True, True]


def test_a_row_without_neighbours_is_not_judged_by_hand() -> None:
    ridge, row = by_hand(), np.array([[7]], np.float32)
    assert ridge.residuals(row).tolist() == [[0.0]]
    assert ridge.expected(row).tolist() == [[7.0]]
    assert ridge.judged(1).tolist() == [False]


def sided(near: int, far: int, sides: tuple[str, ...], step: int = 1) -> SidedRidge:
    rng = np.random.default_rng(near + 10 * far)
    models = []
    for side in sides:
        blank = BandRidge(
            Band(near, far),
            rng.normal(size=(2, 2)).astype(np.float32),
            np.zeros((0, 0), np.float32),
            local=False,
            side=side,
            step=step,
        )
        features = 2 * len(blank.offsets) + 1
        models.append(blank.with_weights(rng.normal(size=(features, 2)) / features))
    return SidedRidge(tuple(models), rng.uniform(0.5, 2, size=(len(sides), 2)))


def slow_residuals(
    ridge: SidedRidge, rows: NDArray[np.float32]
) -> tuple[NDArray[np.float64], list[bool]]:
    """The definition read aloud, row by row."""
    found, judged = np.zeros(rows.shape), []
    for row in range(len(rows)):
        there = []
        for number, model in enumerate(ridge.models):
            far = model.band.far
            before, after = row - far >= 0, row + far < len(rows)
            if {"both": before and after, "before": before, "after": after}[model.side]:
                there.append(number)
        judged.append(bool(there))
        if there:
            first = there[0]
            found[row] = ridge.models[first].residuals(rows)[row] * ridge.gains[first]
    return found, judged


@pytest.mark.parametrize("sides", [SIDES, ("before",), ("before", "after"), ()])
@pytest.mark.parametrize(("near", "far", "step"), [(1, 1, 1), (2, 5, 1), (3, 11, 4)])
@pytest.mark.parametrize("count", [1, 2, 5, 6, 10, 11, 12, 22, 23, 40])
def test_residuals_are_the_definition(
    near: int, far: int, step: int, sides: tuple[str, ...], count: int
) -> None:
    ridge = sided(near, far, sides, step)
    rows = np.random.default_rng(count).normal(size=(count, 2)).astype(np.float32)
    wanted, judged = slow_residuals(ridge, rows)
    np.testing.assert_allclose(ridge.residuals(rows), wanted, atol=1e-5)
    assert ridge.judged(count).tolist() == judged


def test_what_is_expected_and_what_is_left_make_the_row() -> None:
    ridge = sided(2, 5, SIDES)
    rows = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
    plain = SidedRidge(ridge.models, np.ones_like(ridge.gains))
    np.testing.assert_allclose(ridge.expected(rows) + plain.residuals(rows), rows, atol=1e-6)


def test_from_what_came_before_alone_no_row_changes_when_more_come() -> None:
    ridge = sided(2, 5, ("before",))
    rows = np.random.default_rng(2).normal(size=(60, 2)).astype(np.float32)
    whole = ridge.residuals(rows)
    for stop in (1, 5, 6, 33):
        np.testing.assert_allclose(ridge.residuals(rows[:stop]), whole[:stop], atol=1e-6)
