"""The parts of the network in kernels: embedding, encoder layer, output; forward and backward.

Linear maps run in the vendor's matrix products; all between them is one kernel each. Points stay
in bfloat16 between kernels, sums inside of them are float32, weights and their gradients are
float32.

Shapes: B windows, N points in a window, R = B·N rows, C channels, D model width, F inner width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from subadjacent.core.band import Band
from subadjacent.core.dispatch import KERNEL_PRECISION as KIND

# channels that one tile of the embedding can hold
MAX_CHANNELS = 128
# rows of values take up whole 32 bytes, or the matrix product takes a slower way
FILLED = 16


def _weight_gradient(of_out: Tensor, x: Tensor) -> Tensor:
    """``of_out.T @ x`` in float32, from bfloat16."""
    if of_out.device.type == "cpu":
        return of_out.T.float() @ x.float()
    return torch.mm(of_out.T, x, out_dtype=torch.float32)


class Embedded(torch.autograd.Function):
    """Windows (B, N, C) → rows (R, D)."""

    @staticmethod
    def forward(ctx: Any, windows: Tensor, weight: Tensor, places: Tensor) -> Tensor:
        """Embed; ``places`` are the positions, (N, D)."""
        windows = windows.contiguous()
        ctx.save_for_backward(windows)
        if windows.shape[-1] <= MAX_CHANNELS:
            from subadjacent.core.kernels.embed import embed

            return embed(windows, weight, places)
        three = [windows.roll(1, dims=1), windows, windows.roll(-1, dims=1)]
        tokens = torch.cat(three, dim=-1).to(KIND) @ weight.to(KIND).T
        return (tokens + places).flatten(0, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_rows: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of the weight; that of the windows is not needed."""
        from subadjacent.core.kernels.embed import neighbours

        (windows,) = ctx.saved_tensors
        gradient = _weight_gradient(of_rows, neighbours(windows, KIND))
        gradient = gradient.view(len(gradient), 3, -1)[..., : windows.shape[-1]]
        return None, gradient.flatten(1), None


