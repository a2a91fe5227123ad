"""The Sub-Adjacent Transformer in bfloat16 on a GPU: the same network in fewer, larger kernels.

Shapes: B windows, N points in a window, R = B·N rows, C channels, D model width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from subadjacent.core.dispatch import KERNEL_PRECISION as KIND
from subadjacent.networks.fused_parts import Assessed, Decoded, Embedded, Encoded
from subadjacent.networks.layers import EncoderLayer, positions

if TYPE_CHECKING:
    from subadjacent.networks.subadjacent import SubAdjacentTransformer


def reconstruct(model: SubAdjacentTransformer, windows: Tensor) -> tuple[Tensor, Tensor]:
    """The reconstruction (B, N, C) and the contribution (B, N)."""
    with torch.autocast(windows.device.type, enabled=False):
        x, contribution = _encode(model, windows)
        values = _run(Decoded, x, *_last_weights(model))
    return values.unflatten(0, windows.shape[:2]), contribution


def loss(model: SubAdjacentTransformer, windows: Tensor, attention_weight: float) -> Tensor:
    """The loss of ``core.loss``, without the reconstruction (B, N, C) ever being stored."""
    with torch.autocast(windows.device.type, enabled=False):
        x, contribution = _encode(model, windows)
        error = _run(Assessed, x, *_last_weights(model), windows.contiguous().flatten(0, 1))
        return torch.add(error, contribution.mean(), alpha=-attention_weight)


def _encode(model: SubAdjacentTransformer, windows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (R, D) after the last layer, and the mean contribution (B, N)."""
    batch, n, _ = windows.shape
    model.config.band.check(n)
    layers = _layers(model)
    weights = [_linear_weights(layer) for layer in layers]
    copies = _copies([weight for layer in weights for weight in layer])
    x = _run(Embedded, windows, model.embed.tokens.weight, _positions(model, windows))
    contributions = []
    for number, (layer, attention) in enumerate(zip(layers, model.attentions(), strict=True)):
        x, contribution = _run(
            Encoded, x, attention.temperature, *_norm_weights(layer), *weights[number],
            copies[8 * number : 8 * number + 8], (batch, n, attention.heads), attention.band,
        )  # fmt: skip
        contributions.append(contribution)
    return x, torch.stack(contributions).mean(dim=(0, 2))  # (B, N)


def _run(function: type[torch.autograd.Function], *inputs: Any) -> Any:
    return function.apply(*inputs)  # type: ignore[no-untyped-call]  # torch says nothing


def _layers(model: SubAdjacentTransformer) -> list[EncoderLayer]:
    return cast("list[EncoderLayer]", list(model.layers))


def _linear_weights(layer: EncoderLayer) -> list[Tensor]:
    maps = (layer.attention.project, layer.attention.mix, layer.widen, layer.narrow)
    return [tensor for linear in maps for tensor in (linear.weight, linear.bias)]


def _last_weights(model: SubAdjacentTransformer) -> tuple[Tensor, ...]:
    last = model.reconstruct
    return model.norm.weight, model.norm.bias, last.weight, last.bias


def _norm_weights(layer: EncoderLayer) -> tuple[Tensor, ...]:
    first, second = layer.after_attention, layer.after_feedforward
    return first.weight, first.bias, second.weight, second.bias


def _copies(weights: list[Tensor]) -> list[Tensor]:
    """The weights in bfloat16, all copied at once."""
    copies = [torch.empty_like(weight, dtype=KIND) for weight in weights]
    torch._foreach_copy_(copies, [weight.detach() for weight in weights])
    return copies


def _positions(model: SubAdjacentTransformer, windows: Tensor) -> Tensor:
    """Position encodings (N, D), computed once per window length, because that is slow.

    Kept as long as the network, since recorded steps read them.
    """
    key = (windows.shape[1], windows.device)
    if key not in model.places:
        with torch.inference_mode(mode=False):
            made = positions(key[0], model.config.width, windows.device).to(KIND)
        model.places[key] = made
    return model.places[key]
