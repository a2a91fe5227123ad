"""Attention with the paper's mapping, from one packed projection, in kernels both ways.

What ``linear_attention`` after ``softmax_features`` gives, for each head, to rounding.

Shapes: B windows, N points in a window, H heads, E features of a head, D = H·E.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from subadjacent.core.attention import Attended
from subadjacent.core.band import Band
from subadjacent.core.dispatch import kernel_fits, short_kernel_fits
from subadjacent.core.kernels import long, long_backward, short
from subadjacent.core.kernels.tiles import power_of_two
from subadjacent.errors import InputError


def _is_short(projected: Tensor, heads: int) -> bool:
    return short_kernel_fits(projected.shape[1], projected.shape[2] // 3 // heads, projected.dtype)


def attend(
    projected: Tensor, temperature: Tensor, heads: int, band: Band
) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    """Values (B, N, D), contribution (B, H, N), and what the way back needs besides."""
    if _is_short(projected, heads):
        values, contribution = short.forward(projected, temperature, heads, band)
        return values, contribution, ()
    values, contribution, *sums = long.forward(projected, temperature, heads, band)
    return values, contribution, tuple(sums)


def attend_backward(
    projected: Tensor, temperature: Tensor, heads: int, band: Band,
    of_values: Tensor, of_contribution: Tensor, sums: tuple[Tensor, ...],
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of the projection; of its bias and the temperature, in parts to be added up."""
    inputs = (projected, temperature, heads, band, of_values, of_contribution)
    if _is_short(projected, heads):
        return short.backward(*inputs)
    return long_backward.backward(*inputs, *sums)


def packed_attention(projected: Tensor, temperature: Tensor, heads: int, band: Band) -> Attended:
    """Values (B, N, D) and contribution (B, H, N), from queries, keys and values (B, N, 3·D).

    Differentiable once. In bfloat16 or float32; sums are added up in float32.

    Raises
    ------
    InputError
        When there is no kernel for such windows, heads or bands; see ``dispatch.kernel_fits``.
    """
    n, features = projected.shape[1], projected.shape[2] // 3 // heads
    band.check(n)
    if not kernel_fits(n, features, band, projected.dtype):
        raise InputError(
            f"attention has no kernel for windows of {n} points, heads of {features} features "
            f"and {band}; linear_attention takes any"
        )
    values, contribution, *_ = _attention(
        projected.contiguous(), temperature.float(), heads, band.near, band.far, band.circular
    )
    return Attended(values, contribution)


@torch.library.custom_op("subadjacent::attention", mutates_args=())
def _attention(
    projected: Tensor, temperature: Tensor, heads: int, near: int, far: int, circular: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    band = Band(near, far, circular)
    values, contribution, sums = attend(projected, temperature, heads, band)
    if not sums:
        sums = _nothing(projected, temperature)
    return values, contribution, *sums  # type: ignore[return-value]  # five in all


@torch.library.custom_op("subadjacent::attention_backward", mutates_args=())
def _attention_backward(
    projected: Tensor, temperature: Tensor, heads: int, near: int, far: int, circular: bool,
    of_values: Tensor, of_contribution: Tensor, summary: Tensor, total: Tensor, mapped: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    band = Band(near, far, circular)
    of_projected, _, of_temperature = attend_backward(
        projected, temperature, heads, band, of_values, of_contribution, (summary, total, mapped)
    )
    return of_projected, of_temperature.sum()


@_attention.register_fake
def _(projected: Tensor, temperature: Tensor, heads: int, *_band: Any) -> tuple[Tensor, ...]:
    batch, n, tripled = projected.shape
    values = projected.new_empty(batch, n, tripled // 3)
    contribution = projected.new_empty(batch, heads, n, dtype=torch.float32)
    if _is_short(projected, heads):
        return values, contribution, *_nothing(projected, temperature)
    side = power_of_two(tripled // 3 // heads)
    summary = temperature.new_empty(batch * heads, side, side)
    total = temperature.new_empty(batch * heads, side)
    return values, contribution, summary, total, projected.new_empty(2, *values.shape)


def _nothing(projected: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Short windows keep nothing for the way back; an operation's outputs are as many anyway."""
    return temperature.new_empty(0), temperature.new_empty(0), projected.new_empty(0)


@_attention_backward.register_fake
def _(projected: Tensor, temperature: Tensor, *_others: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(projected), torch.empty_like(temperature)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    projected, temperature, *ctx.settings = inputs
    ctx.save_for_backward(projected, temperature, *output[2:])
    ctx.set_materialize_grads(True)


def _gradients(
    ctx: Any, of_values: Tensor, of_contribution: Tensor, *_sums: Tensor
) -> tuple[Tensor | None, ...]:
    projected, temperature, *sums = ctx.saved_tensors
    of_projected, of_temperature = _attention_backward(
        projected, temperature, *ctx.settings, of_values.contiguous(), of_contribution, *sums
    )
    return of_projected, of_temperature, None, None, None, None


_attention.register_autograd(_gradients, setup_context=_remember)