class Encoded(torch.autograd.Function):
    """One encoder layer: rows (R, D) → rows (R, D) and contribution (B, H, N)."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, temperature: Tensor,
        gain1: Tensor, shift1: Tensor, gain2: Tensor, shift2: Tensor,
        *arguments: Any,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Encode; ``arguments`` are the linear weights, their copies, sizes, and the band."""
        from subadjacent.core.kernels.attention import attend
        from subadjacent.core.kernels.gelu import gelu
        from subadjacent.core.kernels.norm import add_norm

        *_, copies, sizes, band = arguments
        project, project_bias, mix, mix_bias, widen, widen_bias, narrow, narrow_bias = copies
        batch, n, heads = sizes
        packed = torch.addmm(project_bias, x, project.T).view(batch, n, -1)
        values, contribution, sums = attend(packed, temperature, heads, band)
        mixed = torch.addmm(mix_bias, values.flatten(0, 1), mix.T)
        middle, mean1, scale1 = add_norm(x, mixed, gain1, shift1)
        inner = torch.addmm(widen_bias, middle, widen.T)
        active = gelu(inner)
        narrowed = torch.addmm(narrow_bias, active, narrow.T)
        out, mean2, scale2 = add_norm(middle, narrowed, gain2, shift2)
        ctx.save_for_backward(
            x, temperature, gain1, gain2, project, mix, widen, narrow, packed, values, mixed,
            middle, inner, active, narrowed, mean1, scale1, mean2, scale2, *sums,
        )  # fmt: skip
        ctx.heads, ctx.band = heads, band
        return out, contribution

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_out: Tensor, of_contribution: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the rows, the temperature and all weights."""
        from subadjacent.core.kernels.attention import attend_backward
        from subadjacent.core.kernels.gelu import gelu_backward
        from subadjacent.core.kernels.norm import add_norm_backward
        from subadjacent.core.kernels.tiles import add_up

        (
            x, temperature, gain1, gain2, project, mix, widen, narrow, packed, values, mixed,
            middle, inner, active, narrowed, mean1, scale1, mean2, scale2, *sums,
        ) = ctx.saved_tensors  # fmt: skip
        band: Band = ctx.band

        of_sum, parts2 = add_norm_backward(
            of_out.contiguous(), middle, narrowed, gain2, mean2, scale2
        )
        of_narrow = _weight_gradient(of_sum, active)
        norm2 = add_up(parts2)
        of_inner, inner_parts = gelu_backward(of_sum @ narrow, inner)
        of_widen = _weight_gradient(of_inner, middle)
        of_widen_bias = add_up(inner_parts)
        of_middle = of_sum.addmm_(of_inner, widen)

        of_sum1, parts1 = add_norm_backward(of_middle, x, mixed, gain1, mean1, scale1)
        of_mix = _weight_gradient(of_sum1, values.flatten(0, 1))
        norm1 = add_up(parts1)
        of_values = (of_sum1 @ mix).view_as(values)
        of_packed, bias_parts, tau_parts = attend_backward(
            packed, temperature, ctx.heads, band, of_values, of_contribution, tuple(sums)
        )
        of_rows = of_packed.flatten(0, 1)
        of_project = _weight_gradient(of_rows, x)
        of_project_bias = add_up(bias_parts)
        of_tau = tau_parts.sum()
        of_x = of_sum1.addmm_(of_rows, project)
        return (
            of_x, of_tau, norm1[0], norm1[1], norm2[0], norm2[1],
            of_project, of_project_bias, of_mix, norm1[2],
            of_widen, of_widen_bias, of_narrow, norm2[2],
            None, None, None,
        )  # fmt: skip


class Decoded(torch.autograd.Function):
    """The last norm and linear map: rows (R, D) → values (R, C)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *weights: Tensor) -> Tensor:
        """Normalise and map."""
        values, kept = _decode(x, *weights)
        ctx.save_for_backward(*kept)
        return values[:, : len(weights[-1])]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_values: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the rows and all weights."""
        wide = functional.pad(of_values.to(KIND), (0, -of_values.shape[1] % FILLED))
        of_bias = of_values.sum(dim=0, dtype=torch.float32)
        return _decode_backward(ctx.saved_tensors, wide, of_bias)


class Assessed(torch.autograd.Function):
    """The last norm and linear map, and the error: rows (R, D) and targets (R, C) → 2·MSE."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *arguments: Tensor) -> Tensor:
        """Normalise, map, and compare; the last of ``arguments`` is the target."""
        from subadjacent.core.kernels.error import squared_error

        *weights, wanted = arguments
        values, kept = _decode(x, *weights)
        difference, sums = squared_error(values, wanted)
        ctx.save_for_backward(*kept, difference, sums)
        ctx.shape = wanted.shape
        return sums[0].sum() * (2.0 / wanted.numel())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_error: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the rows and all weights."""
        *kept, difference, sums = ctx.saved_tensors
        slope = of_error * (4.0 / ctx.shape.numel())
        of_bias = (sums[1] * slope)[: ctx.shape[1]]
        return *_decode_backward(kept, difference * slope, of_bias), None


def _decode(
    x: Tensor, gain: Tensor, shift: Tensor, weight: Tensor, bias: Tensor
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Values (R, C'), and the tensors that the backward pass needs."""
    from subadjacent.core.kernels.norm import add_norm

    filled = -len(weight) % FILLED
    copy = functional.pad(weight.to(KIND), (0, 0, 0, filled))
    normal, mean, scale = add_norm(x, None, gain, shift)
    values = torch.addmm(functional.pad(bias.to(KIND), (0, filled)), normal, copy.T)
    return values, (x, gain, copy, normal, mean, scale)


def _decode_backward(
    kept: Sequence[Tensor], of_values: Tensor, of_bias: Tensor
) -> tuple[Tensor, ...]:
    """Gradients of the rows and of all weights, from those of the values (R, C')."""
    from subadjacent.core.kernels.norm import add_norm_backward
    from subadjacent.core.kernels.tiles import add_up

    x, gain, copy, normal, mean, scale = kept
    of_weight = _weight_gradient(of_values, normal)[: len(of_bias)]
    of_x, partial_sums = add_norm_backward(of_values @ copy, x, None, gain, mean, scale)
    norm = add_up(partial_sums)
    return of_x, norm[0], norm[1], of_weight, of_bias
