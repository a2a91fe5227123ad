"""Ridges for the middle and for the ends, brought to one scale."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.model.ridge import SIDES
from subadjacent.training.ridge import fit_ridge
from subadjacent.training.sided import LEAST, SidedFit, fit_sided

from subadjacent.core.band import Band

BAND = Band(2, 4)


def wave(rows: int, noise: float = 0.1, seed: int = 0) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None] / [3.0, 4.0]
    return (np.sin(time) + noise * rng.normal(size=(rows, 2))).astype(np.float32)


def sides(fit: SidedFit) -> list[str]:
    return [model.side for model in fit.ridge.models]


@pytest.mark.parametrize(
    ("lengths", "causal", "wanted"),
    [
        # a model learns from eleven rows at least that have all their neighbours; on both sides,
        # up to 4 rows away, those take 9 rows
        ([9] * 11, False, ["both", "before", "after"]),
        ([9] * 10, False, ["before", "after"]),
        ([19], False, ["both", "before", "after"]),
        ([18], False, ["before", "after"]),
        ([14], False, []),
        # of 6 rows the last 2 have all before them, the first 2 all after them: 4 of 6
        ([6] * 6, False, ["before", "after"]),
        # of 5 rows one each: 2 of 5
        ([5] * 20, False, []),
        ([4] * 20, False, []),
        ([1], False, []),
        # of 8 rows the last 4
        ([8] * 3, True, ["before"]),
        ([7] * 4, True, []),
        # 36 of 40 rows outweigh what is too short
        ([40, 4, 3], True, ["before"]),
        # 4 of 8, and 0 of 2
        ([*[8] * 3, 2], True, []),
    ],
)
def test_models_are_there_where_half_of_the_rows_are_judged_by_hand(
    lengths: list[int], causal: bool, wanted: list[str]
) -> None:
    parts = [wave(rows) for rows in lengths]
    fit = fit_sided(parts, BAND, local=False, causal=causal)
    assert sides(fit) == wanted
    assert fit.ridge.gains.shape == (len(wanted), 2)
    assert [one.shape for one in fit.unseen] == [part.shape for part in parts]
    if not wanted:
        assert not any(one.any() for one in fit.unseen)
        assert not fit.ridge.judged(100).any()


@pytest.mark.parametrize(
    ("local", "step", "lengths"),
    [
        (False, 1, (90,)),
        (True, 1, (90,)),
        (False, 1, (8, 60, 3)),
        (True, 1, (8, 60, 3)),
        # a model of departures from a mean takes every point
        (False, 2, (47, 9)),
    ],
)
def test_residuals_are_those_of_the_first_model_on_the_scale_of_the_first(
    local: bool, step: int, lengths: tuple[int, ...]
) -> None:
    """The definition read aloud."""
    parts = [wave(rows, seed=rows) for rows in lengths]
    found = fit_sided(parts, BAND, local=local, causal=False, step=step)
    first = fit_ridge(parts, BAND, local=local, step=step)
    assert first is not None
    fits = {"both": first}
    for side in ("before", "after"):
        other = fit_ridge(
            parts, BAND, local=local, side=side, step=step, penalties=(first.penalty,)
        )
        assert other is not None
        fits[side] = other
    far = BAND.far

    def has(side: str, row: int, rows: int) -> bool:
        before, after = row >= far, row + far < rows
        return {"both": before and after, "before": before, "after": after}[side]

    squares = {
        side: np.mean(
            [
                fit.unseen[number][row].astype(np.float64) ** 2
                for number, rows in enumerate(lengths)
                for row in range(rows)
                if has(side, row, rows)
            ],
            axis=0,
        )
        for side, fit in fits.items()
    }
    for number, rows in enumerate(lengths):
        for row in range(rows):
            there = [side for side in SIDES if has(side, row, rows)]
            wanted = np.zeros(2)
            if there:
                gain = np.sqrt((squares["both"] + LEAST) / (squares[there[0]] + LEAST))
                wanted = fits[there[0]].unseen[number][row] * gain
            np.testing.assert_allclose(found.unseen[number][row], wanted, atol=1e-6)


def test_the_causal_form_has_nothing_but_before() -> None:
    fit = fit_sided([wave(300)], BAND, local=True, causal=True)
    assert sides(fit) == ["before"]
    np.testing.assert_array_equal(fit.ridge.gains, 1.0)
    assert not fit.unseen[0][: BAND.far].any()
    assert fit.unseen[0][BAND.far :].any(axis=1).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_gains_bring_one_sided_residuals_to_the_scale_of_the_first(seed: int) -> None:
    parts = [wave(300, noise=0.3, seed=seed)]
    ridge = fit_sided(parts, BAND, local=False, causal=False).ridge
    assert (ridge.gains[0] == 1).all()
    # from one side a noisy wave is expected less well, and that is made up for
    assert (ridge.gains[1:] < 0.99).all()
    rows = wave(20_000, noise=0.3, seed=10 + seed)
    inner = slice(BAND.far, -BAND.far)
    squares = [
        np.square(model.residuals(rows)[inner] * gain).mean(axis=0)
        for model, gain in zip(ridge.models, ridge.gains, strict=True)
    ]
    np.testing.assert_allclose(squares[1:], squares[:1] * np.ones((2, 1)), rtol=0.1)


def test_one_penalty_serves_all_sides() -> None:
    # from one side alone these rows would choose another
    rows = wave(60, noise=1.0)
    first, before = (fit_ridge([rows], BAND, local=False, side=side) for side in ("both", "before"))
    assert first is not None
    assert before is not None
    assert first.penalty != before.penalty
    same = fit_ridge([rows], BAND, local=False, side="before", penalties=(first.penalty,))
    assert same is not None
    ridge = fit_sided([rows], BAND, local=False, causal=False).ridge
    np.testing.assert_array_equal(ridge.models[1].weights, same.model.weights)


def test_unseen_residuals_are_not_those_of_the_fitted_ridge() -> None:
    noise = np.random.default_rng(3).normal(size=(60, 2)).astype(np.float32)
    fit = fit_sided([noise], BAND, local=False, causal=False)
    seen = fit.ridge.residuals(noise)
    assert np.square(fit.unseen[0]).sum() > np.square(seen).sum()


def test_of_nothing_judges_nothing() -> None:
    parts = [wave(5), wave(2)]
    fit = SidedFit.of_nothing(parts)
    assert [one.tolist() for one in fit.unseen] == [[[0.0, 0.0]] * 5, [[0.0, 0.0]] * 2]
    np.testing.assert_array_equal(fit.ridge.expected(parts[0]), parts[0])
    assert not fit.ridge.judged(50).any()
