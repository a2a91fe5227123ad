"""Attention: two forms of one meaning, against a loop that forms each row."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from oracle import attention_oracle, vanilla_oracle
from subadjacent.core.attention import (
    SMALLEST_MASS,
    linear_attention,
    vanilla_attention,
    vanilla_matrix,
)
from subadjacent.core.band import Band
from subadjacent.core.dispatch import DENSE_UP_TO

CASES = [
    (1, Band(0, 0)),
    (2, Band(1, 1)),
    (3, Band(0, 1)),
    (7, Band(2, 3)),
    (8, Band(4, 9)),
    (13, Band(1, 3, circular=False)),
    (50, Band(20, 30)),
]
DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
TOLERANCE = {
    torch.float64: {"rtol": 1e-7, "atol": 1e-7},
    torch.float32: {"rtol": 1e-3, "atol": 1e-4},
}
BOTH = pytest.mark.parametrize("dense", [True, False], ids=["dense", "sliding"])


def drawn(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Numbers between 0 and 1, as mapped queries and keys are."""
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


class Allocations(TorchDispatchMode):
    """Counts the numbers in every tensor that any operation makes, forward and backward.

    Their total bounds the peak of memory from above, without the noise of measuring it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0
        self.total = 0

    def __torch_dispatch__(
        self, operation: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        made = operation(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor):
                self.largest = max(self.largest, tensor.numel())
                self.total += tensor.numel()
        return made


def allocations(n: int, dense: bool | None) -> Allocations:
    """What attention over ``n`` points of four features makes, with its gradients."""
    q, k, v = (x.requires_grad_() for x in drawn(3, n, 4, dtype=torch.float32))
    with Allocations() as made:
        values, contribution = linear_attention(q, k, v, Band(20, 30), dense=dense)
        (values.sum() + contribution.square().sum()).backward()
    return made


@BOTH
def test_linear_attention_weighs_values_by_rows_that_sum_to_one(dense: bool) -> None:
    # rows (1, 3) and (2, 2) before normalisation, (1/4, 3/4) and (1/2, 1/2) after
    q = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    k = torch.tensor([[1.0, 1.0], [3.0, 1.0]])
    v = torch.tensor([[4.0], [8.0]])
    values, contribution = linear_attention(q, k, v, Band(1, 1), dense=dense)
    assert values.tolist() == [[7.0], [6.0]]
    # the other point's query gives 1/2 to point 0, and 3/4 to point 1
    assert contribution.tolist() == [0.5, 0.75]


def test_vanilla_attention_is_a_softmax_of_scaled_products() -> None:
    # four features halve the products: 2·log 3 becomes log 3, rows (3/4, 1/4) and (1/2, 1/2)
    q = torch.tensor([[2 * math.log(3), 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    k = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    v = torch.tensor([[4.0], [8.0]])
    torch.testing.assert_close(vanilla_matrix(q, k), torch.tensor([[0.75, 0.25], [0.5, 0.5]]))
    values, contribution = vanilla_attention(q, k, v, Band(1, 1))
    torch.testing.assert_close(values, torch.tensor([[5.0], [6.0]]))
    torch.testing.assert_close(contribution, torch.tensor([0.5, 0.25]))


FORMS = {
    "dense": (partial(linear_attention, dense=True), attention_oracle),
    "sliding": (partial(linear_attention, dense=False), attention_oracle),
    "vanilla": (vanilla_attention, vanilla_oracle),
}


@pytest.mark.parametrize("form", FORMS)
@DTYPES
def test_attention_is_the_row_by_row_definition(dtype: torch.dtype, form: str) -> None:
    attend, oracle = FORMS[form]
    for n, band in CASES:
        inputs = [x.requires_grad_() for x in drawn(3, n, 4, dtype=dtype)]
        ours, theirs = attend(*inputs, band), oracle(*inputs, band)
        torch.testing.assert_close(ours, theirs, **TOLERANCE[dtype])
        torch.testing.assert_close(
            gradients(ours, inputs), gradients(theirs, inputs), **TOLERANCE[dtype]
        )


def gradients(attended: tuple[Tensor, Tensor], inputs: list[Tensor]) -> tuple[Tensor, ...]:
    """Of a sum that weighs every number of the answer differently."""
    total = sum((x * torch.arange(1, x.numel() + 1).view_as(x)).sum() for x in attended)
    return torch.autograd.grad(total, inputs)


@BOTH
def test_queries_without_mass_give_zeros(dense: bool) -> None:
    q, k, v = drawn(3, 6, 4)
    k[:, 0] = 0
    q[2] = torch.tensor([5.0, 0.0, 0.0, 0.0])  # looks only where no key has anything
    q[3] = 0
    values, _ = linear_attention(q, k, v, Band(1, 2), dense=dense)
    assert values[2:4].tolist() == [[0.0] * 4] * 2
    # so neither contributes: the mean is the others' share
    contribution = linear_attention(q, k, v, Band(0, 3), dense=dense).contribution
    assert contribution.mean().item() == pytest.approx(4 / 6)


@pytest.mark.parametrize("mass", [0.0, 1e-30, 0.1 * SMALLEST_MASS, 10 * SMALLEST_MASS])
@BOTH
def test_queries_with_hardly_any_mass_give_finite_gradients(dense: bool, mass: float) -> None:
    q, k, v = drawn(3, 6, 4, dtype=torch.float32)
    q[2] = mass / k.sum() / 4
    inputs = [x.requires_grad_() for x in (q, k, v)]
    attended = linear_attention(*inputs, Band(1, 2), dense=dense)
    assert all(x.isfinite().all() for x in gradients(attended, inputs))


def test_the_matrix_is_formed_for_short_windows_only() -> None:
    assert allocations(DENSE_UP_TO, dense=None).largest == DENSE_UP_TO**2
    assert allocations(DENSE_UP_TO + 1, dense=None).largest < (DENSE_UP_TO + 1) ** 2 / 10
    assert allocations(DENSE_UP_TO, dense=False).largest < DENSE_UP_TO**2 / 10


def test_memory_of_the_sliding_form_grows_no_faster_than_the_window() -> None:
    n = 1_000
    once, twice = allocations(n, dense=False), allocations(2 * n, dense=False)
    assert 4 * n <= once.largest < 6 * n
    assert twice.largest <= 2 * once.largest
    assert twice.total <= 2 * once.total
    assert twice.total < (2 * n) ** 2


@BOTH
def test_half_precision_inputs_give_values_of_their_own_kind(dense: bool) -> None:
    q, k, v = drawn(3, 60, 8, dtype=torch.float32)
    exact = linear_attention(q, k, v, Band(), dense=dense)
    rough = linear_attention(q.bfloat16(), k.bfloat16(), v.bfloat16(), Band(), dense=dense)
    assert rough.values.dtype == torch.bfloat16
    assert rough.contribution.dtype == torch.float32
    torch.testing.assert_close(rough.values.float(), exact.values, rtol=0.02, atol=0)
    torch.testing.assert_close(rough.contribution, exact.contribution, rtol=0.02, atol=0)
