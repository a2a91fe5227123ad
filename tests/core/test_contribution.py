"""The contribution: two quick forms against the definition, values and gradients."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from oracle import contribution_oracle
from subadjacent.core.band import Band
from subadjacent.core.contribution import contribution, dense_contribution
from subadjacent.errors import InputError

SHORT = [1, 2, 3, 8, 9, 13]
ENDS = [(0, 0), (0, 2), (1, 1), (1, 3), (2, 4), (0, 99), (3, 99)]
LONG = [(50, 20, 30), (100, 0, 4), (100, 20, 30), (100, 45, 60), (300, 20, 30), (300, 140, 170)]


def cases() -> list[tuple[int, Band]]:
    """Every window length with every band that holds a point of it."""
    sizes = [(n, near, far) for n in SHORT for near, far in ENDS] + LONG
    return [
        (n, Band(near, far, circular))
        for n, near, far in sizes
        for circular in (True, False)
        if near <= (n // 2 if circular else n - 1)
    ]


class Answer(NamedTuple):
    """The contribution, and the gradients of a weighted sum of it."""

    values: Tensor
    q_gradient: Tensor
    k_gradient: Tensor


def inputs(n: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and the weights of the sum; single precision holds them exactly."""
    generator = torch.Generator().manual_seed(n)
    q, k = torch.rand(2, n, 4, generator=generator)
    return q.double(), k.double(), torch.rand(n, generator=generator).double()


def sliding(q: Tensor, k: Tensor, band: Band) -> Tensor:
    return contribution(q, k, band)


def dense(q: Tensor, k: Tensor, band: Band) -> Tensor:
    return dense_contribution(q @ k.mT, band)


def answer(form, n: int, band: Band, dtype: torch.dtype) -> Answer:
    q, k, weights = (x.to(dtype) for x in inputs(n))
    values = form(q.requires_grad_(), k.requires_grad_(), band)
    return Answer(values.detach(), *torch.autograd.grad(values @ weights, (q, k)))


@cache
def definition(n: int, band: Band) -> Answer:
    return answer(contribution_oracle, n, band, torch.float64)


def tolerance(n: int, dtype: torch.dtype) -> float:
    """Differences of running sums lose digits as the sums grow."""
    return (20 + n / 2) * torch.finfo(dtype).eps


def test_contribution_sums_both_ring_neighbors_and_less_at_the_ends_of_a_line() -> None:
    q = torch.tensor([[1.0], [2.0], [4.0], [8.0]])
    ones = torch.ones(4, 1)
    assert contribution(q, ones, Band(1, 1)).tolist() == [10.0, 5.0, 10.0, 5.0]
    assert contribution(q, ones, Band(1, 1, circular=False)).tolist() == [2.0, 5.0, 10.0, 4.0]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("form", [sliding, dense])
def test_values_and_gradients_are_those_of_the_definition(form, dtype: torch.dtype) -> None:
    for n, band in cases():
        expected, found = definition(n, band), answer(form, n, band, dtype)
        for name, ours, theirs in zip(Answer._fields, found, expected, strict=True):
            within = tolerance(n, dtype) * theirs.abs().max().item()
            torch.testing.assert_close(
                ours.double(),
                theirs,
                rtol=0,
                atol=within,
                msg=lambda text, where=f"{name}, {n} points, {band}": f"{where}: {text}",
            )


@pytest.mark.parametrize("circular", [True, False])
def test_single_precision_follows_double_precision_over_a_long_window(circular: bool) -> None:
    n, band = 5_000, Band(20, 30, circular)
    exact = answer(sliding, n, band, torch.float64)
    rounded = answer(sliding, n, band, torch.float32)
    for ours, theirs in zip(rounded, exact, strict=True):
        torch.testing.assert_close(
            ours.double(), theirs, rtol=0, atol=1e-4 * theirs.abs().max().item()
        )


@pytest.mark.parametrize("form", [sliding, dense])
def test_windows_and_heads_do_not_mix(form) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.rand(2, 2, 3, 9, 4, generator=generator)  # (2 windows, 3 heads, 9, 4) each
    together = form(q, k, Band(1, 3))
    apart = [[form(q[b, h], k[b, h], Band(1, 3)) for h in range(3)] for b in range(2)]
    torch.testing.assert_close(together, torch.stack([torch.stack(row) for row in apart]))


@pytest.mark.parametrize("form", [sliding, dense])
def test_half_precision_is_summed_in_single_precision(form) -> None:
    # bfloat16 cannot count beyond 256
    ones = torch.ones(600, 1, dtype=torch.bfloat16)
    total = form(ones, ones, Band(1, 300))
    assert total.dtype == torch.float32
    assert total.tolist() == [599.0] * 600


@pytest.mark.parametrize("form", [sliding, dense])
def test_a_window_without_a_sub_adjacent_point_is_refused(form) -> None:
    for circular in (True, False):
        with pytest.raises(InputError, match="in a window of 3 the largest distance is"):
            form(torch.ones(3, 1), torch.ones(3, 1), Band(3, 4, circular))
