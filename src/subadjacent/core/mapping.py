"""Φ, the mapping of queries and keys before linear attention multiplies them (Eq. 4, Table 5).

Each takes queries and keys (…, N, E) and the temperature τ, and gives mapped queries and keys
that are nowhere negative. Only the paper's own mapping uses the temperature.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

Mapping = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]

# what the paper sets negative values to, so that the softmax leaves next to nothing of them
SUPPRESSED = -100.0


def softmax_features(q: Tensor, k: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor]:
    """The paper's mapping: suppress negatives, divide by τ, softmax over the features."""

    def focus(x: Tensor) -> Tensor:
        positive = x.masked_fill(x < 0, SUPPRESSED)
        return torch.softmax(positive / temperature, dim=-1)

    return focus(q), focus(k)


def softmax_column(q: Tensor, k: Tensor, _temperature: Tensor) -> tuple[Tensor, Tensor]:
    """Efficient attention: softmax over the features for queries, over time for keys."""
    return torch.softmax(q, dim=-1), torch.softmax(k, dim=-2)


def power(q: Tensor, k: Tensor, _temperature: Tensor) -> tuple[Tensor, Tensor]:
    """Focused attention: the cube of the positive part, rescaled to that part's norm."""

    def sharpen(x: Tensor) -> Tensor:
        positive = torch.relu(x)
        norm: Tensor = torch.linalg.vector_norm(positive, dim=-1, keepdim=True)
        # cubed at length 1: the cube of a short row would vanish
        cubed = functional.normalize(positive, dim=-1) ** 3
        return norm * functional.normalize(cubed, dim=-1)

    return sharpen(q), sharpen(k)


def relu(q: Tensor, k: Tensor, _temperature: Tensor) -> tuple[Tensor, Tensor]:
    """Keep the positive part."""
    return torch.relu(q), torch.relu(k)


def elu(q: Tensor, k: Tensor, _temperature: Tensor) -> tuple[Tensor, Tensor]:
    """ELU + 1: positive everywhere, linear above zero."""

    def lift(x: Tensor) -> Tensor:
        # not elu(x) + 1, which rounds to nothing far below zero
        return torch.relu(x) + x.clamp(max=0).exp()

    return lift(q), lift(k)


MAPPINGS: dict[str, Mapping] = {
    "softmax": softmax_features,
    "softmax-column": softmax_column,
    "power": power,
    "relu": relu,
    "elu": elu,
}
