"""Ridge regression by moments, and residuals of rows that were not seen."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from subadjacent.model.ridge import SIDES
from subadjacent.training.ridge import Fit, fit_ridge

from subadjacent.core.band import Band

BAND = Band(2, 4)


def wave(rows: int, channels: int = 2, noise: float = 0.1, seed: int = 0) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None] / (3 + np.arange(channels))
    return (np.sin(time) + noise * rng.normal(size=(rows, channels))).astype(np.float32)


def fit(parts: list[NDArray[np.float32]], **others: Any) -> Fit:
    found = fit_ridge(parts, BAND, **others)
    assert found is not None
    return found


def test_a_sine_is_expected_from_its_sub_adjacent_points() -> None:
    values = wave(2000, noise=0.0)
    model, unseen, _ = fit([values], local=False)
    inner = slice(10, -10)
    assert np.abs(model.residuals(values)[inner]).max() < 0.01
    assert np.abs(unseen[0][inner]).max() < 0.01


def test_noise_is_left_over_whole() -> None:
    noise = np.random.default_rng(1).normal(size=(3000, 2)).astype(np.float32)
    unseen = fit([noise], local=False).unseen
    assert (unseen[0] ** 2).mean() == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("lengths", [(200,), (90, 37, 120)])
def test_residuals_are_those_of_models_that_left_fold_and_guard_out(
    lengths: tuple[int, ...], local: bool
) -> None:
    """The definition read aloud, with scikit-learn's ridge."""
    parts = [wave(rows, seed=rows) for rows in lengths]
    model, unseen, _ = fit(parts, local=local, penalties=(3.0,))
    # the rows that have all their neighbours
    inner = [(BAND.far, rows - BAND.far) for rows in lengths]
    cases = [
        case for part, rows in zip(parts, inner, strict=True) for case in model.cases(part, *rows)
    ]
    features = np.concatenate([one for one, _ in cases]).astype(np.float64)
    targets = np.concatenate([one for _, one in cases]).astype(np.float64)
    total = len(features)
    wanted = np.empty_like(targets)
    cuts = np.linspace(0, total, 6).astype(int)
    for first, last in pairwise(cuts):
        kept = np.ones(total, dtype=bool)
        kept[max(first - BAND.far, 0) : last + BAND.far] = False
        slow = Ridge(alpha=3.0, fit_intercept=False).fit(features[kept], targets[kept])
        wanted[first:last] = targets[first:last] - slow.predict(features[first:last])
    found = [one[first:last] for one, (first, last) in zip(unseen, inner, strict=True)]
    np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-3)
    assert [len(one) for one in unseen] == list(lengths)
    assert not any(one[: BAND.far].any() or one[-BAND.far :].any() for one in unseen)
    whole = Ridge(alpha=3.0, fit_intercept=False).fit(features, targets)
    np.testing.assert_allclose(model.weights, whole.coef_.T, atol=1e-3)


@pytest.mark.parametrize("side", ["both", "before", "after"])
@pytest.mark.parametrize(("near", "far", "step"), [(2, 9, 3), (4, 13, 8)])
def test_every_so_many_points_are_a_ridge_on_these_alone(
    near: int, far: int, step: int, side: str
) -> None:
    """The definition read aloud, with scikit-learn's ridge and features picked one by one."""
    values = wave(150, seed=4)
    found = fit_ridge(
        [values], Band(near, far), local=False, side=side, step=step, penalties=(2.0,)
    )
    assert found is not None
    signs = {"both": (-1, 1), "before": (-1,), "after": (1,)}[side]
    distances = range(near, far + 1, step)
    offsets = sorted(sign * distance for sign in signs for distance in distances)
    kept = range(0 if side == "after" else far, 150 if side == "before" else 150 - far)
    features = np.array(
        [
            np.concatenate([*(values[row + one] @ found.model.axes for one in offsets), [1.0]])
            for row in kept
        ]
    )
    targets = values[kept.start : kept.stop]
    whole = Ridge(alpha=2.0, fit_intercept=False).fit(features, targets)
    np.testing.assert_allclose(found.model.weights, whole.coef_.T, atol=1e-3)
    wanted = np.zeros_like(values)
    for first, last in pairwise(np.linspace(0, len(kept), 6).astype(int)):
        # the guard is as wide as the band, not as wide as a step
        away = np.ones(len(kept), dtype=bool)
        away[max(first - far, 0) : last + far] = False
        slow = Ridge(alpha=2.0, fit_intercept=False).fit(features[away], targets[away])
        rows = slice(kept.start + first, kept.start + last)
        wanted[rows] = values[rows] - slow.predict(features[first:last])
    np.testing.assert_allclose(found.unseen[0], wanted, atol=1e-3)


def test_the_penalty_is_the_one_that_errs_least_on_unseen_rows() -> None:
    values = wave(150, channels=3, noise=1.0)
    errors = {}
    for penalty in (1e-3, 10.0, 1e5):
        unseen = fit([values], local=False, penalties=(penalty,)).unseen[0]
        errors[penalty] = (unseen**2).sum()
    chosen = fit([values], local=False, penalties=tuple(errors)).penalty
    assert chosen == min(errors, key=lambda penalty: errors[penalty])
    assert len(set(errors.values())) == 3


@pytest.mark.parametrize("rows", [19, 20, 24])
@pytest.mark.parametrize("local", [False, True])
def test_few_rows_are_enough(rows: int, local: bool) -> None:
    model, unseen, _ = fit([wave(rows)], local=local)
    assert np.isfinite(model.weights).all()
    assert np.isfinite(unseen[0]).all()
    assert unseen[0].shape == (rows, 2)


@pytest.mark.parametrize(("side", "rows"), [("both", 18), ("before", 14), ("after", 14)])
def test_where_a_fold_leaves_nothing_to_learn_from_there_is_no_model_by_hand(
    side: str, rows: int
) -> None:
    # ten rows with all their neighbours: the middle fold, of rows 4 and 5, with 4 to either side
    # takes them all
    assert fit_ridge([wave(rows)], BAND, local=True, side=side) is None
    assert fit_ridge([wave(rows + 1)], BAND, local=True, side=side) is not None


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("rows", [0, 1, 4, 5, 8, 9])
def test_without_a_row_that_has_all_its_neighbours_there_is_no_model(rows: int, side: str) -> None:
    assert fit_ridge([wave(rows)], BAND, local=False, side=side) is None
