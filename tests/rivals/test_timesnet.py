"""TimesNet: the periods it finds, how it folds by them, and scores that no batch changes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from rivals.small import assess
from subadjacent.rivals.timesnet import (
    Inception,
    TimesBlock,
    TimesNet,
    TimesNetConfig,
    spectrum,
    strongest,
)

N = 48
CONFIG = TimesNetConfig(channels=2, window=N, width=8, hidden=8, layers=2, periods=2, kernels=3)


def wave(*periods: float, count: int = 4, noise: float = 0.1) -> Tensor:
    at = torch.arange(N)[:, None]
    rows = sum(torch.sin(2 * math.pi * (at + torch.tensor([0.0, 3.0])) / one) for one in periods)
    draws = torch.randn(count, N, 2, generator=torch.Generator().manual_seed(0))
    return rows + noise * draws


@pytest.mark.parametrize("period", [4, 8, 12, 16, 24])
def test_a_planted_period_is_found(period: int) -> None:
    (frequency,) = strongest(spectrum(wave(period)).mean(dim=0), 1)
    assert N // frequency == period


def test_the_mean_is_no_period() -> None:
    assert strongest(torch.tensor([100.0, 1.0, 3.0, 2.0]), 2) == [2, 3]


def test_a_planted_period_is_found_in_training_and_kept_for_scoring() -> None:
    block = TimesBlock(CONFIG).train()
    points = wave(12).repeat(1, 1, 4)
    block(points)
    assert N // strongest(block.strength, 1)[0] == 12
    # in scoring, a window with another period is folded as training was
    before = block.eval().strength.clone()
    block(wave(4).repeat(1, 1, 4))
    torch.testing.assert_close(block.strength, before, rtol=0, atol=0)


def test_folding_lays_a_period_in_each_row_and_unfolding_undoes_it() -> None:
    block = TimesBlock(CONFIG)
    block.convolve = torch.nn.Identity()
    points = torch.arange(2.0 * N * 8).reshape(2, N, 8)
    for period in (1, 5, 12, N):
        torch.testing.assert_close(block.folded(points, period), points)


def test_a_point_hears_of_the_same_phase_one_period_away() -> None:
    """A kernel of three joins neighbours in time, and points a period apart."""
    block = TimesBlock(CONFIG)
    block.convolve = Inception(8, 8, kernels=2)
    points = torch.zeros(1, N, 8)
    touched = points.clone()
    touched[0, 20] = 1.0
    moved = (block.folded(touched, 12) - block.folded(points, 12)).abs().sum(dim=-1)[0]
    assert set(torch.nonzero(moved).flatten().tolist()) == {7, 8, 9, 19, 20, 21, 31, 32, 33}


def test_inception_is_the_mean_of_its_kernels() -> None:
    torch.manual_seed(0)
    layer, picture = Inception(2, 3, kernels=3), torch.randn(1, 2, 5, 7)
    assert [one.kernel_size for one in layer.kernels] == [(1, 1), (3, 3), (5, 5)]
    mean = sum(one(picture) for one in layer.kernels) / 3
    torch.testing.assert_close(layer(picture), mean)


def test_periods_are_weighted_by_the_softmax_of_their_strengths() -> None:
    block = TimesBlock(CONFIG).eval()
    points = wave(12, 6).repeat(1, 1, 4)
    block.strength.copy_(spectrum(points).mean(dim=0))
    frequencies = strongest(block.strength, 2)
    weights = torch.softmax(spectrum(points)[:, frequencies], dim=-1)
    parts = [block.folded(points, N // one) for one in frequencies]
    expected = points + sum(
        weights[:, number, None, None] * part for number, part in enumerate(parts)
    )
    torch.testing.assert_close(block(points), expected)


def test_a_windows_score_does_not_depend_on_the_others() -> None:
    model = TimesNet.seeded(CONFIG, 0)
    model.train()(wave(12))
    model.eval()
    rows = wave(12, 5)
    together = assess(model, rows).error
    alone = torch.cat([assess(model, one[None]).error for one in rows])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-6)


def test_a_window_is_put_on_its_own_level_and_back() -> None:
    """The level and the size of a window change the error by nothing but its square."""
    model, rows = TimesNet.seeded(CONFIG, 0).eval(), wave(12)
    torch.testing.assert_close(model(10 * rows + 5), 10 * model(rows) + 5, rtol=1e-3, atol=1e-2)
