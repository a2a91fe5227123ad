"""Scale, prior, discrepancy and loss of the Anomaly Transformer, by hand and against loops."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from subadjacent.core.association import (
    SMALLEST,
    association_loss,
    discrepancy,
    prior_association,
    scale,
)

SIZES = [1, 2, 3, 7, 31]


def random(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def prior_oracle(scales: Tensor) -> Tensor:
    """One Gaussian density a row, read off at every point, divided by its sum."""
    rows = []
    for i, deviation in enumerate(scales.unbind()):
        densities = [
            torch.exp(-((i - j) ** 2) / (2 * deviation**2)) / (math.sqrt(2 * math.pi) * deviation)
            for j in range(len(scales))
        ]
        rows.append(torch.stack(densities) / torch.stack(densities).sum())
    return torch.stack(rows)


def discrepancy_oracle(series: Tensor, prior: Tensor) -> Tensor:
    """Both divergences, entry by entry, of associations that are nowhere zero."""
    points = []
    for series_row, prior_row in zip(series, prior, strict=True):
        total = series.new_zeros(())
        for s, p in zip(series_row + SMALLEST, prior_row + SMALLEST, strict=True):
            total = total + s * torch.log(s / p) + p * torch.log(p / s)
        points.append(total)
    return torch.stack(points)


def test_discrepancy_of_two_points_by_hand() -> None:
    series = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    prior = torch.tensor([[0.5, 0.5], [0.5, 0.5]])
    # row 0: 0.5 · log(1.0001 / 0.5001) − 0.5 · log(0.0001 / 0.5001) = 0.5 · log(10001)
    expected = torch.tensor([0.5 * math.log(10_001), 0.0])
    torch.testing.assert_close(discrepancy(series, prior), expected)


def test_scale_by_hand_and_at_its_ends() -> None:
    raw = torch.tensor([-1e9, 0.0, 1e9], dtype=torch.float64)
    expected = [3**1e-5 - 1, 3**0.50001 - 1, 3**1.00001 - 1]
    torch.testing.assert_close(
        scale(raw), torch.tensor(expected, dtype=torch.float64), rtol=1e-9, atol=0
    )


@pytest.mark.parametrize("n", SIZES)
def test_prior_and_discrepancy_are_those_of_the_loops_with_their_gradients(n: int) -> None:
    raw, logits = random(n, seed=1), random(n, n, seed=2)
    weights = random(n, seed=3)
    found = []
    for fast in (True, False):
        leaves = [one.clone().requires_grad_() for one in (raw, logits)]
        series = torch.softmax(leaves[1], dim=-1)
        # not too narrow: the loops divide densities, which vanish
        scales = scale(leaves[0]) + 0.2
        prior = prior_association(scales) if fast else prior_oracle(scales)
        points = discrepancy(series, prior) if fast else discrepancy_oracle(series, prior)
        (points * weights).sum().backward()
        found.append([prior.detach(), points.detach(), *(one.grad for one in leaves)])
    for here, there in zip(*found, strict=True):
        torch.testing.assert_close(here, there, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("raw", [-100.0, -3.0, 0.0, 100.0])
def test_extreme_scales_give_rows_that_sum_to_one_and_finite_gradients(raw: float) -> None:
    leaf = torch.full((300,), raw, requires_grad=True)
    prior = prior_association(scale(leaf))
    torch.testing.assert_close(prior.sum(dim=-1), torch.ones(300))
    (gradient,) = torch.autograd.grad(discrepancy(torch.eye(300).flip(0), prior).sum(), leaf)
    assert torch.isfinite(gradient).all()


def test_half_precision_is_widened_first() -> None:
    series = torch.softmax(random(6, 6), dim=-1).bfloat16()
    prior = prior_association(torch.ones(6).bfloat16())
    assert prior.dtype == torch.float32
    assert discrepancy(series, prior).dtype == torch.float32


def test_loss_by_hand() -> None:
    windows, reconstruction = torch.zeros(1, 2, 2), torch.full((1, 2, 2), 2.0)
    pushed, pulled = torch.tensor([[1.0, 3.0]]), torch.tensor([[0.5, 0.5]])
    value = association_loss(windows, reconstruction, pushed, pulled, weight=3.0)
    assert value.item() == 2.0 * 4.0 - 3.0 * 2.0 + 3.0 * 0.5
