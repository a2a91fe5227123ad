"""Residuals on several scales, in units of what is usual; channel by channel and by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from methods.views.squares import slow_joint_squares, slow_squares
from subadjacent.methods.views.residual_scale import (
    FLOOR,
    JOINT_CLIP,
    JOINT_SOFTNESS,
    SCALES,
    SOFTNESS,
    SPREAD_WEIGHT,
    ChannelScale,
    JointScale,
    JointSquares,
    Squares,
    Surprise,
)

LIKE_ONE = JointScale(np.full(2 * len(SCALES), 0.5))


def surprise(
    scale: ChannelScale, residuals: NDArray[np.float64], lookahead: int | None = None
) -> Surprise:
    return scale.surprise(Squares.of(residuals, 0, len(residuals), lookahead))


def joint(
    scale: JointScale, residuals: NDArray[np.float64], lookahead: int | None = None
) -> Surprise:
    return scale.surprise(JointSquares.of(residuals, 0, len(residuals), lookahead))


# ---- channel by channel


def test_a_lasting_residual_of_one_by_hand() -> None:
    scale = ChannelScale(np.array([[1.0], [0.1], [0.025]]), np.array([0.5]))
    found = surprise(scale, np.ones((200, 1)))
    wanted = np.mean([math.log1p(1 / (v + FLOOR) / SOFTNESS) for v in (1.0, 0.1, 0.025)])
    # the average of ones is one on every scale, and so is the average of their squares
    wanted += SPREAD_WEIGHT * math.log(1 / 0.5)
    np.testing.assert_allclose(found[40:-40], wanted)
    # at the ends averages over fewer rows are held back
    assert (found[[0, -1]] < wanted).all()


@pytest.mark.parametrize("lookahead", [None, 0, 6])
@pytest.mark.parametrize("rows", [1, 9, 100])
def test_squares_are_the_definition(rows: int, lookahead: int | None) -> None:
    residuals = 3 * np.random.default_rng(rows).normal(size=(rows, 3))
    # a square that is cut where the spread is taken
    residuals[rows // 3, 1] = 500.0
    found = Squares.of(residuals, 0, rows, lookahead)
    for row in range(rows):
        squares, spread = slow_squares(residuals, row, lookahead)
        np.testing.assert_allclose([one[row] for one in found.scales], squares, atol=1e-9)
        np.testing.assert_allclose(found.spread[row], spread, rtol=1e-9)


@pytest.mark.parametrize("lookahead", [None, 0, 6])
@pytest.mark.parametrize(("first", "last"), [(0, 1), (39, 41), (130, 200)])
def test_squares_of_some_rows_are_those_of_all(
    first: int, last: int, lookahead: int | None
) -> None:
    residuals, rows = np.random.default_rng(first).normal(size=(200, 2)), slice(first, last)
    whole, some = (Squares.of(residuals, *ends, lookahead) for ends in ((0, 200), (first, last)))
    np.testing.assert_allclose(some.scales, whole.within(rows).scales, atol=1e-12)
    np.testing.assert_allclose(some.spread, whole.spread[rows], atol=1e-12)
    joint_whole = JointSquares.of(residuals, 0, 200, lookahead).within(rows)
    joint_some = JointSquares.of(residuals, first, last, lookahead)
    np.testing.assert_allclose(joint_some.squares, joint_whole.squares, atol=1e-12)
    np.testing.assert_allclose(joint_some.shares, joint_whole.shares, atol=1e-12)


@pytest.mark.parametrize("lookahead", [None, 0, 6])
def test_the_surprise_of_a_channel_is_the_definition(lookahead: int | None) -> None:
    rng = np.random.default_rng(1)
    residuals = 5 * rng.normal(size=(120, 3))
    scale = ChannelScale(rng.uniform(0.1, 1, size=(3, 3)), np.array([0.0, 20.0, 1e3]))
    found = surprise(scale, residuals, lookahead)
    for row in (0, 1, 60, 119):
        squares, spread = slow_squares(residuals, row, lookahead)
        wanted = np.log1p(squares / ((scale.squares + FLOOR) * SOFTNESS)).mean(axis=0)
        excess = np.maximum(spread / np.maximum(scale.spread, FLOOR), 1)
        np.testing.assert_allclose(found[row], wanted + SPREAD_WEIGHT * np.log(excess))


def test_what_does_not_matter_is_told_by_the_floor_by_hand() -> None:
    # nothing was ever left in training: a residual of 0.2 is one that is four times the floor
    never = ChannelScale(np.zeros((len(SCALES), 1)), np.zeros(1), 0.01)
    found = surprise(never, np.full((200, 1), 0.2))[60:-60]
    wanted = math.log1p(4 / SOFTNESS) + SPREAD_WEIGHT * math.log(4)
    np.testing.assert_allclose(found, wanted)
    rows = JointScale(np.zeros(2 * len(SCALES)), 0.01)
    found = joint(rows, np.full((200, 2), 0.2))[60:-60]
    np.testing.assert_allclose(found, math.log1p(4 / JOINT_SOFTNESS))


def test_half_a_cycle_is_judged_as_half_a_cycle_by_hand() -> None:
    # ten rows are usually 0.5 off, forty a hundredth of that: whole cycles
    usual = np.array([1.0, 0.25, 0.0025]) - FLOOR
    scale = ChannelScale(usual[:, None], np.full(1, 1e9))
    found = surprise(scale, np.ones((10, 1)), 0)[-1].item()
    # the last row sees ten rows, whose mean is 1, on both of the longer scales
    wanted = [math.log1p(1 / SOFTNESS), *[math.log1p(4 / SOFTNESS)] * 2]
    assert found == pytest.approx(np.mean(wanted))
    # the twentieth sees twenty: half way from ten to forty a tenth of 0.25 is usual
    found = surprise(scale, np.ones((20, 1)), 0)[-1].item()
    wanted = [math.log1p(1 / SOFTNESS), math.log1p(4 / SOFTNESS), math.log1p(40 / SOFTNESS)]
    assert found == pytest.approx(np.mean(wanted))
    # and of rows as a whole
    rows = JointScale(np.concatenate([usual, np.full(3, 1.0 - FLOOR)]))
    found = joint(rows, np.ones((10, 2)), 0)[-1].mean()
    ratios = np.array([1, 4, 4, 1, 1, 1]) / JOINT_SOFTNESS
    assert found == pytest.approx(np.log1p(ratios).mean())


def test_means_of_few_rows_that_stay_put_are_held_back_as_noise_is() -> None:
    # what lasts does not fade as noise does: held back no less than before
    scale = ChannelScale(np.ones((len(SCALES), 1)) - FLOOR, np.full(1, 1e9))
    found = surprise(scale, np.ones((10, 1)), 0)[-1].item()
    wanted = np.log1p(np.array([1, 1, 10 / 40]) / SOFTNESS).mean()
    assert found == pytest.approx(wanted)


# ---- rows as a whole


def test_the_channel_that_is_out_bears_it_all_by_hand() -> None:
    # of squares 4 and 0 the mean is 2; the first has twice its share, the other none
    found = joint(LIKE_ONE, np.tile([2.0, 0.0], (100, 1)))[40:-40]
    row = math.log1p(2 / (0.5 + FLOOR) / JOINT_SOFTNESS)
    np.testing.assert_allclose(found, np.tile([2 * row, 0], (20, 1)))
    far = joint(LIKE_ONE, np.tile([1e9, 0.0], (100, 1)))[40:-40]
    cut = math.log1p(JOINT_CLIP**2 / 2 / (0.5 + FLOOR) / JOINT_SOFTNESS)
    np.testing.assert_allclose(far[:, 0], 2 * cut)


@pytest.mark.parametrize("lookahead", [None, 0, 6])
@pytest.mark.parametrize("channels", [2, 5])
@pytest.mark.parametrize("rows", [1, 9, 100])
def test_the_surprise_of_a_row_is_the_definition(
    rows: int, channels: int, lookahead: int | None
) -> None:
    rng = np.random.default_rng(rows + channels)
    residuals = 2 * rng.normal(size=(rows, channels))
    scale = JointScale(rng.uniform(0.1, 1, size=2 * len(SCALES)))
    found = joint(scale, residuals, lookahead)
    for row in {0, rows // 2, rows - 1}:
        squares = slow_joint_squares(residuals, row, lookahead)
        total = sum(
            math.log1p(square / (usual + FLOOR) / JOINT_SOFTNESS) / 6
            for square, usual in zip(squares, scale.squares, strict=True)
        )
        cut = np.clip(residuals[row], -JOINT_CLIP, JOINT_CLIP) ** 2
        np.testing.assert_allclose(found[row], total * cut / cut.mean())


def test_a_single_channel_has_been_judged_by_itself() -> None:
    rows = np.random.default_rng(2).normal(size=(50, 1))
    assert not joint(LIKE_ONE, 100 * rows).any()


def test_a_row_without_residuals_has_nobody_to_blame() -> None:
    rows = np.zeros((60, 3))
    rows[30] = [3, 0, 0]
    found = joint(LIKE_ONE, rows)
    # its neighbours share averages with it: the surprise is spread evenly there
    assert found[29, 0] == found[29, 1] == found[29, 2] > 0
    assert found[30, 1] == 0 < found[30, 0]
    assert np.isfinite(found).all()
