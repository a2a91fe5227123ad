"""The parts of the Transformers.

Shapes: B windows, N points in a window, C channels, D model width, H heads, E = D/H features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.core.attention import (
    Attended,
    attention_matrix,
    linear_attention,
    vanilla_attention,
    vanilla_matrix,
)
from subadjacent.core.band import Band
from subadjacent.core.dispatch import Form, projected_form
from subadjacent.core.mapping import MAPPINGS
from subadjacent.core.packed import packed_attention
from subadjacent.networks.config import TransformerConfig

Packed = Callable[[Tensor, Tensor, int, Band], Attended]

# the name of softmax attention as in the original Transformer
VANILLA = "vanilla"


class Reconstruction(NamedTuple):
    """A Transformer's reconstruction of a batch of windows, and their contribution.

    The contribution weights the error in the score (Eq. 6): a low one raises the score.
    """

    values: Tensor  # (B, N, C)
    contribution: Tensor  # (B, N), the mean over heads and layers


class Embedding(nn.Module):
    """Embeds each point with its two neighbours on the ring, plus its position.

    The paper's circular convolution of width 3, written as one linear map of three points.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.tokens = nn.Linear(3 * channels, width, bias=False)
        nn.init.kaiming_normal_(self.tokens.weight, mode="fan_in", nonlinearity="leaky_relu")

    def forward(self, windows: Tensor) -> Tensor:
        """(B, N, C) → (B, N, D)."""
        three = torch.cat([windows.roll(1, dims=1), windows, windows.roll(-1, dims=1)], dim=-1)
        tokens: Tensor = self.tokens(three)
        _, n, width = tokens.shape
        return tokens + positions(n, width, tokens.device).to(tokens.dtype)


def positions(n: int, width: int, device: torch.device | None = None) -> Tensor:
    """Fixed sinusoidal positions, (n, width): sine in even columns, cosine in odd ones."""
    rates = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10_000.0) / width))
    angles = torch.arange(n, device=device)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(n, width)


class Attention(nn.Module):
    """Queries, keys and values of several heads, and the matrix that they stand for.

    ``attention`` names one of the mappings of linear attention, or ``"vanilla"``.
    """

    def __init__(self, config: TransformerConfig, attention: str) -> None:
        super().__init__()
        self.heads = config.heads
        self.mapping = MAPPINGS.get(attention)
        self.project = nn.Linear(config.width, 3 * config.width)
        self.mix = nn.Linear(config.width, config.width)
        if attention == "softmax":
            # the temperature is softplus(δ), δ starts at 1; shared by queries, keys and heads
            self.raw_temperature = nn.Parameter(torch.ones(()))
        else:
            self.register_buffer("raw_temperature", torch.ones(()), persistent=False)

    @property
    def temperature(self) -> Tensor:
        """τ of Eq. 4, always positive."""
        return functional.softplus(self.raw_temperature)

    def matrix(self, x: Tensor) -> Tensor:
        """The attention matrices, (B, H, N, N) [query, key]; for looking at, not for speed."""
        q, k, _ = self.queries_keys_values(x)
        return self.matrix_of(q, k)

    def matrix_of(self, q: Tensor, k: Tensor) -> Tensor:
        """The attention matrices of queries and keys (B, H, N, E)."""
        if self.mapping is None:
            return vanilla_matrix(q, k)
        return attention_matrix(*self.mapping(q, k, self.temperature))

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project points (B, N, D) to queries, keys and values, (B, H, N, E) each."""
        batch, n, _ = x.shape
        projected = self.project(x).view(batch, n, 3, self.heads, -1)
        q, k, v = projected.permute(2, 0, 3, 1, 4).unbind(0)
        return q, k, v


class SubAdjacentAttention(Attention):
    """Multi-head attention that reports each point's sub-adjacent contribution."""

    def __init__(self, config: TransformerConfig, attention: str, band: Band) -> None:
        super().__init__(config, attention)
        self.band = band
        # whether to form the matrix of linear attention; ``core.dispatch`` decides when None
        self.dense: bool | None = None

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, N, D) → the attended points (B, N, D) and their contribution (B, N)."""
        form = projected_form(
            x, self.heads, self.band, softmax=self._is_softmax(), dense=self.dense
        )
        if form in (Form.KERNEL, Form.PACKED):
            attend = _kernel_attention() if form is Form.KERNEL else packed_attention
            attended = attend(self.project(x), self.temperature, self.heads, self.band)
            return self.mix(attended.values), attended.contribution.mean(dim=1)
        attended = self._attend(*self.queries_keys_values(x))
        joined = attended.values.transpose(1, 2).flatten(2)  # (B, N, D)
        return self.mix(joined), attended.contribution.mean(dim=1)

    def is_papers(self) -> bool:
        """Whether this is the paper's attention, in whichever form is quickest."""
        return self._is_softmax() and self.dense is None

    def _is_softmax(self) -> bool:
        return self.mapping is MAPPINGS["softmax"]

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Attended:
        if self.mapping is None:
            return vanilla_attention(q, k, v, self.band)
        q, k = self.mapping(q, k, self.temperature)
        return linear_attention(q, k, v, self.band, dense=self.dense)


def _kernel_attention() -> Packed:
    # here, for Triton is imported only where a kernel is to run
    from subadjacent.core.kernels.attention import packed_attention as in_a_kernel

    return in_a_kernel


class EncoderLayer(nn.Module):
    """Attention, then two linear maps, each added to its input and normalised after."""

    def __init__(self, config: TransformerConfig, attention: Attention) -> None:
        super().__init__()
        self.attention = attention
        self.after_attention = nn.LayerNorm(config.width)
        self.widen = nn.Linear(config.width, config.feedforward)
        self.narrow = nn.Linear(config.feedforward, config.width)
        self.after_feedforward = nn.LayerNorm(config.width)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, N, D) → the encoded points (B, N, D) and their contribution (B, N)."""
        attended, contribution = self.attention(x)
        return self.encode(x, attended), contribution

    def encode(self, x: Tensor, attended: Tensor) -> Tensor:
        """The layer's steps after attention."""
        x = self.after_attention(x + attended)
        encoded: Tensor = self.after_feedforward(x + self.narrow(functional.gelu(self.widen(x))))
        return encoded
