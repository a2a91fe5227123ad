"""Every row is assessed by the first model that finds all its neighbours there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ridge.waves import Rows, noise, wave
from subadjacent.ridge.axes import principal_axes
from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.fit import RidgeFit, fit_ridge
from subadjacent.ridge.neighbours import Neighbours
from subadjacent.ridge.sides import VARIANCE_FLOOR, SegmentRidge, SidesFit, fit_sides, shares

ONE = np.ones((1, 1), np.float32)
BOTH, BEFORE, AFTER = Neighbours(2, 4, 4), Neighbours(2, 4, 0), Neighbours(2, 0, 4)
SIDES = ("both", "before", "after")


def layouts(near: int, far: int, step: int = 1, sides: tuple[str, ...] = SIDES) -> list[Neighbours]:
    reach = {"both": (far, far), "before": (far, 0), "after": (0, far)}
    return [Neighbours(near, *reach[side], step) for side in sides]


def by_hand() -> SegmentRidge:
    """One channel: in the middle 1 is expected, at the ends the only neighbour there is."""
    weights = ([[0], [0], [1]], [[1], [0]], [[1], [0]])
    models = [
        BandRidge(layout, ONE, np.array(values, np.float32), local=False)
        for layout, values in zip(layouts(1, 1), weights, strict=True)
    ]
    return SegmentRidge(tuple(models), np.array([[1.0], [2.0], [3.0]]))


def test_three_rows_by_hand() -> None:
    ridge, rows = by_hand(), np.array([[1], [2], [4]], np.float32)
    residuals = ridge.residuals(rows)
    # the first expects the second, 1 - 2 times 3; the last the one before it, 4 - 2 times 2
    assert residuals.tolist() == [[-3.0], [1.0], [4.0]]
    # what is expected knows of no gain
    assert ridge.expected(rows, residuals).tolist() == [[2.0], [1.0], [2.0]]
    assert ridge.assessed(3).tolist() == [True, True, True]
    assert ridge.shares(3) == [slice(1, 2), slice(2, 3), slice(0, 1)]
    assert ridge.reach == (1, 1)
    # a row without neighbours is not assessed
    row = np.array([[7]], np.float32)
    residuals = ridge.residuals(row)
    assert residuals.tolist() == [[0.0]]
    assert ridge.expected(row, residuals).tolist() == [[7.0]]
    assert ridge.assessed(1).tolist() == [False]


def segment_ridge(near: int, far: int, sides: tuple[str, ...], step: int = 1) -> SegmentRidge:
    """Random weights and gains."""
    rng = np.random.default_rng(near + 10 * far)
    models = []
    for layout in layouts(near, far, step, sides):
        features = 2 * layout.count + 1
        axes = rng.normal(size=(2, 2)).astype(np.float32)
        weights = rng.normal(size=(features, 2)) / features
        models.append(BandRidge(layout, axes, weights.astype(np.float32), local=False))
    return SegmentRidge(tuple(models), rng.uniform(0.5, 2, size=(len(sides), 2)))


def has_all(layout: Neighbours, row: int, rows: int) -> bool:
    return row - layout.behind >= 0 and row + layout.ahead < rows


def slow_residuals(ridge: SegmentRidge, rows: Rows) -> tuple[NDArray[np.float64], list[bool]]:
    """The definition read aloud, row by row."""
    found, assessed = np.zeros(rows.shape), []
    for row in range(len(rows)):
        there = [
            number
            for number, model in enumerate(ridge.models)
            if has_all(model.neighbours, row, len(rows))
        ]
        assessed.append(bool(there))
        if there:
            first = there[0]
            left = ridge.models[first].residuals(rows, row, row + 1)[0]
            found[row] = left * ridge.gains[first]
    return found, assessed


@pytest.mark.parametrize("sides", [SIDES, ("before",), ("before", "after"), ()])
@pytest.mark.parametrize(("near", "far", "step"), [(1, 1, 1), (2, 5, 1), (3, 11, 4)])
def test_residuals_are_the_definition(
    near: int, far: int, step: int, sides: tuple[str, ...]
) -> None:
    ridge = segment_ridge(near, far, sides, step)
    for count in (1, 2, 5, 6, 10, 11, 12, 22, 23, 40):
        rows = noise(count)
        wanted, assessed = slow_residuals(ridge, rows)
        np.testing.assert_allclose(ridge.residuals(rows), wanted, atol=1e-5)
        assert ridge.assessed(count).tolist() == assessed


@pytest.mark.parametrize("rows", [9, 40])
def test_some_rows_are_as_among_all(rows: int) -> None:
    ridge, values = segment_ridge(2, 6, SIDES), noise(rows)
    left = ridge.residuals(values)
    expected = ridge.expected(values, left)
    for first in range(rows):
        for last in range(first, rows + 1, 5):
            some = ridge.residuals(values, first, last)
            np.testing.assert_allclose(some, left[first:last], rtol=1e-6, atol=1e-6)
            found = ridge.expected(values, left[first:last], first)
            np.testing.assert_array_equal(found, expected[first:last])


@pytest.mark.parametrize(
    "some", [layouts(2, 4), [BEFORE, AFTER], [BEFORE], [Neighbours(2, 4, 3), BEFORE], []], ids=str
)
def test_every_row_goes_to_the_first_layout_that_has_all_its_neighbours(
    some: list[Neighbours],
) -> None:
    for rows in (0, 1, 4, 5, 8, 9, 30):
        found = shares(some, rows)
        for row in range(rows):
            there = [number for number, one in enumerate(some) if has_all(one, row, rows)]
            taken = [number for number, mine in enumerate(found) if mine.start <= row < mine.stop]
            assert taken == there[:1]


# ---- fitting


def fit(parts: list[Rows], near: Neighbours = BOTH, *, local: bool = False) -> SidesFit:
    """Whether to look ahead is for the layout to say."""
    looks_ahead = near.ahead > 0
    return fit_sides(parts, near, principal_axes(parts), local=local, looks_ahead=looks_ahead)


def single(parts: list[Rows], near: Neighbours, *, local: bool = False, **others: Any) -> RidgeFit:
    found = fit_ridge(parts, near, principal_axes(parts), local=local, **others)
    assert found is not None
    return found


def fitted_sides(found: SidesFit) -> list[Neighbours]:
    return [model.neighbours for model in found.ridge.models]


@pytest.mark.parametrize(
    ("lengths", "near", "wanted"),
    [
        # a model learns from eleven rows at least that have all their neighbours; on both sides,
        # up to 4 rows away, those take 9 rows
        ([9] * 11, BOTH, [BOTH, BEFORE, AFTER]),
        ([9] * 10, BOTH, [BEFORE, AFTER]),
        ([19], BOTH, [BOTH, BEFORE, AFTER]),
        ([18], BOTH, [BEFORE, AFTER]),
        ([14], BOTH, []),
        # of 6 rows the last 2 have all before them, the first 2 all after them: 4 of 6
        ([6] * 6, BOTH, [BEFORE, AFTER]),
        # of 5 rows one each: 2 of 5
        ([5] * 20, BOTH, []),
        ([4] * 20, BOTH, []),
        ([1], BOTH, []),
        # of 8 rows the last 4
        ([8] * 3, BEFORE, [BEFORE]),
        ([7] * 4, BEFORE, []),
        # 36 of 40 rows outweigh what is too short
        ([40, 4, 3], BEFORE, [BEFORE]),
        # 4 of 8, and 0 of 2
        ([*[8] * 3, 2], BEFORE, []),
    ],
)
def test_models_are_there_where_half_of_the_rows_are_assessed_by_hand(
    lengths: list[int], near: Neighbours, wanted: list[Neighbours]
) -> None:
    parts = [wave(rows) for rows in lengths]
    found = fit(parts, near)
    assert fitted_sides(found) == wanted
    assert found.ridge.gains.shape == (len(wanted), 2)
    assert [one.shape for one in found.unseen] == [part.shape for part in parts]
    if not wanted:
        assert not any(one.any() for one in found.unseen)
        assert not found.ridge.assessed(100).any()


@pytest.mark.parametrize(
    ("local", "step", "lengths"),
    [
        (False, 1, (90,)),
        (True, 1, (90,)),
        (False, 1, (8, 60, 3)),
        (True, 1, (8, 60, 3)),
        # a model of departures from a mean takes every row
        (False, 2, (47, 9)),
    ],
)
def test_residuals_are_those_of_the_first_model_on_the_scale_of_the_first(
    local: bool, step: int, lengths: tuple[int, ...]
) -> None:
    """The definition read aloud."""
    parts = [wave(rows, seed=rows) for rows in lengths]
    some = layouts(2, 4, step)
    found = fit(parts, some[0], local=local)
    first = single(parts, some[0], local=local)
    others = [single(parts, layout, local=local, penalties=(first.penalty,)) for layout in some[1:]]
    fits = [first, *others]
    squares = [
        np.mean(
            [
                one.unseen[number][row].astype(np.float64) ** 2
                for number, rows in enumerate(lengths)
                for row in range(rows)
                if has_all(layout, row, rows)
            ],
            axis=0,
        )
        for layout, one in zip(some, fits, strict=True)
    ]
    for number, rows in enumerate(lengths):
        for row in range(rows):
            there = [side for side, layout in enumerate(some) if has_all(layout, row, rows)]
            wanted = np.zeros(2)
            if there:
                gain = np.sqrt((squares[0] + VARIANCE_FLOOR) / (squares[there[0]] + VARIANCE_FLOOR))
                wanted = fits[there[0]].unseen[number][row] * gain
            np.testing.assert_allclose(found.unseen[number][row], wanted, atol=1e-5)


def test_a_model_that_looks_ahead_a_little_has_no_model_of_what_comes_after() -> None:
    parts, near = [wave(300)], Neighbours(2, 4, 3)
    found = fit_sides(parts, near, principal_axes(parts), local=False, looks_ahead=False)
    assert fitted_sides(found) == [near, BEFORE]
    assert found.ridge.reach == (4, 3)


def test_one_penalty_serves_all_sides() -> None:
    # from one side alone these rows would choose another
    rows = [wave(60, noise=1.0)]
    first, before = single(rows, BOTH), single(rows, BEFORE)
    assert first.penalty != before.penalty
    same = single(rows, BEFORE, penalties=(first.penalty,))
    np.testing.assert_array_equal(fit(rows).ridge.models[1].weights, same.model.weights)


def test_a_fit_of_nothing_judges_nothing() -> None:
    parts = [wave(5), wave(2)]
    found = SidesFit.of_nothing(parts)
    assert [one.tolist() for one in found.unseen] == [[[0.0, 0.0]] * 5, [[0.0, 0.0]] * 2]
    np.testing.assert_array_equal(found.ridge.expected(parts[0], found.unseen[0]), parts[0])
    assert not found.ridge.assessed(50).any()
