"""Rows as a whole: squares are added over channels before they are compared."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.scoring.standardised import FLOOR, SCALES, Usual, learn_usual
from subadjacent.scoring.together import CLIP, SOFTNESS, Together, learn_together

LIKE_ONE = Together(np.full((2, len(SCALES)), 0.5))


def everywhere(parts: list[NDArray[np.float64]]) -> list[NDArray[np.bool_]]:
    return [np.ones(len(part), dtype=bool) for part in parts]


def test_two_channels_that_share_a_lasting_residual_by_hand() -> None:
    # averages of ones are one, their squares too, on every scale
    found = LIKE_ONE.surprise(np.ones((100, 2)), causal=False)[40:-40]
    np.testing.assert_allclose(found, math.log1p(1 / (0.5 + FLOOR) / SOFTNESS))


def test_the_channel_that_is_out_bears_it_all_by_hand() -> None:
    # of squares 4 and 0 the mean is 2; the first has twice its share, the other none
    found = LIKE_ONE.surprise(np.tile([2.0, 0.0], (100, 1)), causal=False)[40:-40]
    row = math.log1p(2 / (0.5 + FLOOR) / SOFTNESS)
    np.testing.assert_allclose(found, np.tile([2 * row, 0], (20, 1)))
    far = LIKE_ONE.surprise(np.tile([1e9, 0.0], (100, 1)), causal=False)[40:-40]
    np.testing.assert_allclose(far[:, 0], 2 * math.log1p(CLIP**2 / 2 / (0.5 + FLOOR) / SOFTNESS))


def window(row: int, rows: int, length: int, causal: bool) -> range:
    """The rows that an average over so many takes in."""
    ahead = 0 if causal else (length - 1) // 2
    return range(max(row + ahead + 1 - length, 0), min(row + ahead + 1, rows))


def slow_squares(residuals: NDArray[np.float64], row: int, causal: bool) -> list[float]:
    """Squares of averages, then averages of squares: the definition read aloud."""
    rows, channels = residuals.shape
    cut = [[max(-CLIP, min(CLIP, float(value))) for value in one] for one in residuals]
    of_averages, averages = [], []
    for scale in SCALES:
        near = window(row, rows, scale, causal)
        means = [sum(cut[one][c] for one in near) / len(near) for c in range(channels)]
        # the mean of fewer rows strays more
        held_back = len(near) / scale
        of_averages.append(held_back * sum(mean**2 for mean in means) / channels)
        squares = [sum(value**2 for value in cut[one]) / channels for one in near]
        averages.append(sum(squares) / len(near))
    return [*of_averages, *averages]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("channels", [2, 5])
@pytest.mark.parametrize("rows", [1, 2, 9, 41, 100])
def test_the_surprise_is_the_definition(rows: int, channels: int, causal: bool) -> None:
    rng = np.random.default_rng(rows + channels)
    residuals = 2 * rng.normal(size=(rows, channels))
    together = Together(rng.uniform(0.1, 1, size=(2, len(SCALES))))
    found = together.surprise(residuals, causal=causal)
    for row in {0, rows // 2, rows - 1}:
        squares = slow_squares(residuals, row, causal)
        total = sum(
            math.log1p(square / (usual + FLOOR) / SOFTNESS) / 6
            for square, usual in zip(squares, together.squares.ravel(), strict=True)
        )
        cut = np.clip(residuals[row], -CLIP, CLIP) ** 2
        np.testing.assert_allclose(found[row], total * cut / cut.mean())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [(60,), (3, 40, 1)])
def test_what_is_learned_is_the_definition(lengths: tuple[int, ...], causal: bool) -> None:
    rng = np.random.default_rng(sum(lengths))
    parts = [rng.normal(size=(rows, 3)) for rows in lengths]
    judged = [np.arange(len(part)) % 4 > 0 for part in parts]
    together, surprise = learn_together(parts, judged, causal=causal)
    squares = np.array(
        [slow_squares(part, row, causal) for part in parts for row in range(len(part))]
    )
    kept = [row for row, counts in enumerate(np.concatenate(judged)) if counts]

    def usual(rows: list[int]) -> NDArray[np.float64]:
        blocks = [block for block in np.array_split(squares[rows], 10) if len(block)]
        return np.asarray(np.sqrt(np.mean([block.mean(axis=0) ** 2 for block in blocks], axis=0)))

    np.testing.assert_allclose(together.squares.ravel(), usual(kept))
    found = np.concatenate(surprise).mean(axis=1)
    for fold in np.array_split(kept, 5):
        others = usual([row for row in kept if row not in fold])
        for row in fold:
            wanted = np.mean(np.log1p(squares[row] / (others + FLOOR) / SOFTNESS))
            assert found[row] == pytest.approx(wanted)
    assert not np.delete(found, kept).any()


def test_the_mean_over_channels_is_the_row_s_whoever_is_to_blame() -> None:
    rng = np.random.default_rng(0)
    residuals = rng.normal(size=(200, 4))
    found = LIKE_ONE.surprise(residuals, causal=False)
    turned = LIKE_ONE.surprise(residuals[:, ::-1], causal=False)
    np.testing.assert_allclose(found.mean(axis=1), turned.mean(axis=1))
    np.testing.assert_allclose(found, turned[:, ::-1])
    assert (found >= 0).all()


def test_many_channels_out_a_little_count_for_more_and_one_far_out_for_less() -> None:
    rng = np.random.default_rng(1)
    normal = rng.normal(size=(4000, 20))
    together = learn_together([normal], everywhere([normal]), causal=False).together
    alone = learn_usual([normal], causal=False).usual.indifferent_to_spread()
    many, one = rng.normal(size=(400, 20)), rng.normal(size=(400, 20))
    many[200:220] *= 2.5
    one[200:220, 0] += 200

    def more(rows: NDArray[np.float64], judge: Together | Usual) -> float:
        each = judge.surprise(rows, causal=False).mean(axis=1)
        return float(each[200:220].mean() - each[:150].mean())

    assert more(many, together) > 2 * more(many, alone) > 0
    assert more(one, alone) > 2 * more(one, together) > 0


def test_a_single_channel_has_been_judged_by_itself() -> None:
    rows = np.random.default_rng(2).normal(size=(50, 1))
    together, surprise = learn_together([rows], everywhere([rows]), causal=False)
    assert not surprise[0].any()
    assert not together.surprise(100 * rows, causal=False).any()


def test_a_row_without_residuals_has_nobody_to_blame() -> None:
    rows = np.zeros((60, 3))
    rows[30] = [3, 0, 0]
    found = LIKE_ONE.surprise(rows, causal=False)
    # its neighbours share averages with it: the surprise is spread evenly there
    assert found[29, 0] == found[29, 1] == found[29, 2] > 0
    assert found[30, 1] == 0 < found[30, 0]
    assert np.isfinite(found).all()


def test_where_no_row_was_judged_nothing_is_ever_unusual() -> None:
    rows = np.ones((20, 2))
    together, surprise = learn_together([rows], [np.zeros(20, dtype=bool)], causal=False)
    assert not surprise[0].any()
    assert together.surprise(np.full((5, 2), 1e3), causal=False).max() < 1e-6


def test_a_single_row_is_held_against_itself() -> None:
    row = np.array([[1.0, 2.0]])
    together, surprise = learn_together([row], everywhere([row]), causal=True)
    np.testing.assert_allclose(surprise[0], together.surprise(row, causal=True))


def test_a_causal_surprise_does_not_change_when_rows_follow() -> None:
    rows = np.random.default_rng(3).normal(size=(200, 3))
    whole = LIKE_ONE.surprise(rows, causal=True)
    np.testing.assert_allclose(LIKE_ONE.surprise(rows[:77], causal=True), whole[:77])
    assert not np.allclose(
        LIKE_ONE.surprise(rows[:77], causal=False), LIKE_ONE.surprise(rows, causal=False)[:77]
    )
