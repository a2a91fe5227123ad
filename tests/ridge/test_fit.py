"""A band ridge fitted, and residuals of rows that it had not seen."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from ridge.waves import Rows, wave
from subadjacent.ridge.axes import principal_axes
from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.fit import PENALTIES, RidgeFit, fit_ridge
from subadjacent.ridge.folds import FOLDS
from subadjacent.ridge.neighbours import Neighbours

BOTH, BEFORE, AFTER = Neighbours(2, 4, 4), Neighbours(2, 4, 0), Neighbours(2, 0, 4)


def fit(
    parts: list[Rows], neighbours: Neighbours = BOTH, *, local: bool = False, **others: Any
) -> RidgeFit:
    found = fit_ridge(parts, neighbours, principal_axes(parts), local=local, **others)
    assert found is not None
    return found


def is_none(parts: list[Rows], neighbours: Neighbours, *, local: bool = False) -> bool:
    return fit_ridge(parts, neighbours, principal_axes(parts), local=local) is None


def inner(neighbours: Neighbours, parts: list[Rows]) -> list[slice]:
    return [neighbours.complete(len(part)) for part in parts]


def cases(model: BandRidge, parts: list[Rows]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features and targets of all rows that have all their neighbours, picked one by one."""
    features, targets = [], []
    for part, rows in zip(parts, inner(model.neighbours, parts), strict=True):
        for row in range(rows.start, rows.stop):
            around = np.array([part[row + offset] for offset in model.neighbours.offsets])
            level = around.mean(axis=0) if model.local else 0
            features.append(((around - level) @ model.axes).ravel())
            targets.append(part[row] - level)
    return np.array(features, dtype=np.float64), np.array(targets, dtype=np.float64)


@pytest.mark.parametrize(
    ("neighbours", "local"),
    [
        (BOTH, False),
        (BOTH, True),
        (BEFORE, True),
        (AFTER, False),
        (Neighbours(2, 9, 9, 3), False),
        (Neighbours(4, 13, 0, 8), False),
    ],
    ids=str,
)
@pytest.mark.parametrize("lengths", [(200,), (90, 37, 120)])
def test_residuals_are_those_of_models_that_left_fold_and_guard_out(
    lengths: tuple[int, ...], neighbours: Neighbours, local: bool
) -> None:
    """The definition read aloud, with scikit-learn's ridge."""
    parts = [wave(rows, seed=rows) for rows in lengths]
    found = fit(parts, neighbours, local=local, penalties=(3.0,))
    features, targets = cases(found.model, parts)
    total = len(features)
    wanted = np.empty_like(targets)
    # folds are those of all rows: of cases, some hold fewer than others
    starts = np.cumsum([0, *lengths])
    at = np.concatenate(
        [
            start + np.arange(rows.start, rows.stop)
            for start, rows in zip(starts, inner(neighbours, parts), strict=False)
        ]
    )
    edges = [int(share * sum(lengths)) for share in np.linspace(0, 1, FOLDS + 1)]
    for first, last in pairwise(np.searchsorted(at, edges)):
        assert last > first
        # the guard is as wide as the neighbours reach, not as wide as a step
        kept = np.ones(total, dtype=bool)
        kept[max(first - neighbours.reach, 0) : last + neighbours.reach] = False
        slow = Ridge(alpha=3.0).fit(features[kept], targets[kept])
        wanted[first:last] = targets[first:last] - slow.predict(features[first:last])
    assessed = inner(neighbours, parts)
    there = [unseen[rows] for unseen, rows in zip(found.unseen, assessed, strict=True)]
    np.testing.assert_allclose(np.concatenate(there), wanted, atol=1e-3)
    for unseen, rows, length in zip(found.unseen, assessed, lengths, strict=True):
        assert len(unseen) == length
        assert not unseen[: rows.start].any()
        assert not unseen[rows.stop :].any()
    # the constant, which is not held back, comes last
    whole = Ridge(alpha=3.0).fit(features, targets)
    np.testing.assert_allclose(found.model.weights[:-1], whole.coef_.T, atol=1e-3)
    np.testing.assert_allclose(found.model.weights[-1], whole.intercept_, atol=1e-3)


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("lengths", [(700,), (90, 1500, 120)])
def test_mean_squares_are_those_of_the_residuals(lengths: tuple[int, ...], local: bool) -> None:
    parts = [wave(rows, seed=rows) for rows in lengths]
    found = fit(parts, local=local)
    assessed = inner(BOTH, parts)
    rows = np.concatenate([one[where] for one, where in zip(found.unseen, assessed, strict=True)])
    squares = np.square(rows, dtype=np.float64).mean(axis=0)
    np.testing.assert_allclose(found.mean_squares, squares, rtol=1e-4)


