"""What is usual of residuals, and rows held against what is usual in others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from methods.views.squares import slow_holding_back, slow_joint_squares, slow_squares
from subadjacent.methods.views.residual_scale import (
    CHUNK,
    FLOOR,
    JOINT_SOFTNESS,
    SCALES,
    SOFTNESS,
    SPREAD,
    SPREAD_WEIGHT,
    ChannelScale,
    JointScale,
    JointSquares,
    Squares,
)
from subadjacent.methods.views.residual_scale_fit import (
    AssessedRows,
    ScaleFit,
    fit_channel_scale,
    fit_joint_scale,
)

Floats = NDArray[np.float64]


def everywhere(parts: list[Floats]) -> AssessedRows:
    return AssessedRows([np.ones(len(part), dtype=bool) for part in parts])


def channel_fit(parts: list[Floats], lookahead: int | None = None) -> ScaleFit[ChannelScale]:
    return fit_channel_scale(parts, everywhere(parts), lookahead)


def joint_fit(parts: list[Floats], lookahead: int | None = None) -> ScaleFit[JointScale]:
    return fit_joint_scale(parts, everywhere(parts), lookahead)


def whole(scale: Any, residuals: Floats, lookahead: int | None = None) -> Floats:
    """The surprise of rows to a scale that was learned."""
    squares: Any = Squares if isinstance(scale, ChannelScale) else JointSquares
    return np.asarray(scale.surprise(squares.of(residuals, 0, len(residuals), lookahead)))


def unseen(fit: ScaleFit[Any], number: int = 0) -> Floats:
    """The surprise of a segment's rows to what is usual outside their fold."""
    return np.asarray(fit.surprise(number, 0, len(fit.parts[number])))


def test_a_restless_tenth_makes_more_usual_than_the_mean_does_by_hand() -> None:
    residuals = np.concatenate([np.full((900, 1), 0.1), np.full((100, 1), 1.0)])
    found = channel_fit([residuals]).scale.squares[0, 0]
    # nine blocks of 0.01, one of 1
    assert found == pytest.approx(math.sqrt((9 * 0.01**2 + 1) / 10))
    assert found > (residuals**2).mean()


def block_mean(squares: Floats) -> Floats:
    """The root mean square over ten blocks of each block's mean, read aloud."""
    blocks = [block for block in np.array_split(squares, 10) if len(block)]
    return np.asarray(np.sqrt(np.mean([block.mean(axis=0) ** 2 for block in blocks], axis=0)))


