"""What training minimises."""

from __future__ import annotations

import pytest
import torch

from subadjacent.core.loss import loss

# one window of two points and one channel: the first point is off by one
WINDOWS = torch.tensor([[[0.0], [2.0]]])
RECONSTRUCTION = torch.tensor([[[1.0], [2.0]]])
CONTRIBUTION = torch.tensor([[0.25, 0.75]])


@pytest.mark.parametrize(("attention_weight", "expected"), [(0.0, 1.0), (4.0, -1.0)])
def test_loss_is_twice_the_error_less_the_weighted_contribution(
    attention_weight: float, expected: float
) -> None:
    # 2 · (1 + 0) / 2 − λ · (0.25 + 0.75) / 2
    assert loss(WINDOWS, RECONSTRUCTION, CONTRIBUTION, attention_weight).item() == expected


def test_the_paper_s_weight_is_the_default() -> None:
    assert loss(WINDOWS, RECONSTRUCTION, CONTRIBUTION).item() == 1.0 - 10 * 0.5


def test_a_half_precision_reconstruction_is_compared_in_single_precision() -> None:
    # 1.001 lies between two bfloat16 numbers; the error must be that of 1.001 against 1
    windows = torch.full((1, 1, 1), 1.001)
    result = loss(windows, torch.ones(1, 1, 1, dtype=torch.bfloat16), torch.zeros(1, 1))
    assert result.dtype == torch.float32
    assert result.item() == pytest.approx(2e-6, rel=1e-3)
