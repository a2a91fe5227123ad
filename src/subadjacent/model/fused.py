"""The Sub-Adjacent Transformer in bfloat16 on a GPU: the same network in fewer, larger kernels.

Linear maps run in the vendor's matrix products; all between them is one kernel each: attention
with its mapping and contribution, a sum with its normalisation. Points stay in bfloat16 between
kernels, sums inside of them are float32, weights and their gradients are float32.

Shapes: B windows, N points in a window, R = B·N rows, C channels, D model width, F inner width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from subadjacent.core.band import Band
from subadjacent.core.kernels import kernels_on
from subadjacent.model.layers import KERNEL_KIND as KIND
from subadjacent.model.layers import EncoderLayer, positions
from subadjacent.model.network import Reconstruction

if TYPE_CHECKING:
    from subadjacent.model.transformer import SubAdjacentTransformer

# columns that one tile of the norm, and channels that one of the embedding, can hold
WIDEST = 4096
MOST_CHANNELS = 128


def applies(model: SubAdjacentTransformer, windows: Tensor) -> bool:
    """Whether the network runs in this form: where kernels do, in bfloat16, as the paper has it."""
    if not kernels_on(windows) or windows.dtype != torch.float32:
        return False
    widest = max(model.config.width, model.config.feedforward)
    embedded = windows.new_empty(1, 1, 1).expand(*windows.shape[:2], model.config.width)
    return widest <= WIDEST and all(
        layer.attention.runs_in_a_kernel(embedded) for layer in _layers(model)
    )


def reconstruct(model: SubAdjacentTransformer, windows: Tensor) -> Reconstruction:
    """Reconstruct (B, N, C)."""
    batch, n, _ = windows.shape
    model.config.band.check(n)
    with torch.autocast(windows.device.type, enabled=False):
        layers = _layers(model)
        weights = [_linear_weights(layer) for layer in layers]
        copies = _copies([one for layer in weights for one in layer])
        x = _run(_Embedded, windows, model.embed.tokens.weight, _positions(model, windows))
        contributions = []
        for number, layer in enumerate(layers):
            x, contribution = _run(
                _Encoded, x, layer.attention.temperature, *_norm_weights(layer), *weights[number],
                copies[8 * number : 8 * number + 8], (batch, n, layer.attention.heads),
                layer.attention.band,
            )  # fmt: skip
            contributions.append(contribution)
        head = (model.norm.weight, model.norm.bias, model.reconstruct.weight)
        values = _run(_Decoded, x, *head, model.reconstruct.bias)
        mean = torch.stack(contributions).mean(dim=(0, 2))  # (B, N)
    return Reconstruction(values.unflatten(0, (batch, n)), mean)


def _run(function: type[torch.autograd.Function], *inputs: Any) -> Any:
    return function.apply(*inputs)  # type: ignore[no-untyped-call]  # torch says nothing


def _layers(model: SubAdjacentTransformer) -> list[EncoderLayer]:
    return cast("list[EncoderLayer]", list(model.layers))


def _linear_weights(layer: EncoderLayer) -> list[Tensor]:
    maps = (layer.attention.project, layer.attention.mix, layer.widen, layer.narrow)
    return [one for linear in maps for one in (linear.weight, linear.bias)]


def _norm_weights(layer: EncoderLayer) -> tuple[Tensor, ...]:
    first, second = layer.after_attention, layer.after_feedforward
    return first.weight, first.bias, second.weight, second.bias


def _copies(weights: list[Tensor]) -> list[Tensor]:
    """The weights in bfloat16, all copied at once."""
    copies = [torch.empty_like(one, dtype=KIND) for one in weights]
    torch._foreach_copy_(copies, [one.detach() for one in weights])
    return copies


def _positions(model: SubAdjacentTransformer, windows: Tensor) -> Tensor:
    """Positions (N, D), made once for each length: in long windows they take their time.

    Kept as long as the network, since what was recorded reads them.
    """
    key = (windows.shape[1], windows.device)
    if key not in model.places:
        with torch.inference_mode(mode=False):
            made = positions(key[0], model.config.width, windows.device).to(KIND)
        model.places[key] = made
    return model.places[key]


def _weight_gradient(of_out: Tensor, x: Tensor) -> Tensor:
    """``of_out.T @ x`` in float32, from bfloat16."""
    if of_out.device.type == "cpu":
        return of_out.T.float() @ x.float()
    return torch.mm(of_out.T, x, out_dtype=torch.float32)


class _Embedded(torch.autograd.Function):
    """Windows (B, N, C) → rows (R, D)."""

    @staticmethod
    def forward(ctx: Any, windows: Tensor, weight: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(windows)
        if windows.shape[-1] <= MOST_CHANNELS:
            from subadjacent.core.kernels.embed import embed

            return embed(windows.contiguous(), weight, places)
        three = [windows.roll(1, dims=1), windows, windows.roll(-1, dims=1)]
        tokens = torch.cat(three, dim=-1).to(KIND) @ weight.to(KIND).T
        return (tokens + places).flatten(0, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_rows: Tensor) -> tuple[Tensor | None, ...]:
        from subadjacent.core.kernels.embed import neighbours

        (windows,) = ctx.saved_tensors
        found = _weight_gradient(of_rows, neighbours(windows, KIND))
        found = found.view(len(found), 3, -1)[..., : windows.shape[-1]]
        return None, found.flatten(1), None


class _Encoded(torch.autograd.Function):
    """One encoder layer: rows (R, D) → rows (R, D) and contribution (B, H, N)."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, temperature: Tensor,
        gain1: Tensor, shift1: Tensor, gain2: Tensor, shift2: Tensor,
        *others: Any,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        from subadjacent.core.kernels.attention import attend
        from subadjacent.core.kernels.gelu import gelu
        from subadjacent.core.kernels.norm import add_norm

        *_, copies, sizes, band = others
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


class _Decoded(torch.autograd.Function):
    """The last norm and linear map: rows (R, D) → values (R, C)."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, gain: Tensor, shift: Tensor, weight: Tensor, bias: Tensor
    ) -> Tensor:
        from subadjacent.core.kernels.norm import add_norm

        channels = weight.shape[0]
        # rows of whole 16 bytes, or the matrix product takes a slower way
        filled = -channels % 16
        copy = functional.pad(weight.to(KIND), (0, 0, 0, filled))
        normal, mean, scale = add_norm(x, None, gain, shift)
        values = torch.addmm(functional.pad(bias.to(KIND), (0, filled)), normal, copy.T)
        ctx.save_for_backward(x, gain, copy, normal, mean, scale)
        return values[:, :channels]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_values: Tensor) -> tuple[Tensor | None, ...]:
        from subadjacent.core.kernels.norm import add_norm_backward
        from subadjacent.core.kernels.tiles import add_up

        x, gain, copy, normal, mean, scale = ctx.saved_tensors
        channels = of_values.shape[1]
        wide = functional.pad(of_values.to(KIND), (0, copy.shape[0] - channels))
        of_weight = _weight_gradient(wide, normal)[:channels]
        of_bias = of_values.sum(dim=0, dtype=torch.float32)
        of_x, parts = add_norm_backward(wide @ copy, x, None, gain, mean, scale)
        norm = add_up(parts)
        return of_x, norm[0], norm[1], of_weight, of_bias