def apart(fold: NDArray[np.int64], kept: list[int]) -> list[int]:
    """Assessed rows outside a fold but for 40 on either side, or for a quarter of them if less."""
    first, last = kept.index(fold[0]), kept.index(fold[-1]) + 1
    guard = min(40, (len(kept) - len(fold)) // 4)
    return kept[: max(first - guard, 0)] + kept[last + guard :]


def drawn(lengths: tuple[int, ...]) -> tuple[list[Floats], list[NDArray[np.bool_]], list[int]]:
    """Residuals, which are assessed, and the numbers of assessed rows through all segments."""
    rng = np.random.default_rng(sum(lengths))
    parts = [rng.normal(size=(rows, 3)) * rng.uniform(0.5, 2) for rows in lengths]
    assessed = [np.arange(len(part)) % 4 > 0 for part in parts]
    return parts, assessed, np.flatnonzero(np.concatenate(assessed)).tolist()


@pytest.mark.parametrize("chunk", [7, CHUNK])
@pytest.mark.parametrize("lookahead", [None, 6])
@pytest.mark.parametrize("lengths", [(60,), (3, 40, 1), (90, 25, 130)])
def test_what_is_usual_of_channels_is_the_definition(
    lengths: tuple[int, ...], lookahead: int | None, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.methods.views.residual_scale.CHUNK", chunk)
    parts, assessed, kept = drawn(lengths)
    fit = fit_channel_scale(parts, AssessedRows(assessed), lookahead)
    pairs = [slow_squares(part, row, lookahead) for part in parts for row in range(len(part))]
    squares, spreads = np.array([one for one, _ in pairs]), np.array([one for _, one in pairs])
    # short segments have less to add up than longer ones to come
    there = min(max(lengths), SPREAD) / SPREAD
    places = [(row, rows) for rows in lengths for row in range(rows)]

    def usual(rows: list[int]) -> tuple[Floats, Floats]:
        return block_mean(squares[rows]), np.quantile(spreads[rows], 0.99, axis=0) / there

    np.testing.assert_allclose(fit.scale.squares, usual(kept)[0], atol=1e-12)
    np.testing.assert_allclose(fit.scale.spread, usual(kept)[1])
    found = np.concatenate([unseen(fit, number) for number in range(len(parts))])
    assert found.shape == (sum(lengths), 3)
    for fold in np.array_split(kept, 5):
        level, calm = usual(apart(fold, kept))
        for row in fold:
            held = slow_holding_back(level + FLOOR, *places[row], lookahead)
            wanted = np.log1p(held * squares[row] / ((level + FLOOR) * SOFTNESS)).mean(axis=0)
            wanted += SPREAD_WEIGHT * np.log(np.maximum(spreads[row] / np.maximum(calm, FLOOR), 1))
            np.testing.assert_allclose(found[row], wanted)


@pytest.mark.parametrize("chunk", [7, CHUNK])
@pytest.mark.parametrize("lookahead", [None, 6])
@pytest.mark.parametrize("lengths", [(60,), (3, 40, 1)])
def test_what_is_usual_of_rows_is_the_definition(
    lengths: tuple[int, ...], lookahead: int | None, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.methods.views.residual_scale.CHUNK", chunk)
    parts, assessed, kept = drawn(lengths)
    fit = fit_joint_scale(parts, AssessedRows(assessed), lookahead)
    squares = np.array(
        [slow_joint_squares(part, row, lookahead) for part in parts for row in range(len(part))]
    )
    np.testing.assert_allclose(fit.scale.squares, block_mean(squares[kept]))
    places = [(row, rows) for rows in lengths for row in range(rows)]
    found = np.concatenate([unseen(fit, number) for number in range(len(parts))]).mean(axis=1)
    for fold in np.array_split(kept, 5):
        level = block_mean(squares[apart(fold, kept)])
        for row in fold:
            ratios = squares[row] / (level + FLOOR) / JOINT_SOFTNESS
            of_averages = (level + FLOOR)[: len(SCALES), None]
            ratios[: len(SCALES)] *= slow_holding_back(of_averages, *places[row], lookahead)[:, 0]
            wanted = np.mean(np.log1p(ratios))
            assert found[row] == pytest.approx(wanted)


def test_the_surprise_of_some_rows_is_that_of_the_segment() -> None:
    parts, assessed, _ = drawn((300, 90))
    rows = AssessedRows(assessed)
    for fit in (fit_channel_scale(parts, rows, None), fit_joint_scale(parts, rows, None)):
        for number, first, last in ((0, 0, 1), (0, 50, 61), (0, 10, 299), (1, 3, 90)):
            found = fit.surprise(number, first, last)
            np.testing.assert_allclose(found, unseen(fit, number)[first:last], atol=1e-12)


def test_some_of_many_rows_tell_which_spread_is_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(0).normal(size=(20_000, 2))
    every = channel_fit([noise[:7001], noise[7001:]])
    monkeypatch.setattr("subadjacent.methods.views.residual_scale_fit.MAX_SAMPLED_ROWS", 2_000)
    some = channel_fit([noise[:7001], noise[7001:]])
    assert not np.array_equal(some.scale.spread, every.scale.spread)
    np.testing.assert_allclose(some.scale.spread, every.scale.spread, rtol=0.05)
    np.testing.assert_array_equal(some.scale.squares, every.scale.squares)


def test_where_no_row_was_judged_nothing_is_ever_unusual() -> None:
    rows, never = np.ones((20, 2)), AssessedRows([np.zeros(20, dtype=bool)])
    for fit in (fit_channel_scale([rows], never, None), fit_joint_scale([rows], never, None)):
        assert unseen(fit).max() < 1e-6
        assert whole(fit.scale, np.full((5, 2), 1e3)).max() < 1e-6


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 9])
def test_fewer_rows_than_blocks_or_folds_are_enough(rows: int) -> None:
    residuals = np.random.default_rng(rows).normal(size=(rows, 2))
    for fit in (channel_fit([residuals], 0), joint_fit([residuals], 0)):
        assert np.isfinite(fit.scale.squares).all()
        assert unseen(fit).shape == (rows, 2)
        assert np.isfinite(unseen(fit)).all()


def test_a_single_row_is_held_against_itself() -> None:
    row = np.array([[1.0, 3.0]])
    for fit in (channel_fit([row], 0), joint_fit([row], 0)):
        np.testing.assert_allclose(unseen(fit), whole(fit.scale, row, 0))
