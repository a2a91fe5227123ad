"""Attention from one projection is the definition, forward and backward."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from core.plainly import packed_plainly
from oracle import attention_oracle
from subadjacent.core.band import Band
from subadjacent.core.mapping import MAPPINGS
from subadjacent.core.packed import packed_attention
from subadjacent.errors import InputError

# windows, points, heads, features, band
CASES = [
    (2, 1, 1, 1, Band(0, 0)),
    (1, 2, 2, 5, Band(1, 1)),
    (3, 7, 2, 16, Band(2, 3)),
    (1, 16, 1, 3, Band(0, 9)),
    (5, 33, 4, 7, Band(1, 3, circular=False)),
    (2, 100, 2, 8, Band(20, 30)),
    (1, 401, 2, 4, Band(20, 30)),
    (2, 450, 1, 3, Band(0, 60, circular=False)),
]


def gradients(function, projected: Tensor, heads: int, band: Band, weights) -> tuple[Tensor, ...]:
    """Of a sum in which every number of the answer weighs differently."""
    projected = projected.clone().requires_grad_()
    temperature = torch.tensor(1.3, dtype=projected.dtype, requires_grad=True)
    found = function(projected, temperature, heads, band)
    total = sum((one * weight).sum() for one, weight in zip(found, weights, strict=True))
    return torch.autograd.grad(total, [projected, temperature])


@pytest.mark.parametrize("n", [3, 12])
def test_it_is_the_row_by_row_definition(n: int) -> None:
    projected, band = torch.randn(1, n, 15, dtype=torch.float64), Band(1, 1)
    # all have the first feature: where queries and keys share none, only the definition is exact
    projected[..., [0, 5]] = projected[..., [0, 5]].abs()
    temperature = torch.tensor(0.7, dtype=torch.float64)
    q, k, v = projected[0].view(n, 3, 5).unbind(1)
    exact = attention_oracle(*MAPPINGS["softmax"](q, k, temperature), v, band)
    found = packed_attention(projected, temperature, 1, band)
    torch.testing.assert_close(found.values[0], exact.values)
    torch.testing.assert_close(found.contribution[0, 0], exact.contribution)


@pytest.mark.parametrize("sizes", CASES, ids=str)
def test_values_and_gradients_are_those_of_the_plain_form(sizes) -> None:
    batch, n, heads, features, band = sizes
    projected = torch.randn(batch, n, 3 * heads * features, dtype=torch.float64)
    temperature = torch.tensor(1.3, dtype=torch.float64)
    found = packed_attention(projected, temperature, heads, band)
    exact = packed_plainly(projected, temperature, heads, band)
    torch.testing.assert_close(found, exact)
    weights = [torch.randn_like(one) for one in exact]
    torch.testing.assert_close(
        gradients(packed_attention, projected, heads, band, weights),
        gradients(packed_plainly, projected, heads, band, weights),
    )


@pytest.mark.parametrize("n", [100, 1000])
def test_in_bfloat16_values_and_gradients_are_right_but_for_rounding(n: int) -> None:
    projected = torch.randn(2, n, 96).bfloat16()
    found = packed_attention(projected, torch.tensor(1.3), 2, Band(20, 30))
    exact = packed_plainly(projected.double(), torch.tensor(1.3), 2, Band(20, 30))
    assert found.values.dtype == torch.bfloat16
    # sums of contributions are set against errors
    assert found.contribution.dtype == torch.float32
    weights = [torch.randn_like(one) for one in exact]
    ours = gradients(packed_attention, projected, 2, Band(20, 30), [one.float() for one in weights])
    right = gradients(packed_plainly, projected.double(), 2, Band(20, 30), weights)
    for one, other in zip([*found, *ours[:1]], [*exact, *right[:1]], strict=True):
        assert (one.double() - other).norm() < 0.02 * other.norm()


def test_there_is_no_second_derivative() -> None:
    projected = torch.randn(1, 6, 12, requires_grad=True)
    found = packed_attention(projected, torch.ones(()), 2, Band(1, 2)).values.square().sum()
    (gradient,) = torch.autograd.grad(found, projected, create_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        gradient.sum().backward()


@pytest.mark.parametrize("value", [0.0, -0.0, -1e-30, 1e-30])
def test_what_is_negative_is_suppressed_and_nothing_else(value: float) -> None:
    projected = torch.ones(1, 5, 12)
    projected[0, 2, 1] = projected[0, 3, 5] = value
    ones = torch.ones(())
    torch.testing.assert_close(
        packed_attention(projected, ones, 1, Band(1, 1)),
        packed_plainly(projected, ones, 1, Band(1, 1)),
    )


def test_queries_that_no_key_answers_give_finite_gradients() -> None:
    # queries look for the first feature, keys have the second: the mass of a row underflows
    projected = torch.zeros(1, 4, 6, dtype=torch.float64)
    projected[..., 0], projected[..., 1] = 300.0, -1.0
    projected[..., 2], projected[..., 3] = -1.0, 300.0
    projected[..., 4:] = torch.randn(1, 4, 2)
    weights = [torch.randn(1, 4, 2).double(), torch.randn(1, 1, 4).double()]
    found = gradients(packed_attention, projected, 1, Band(1, 1), weights)
    exact = gradients(packed_plainly, projected, 1, Band(1, 1), weights)
    assert all(one.isfinite().all() for one in found)
    torch.testing.assert_close(found, exact)


def test_a_window_without_a_sub_adjacent_point_is_refused() -> None:
    with pytest.raises(InputError, match="in a window of 39 the largest distance is 19"):
        packed_attention(torch.randn(1, 39, 12), torch.ones(()), 1, Band(20, 30))