def errors(parts: list[Rows], penalty: float, neighbours: Neighbours = BOTH) -> float:
    """Squared errors on unseen rows with one penalty."""
    unseen = fit(parts, neighbours, penalties=(penalty,)).unseen
    return float(sum(np.square(part, dtype=np.float64).sum() for part in unseen))


@pytest.mark.parametrize("neighbours", [BOTH, Neighbours(5, 20, 20)], ids=str)
@pytest.mark.parametrize(("rows", "spread"), [(600, 0.1), (160, 0.5), (160, 3.0)])
def test_downhill_from_the_middle_is_the_best_penalty_of_all(
    rows: int, spread: float, neighbours: Neighbours
) -> None:
    parts = [wave(rows, channels=3, noise=spread, seed=rows)]
    by_penalty = {penalty: errors(parts, penalty, neighbours) for penalty in PENALTIES}
    chosen = fit(parts, neighbours).penalty
    # sums of float32 residuals: two penalties may tie in all digits that count
    assert by_penalty[chosen] <= min(by_penalty.values()) * (1 + 1e-5) + 1e-6


@pytest.mark.parametrize("rows", [19, 20, 24])
@pytest.mark.parametrize("local", [False, True])
def test_few_rows_are_enough(rows: int, local: bool) -> None:
    found = fit([wave(rows)], local=local)
    assert np.isfinite(found.model.weights).all()
    assert np.isfinite(found.unseen[0]).all()
    assert found.unseen[0].shape == (rows, 2)


@pytest.mark.parametrize(("neighbours", "rows"), [(BOTH, 18), (BEFORE, 14), (AFTER, 14)], ids=str)
def test_where_a_fold_leaves_nothing_to_learn_from_there_is_no_model_by_hand(
    neighbours: Neighbours, rows: int
) -> None:
    # ten rows with all their neighbours: the middle fold, of rows 4 and 5, with 4 to either side
    # takes them all
    assert is_none([wave(rows)], neighbours, local=True)
    assert not is_none([wave(rows + 1)], neighbours, local=True)


@pytest.mark.parametrize("neighbours", [BOTH, BEFORE, AFTER], ids=str)
def test_without_a_row_that_has_all_its_neighbours_there_is_no_model(
    neighbours: Neighbours,
) -> None:
    for rows in (0, 1, 4, 5, 8, 9):
        assert is_none([wave(rows)], neighbours)


def test_only_wanted_rows_get_residuals_and_these_are_the_same() -> None:
    parts = [wave(300), wave(90, seed=1), wave(40, seed=2)]
    wanted = [slice(100, 260), slice(0, 0), slice(0, 40)]
    every, some = fit(parts), fit(parts, wanted=wanted)
    np.testing.assert_array_equal(some.model.weights, every.model.weights)
    np.testing.assert_array_equal(some.mean_squares, every.mean_squares)
    for part, whole, rows in zip(some.unseen, every.unseen, wanted, strict=True):
        asked = np.zeros(len(part), dtype=bool)
        asked[rows] = True
        # other rows next to them: sums come out in another order
        np.testing.assert_allclose(part[asked], whole[asked], atol=1e-6)
        assert not part[~asked].any()


def test_some_of_many_rows_are_learned_from() -> None:
    rows = wave(6000, noise=0.3)
    every, some = fit([rows], penalties=(10.0,)), fit([rows], penalties=(10.0,), most=2000)
    assert not np.array_equal(some.model.weights, every.model.weights)
    # all rows have a residual all the same, about as large
    assert some.unseen[0][4:-4].any(axis=1).all()
    squares = [np.square(found.unseen[0]).mean() for found in (some, every)]
    assert squares[0] == pytest.approx(squares[1], rel=0.05)
    # and the weights are about the same
    assert some.model.weights == pytest.approx(every.model.weights, abs=0.1)
    same = fit([rows], penalties=(10.0,), most=100_000)
    np.testing.assert_array_equal(same.model.weights, every.model.weights)
