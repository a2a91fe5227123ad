"""The parts of the network.

Shapes: B windows, N points in a window, C channels, D model width, H heads, E = D/H features.
"""

from __future__ import annotations

import math
from collections.abc import Callable

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
from subadjacent.core.kernels import kernels_on
from subadjacent.core.mapping import MAPPINGS
from subadjacent.core.packed import packed_attention
from subadjacent.model.config import ModelConfig

Packed = Callable[[Tensor, Tensor, int, Band], Attended]

# in float32 plain PyTorch is as quick, and exact
KERNEL_KIND = torch.bfloat16


class Embedding(nn.Module):
    """Each point with its two neighbours around the ring, plus where it stands.

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


class SubAdjacentAttention(nn.Module):
    """Multi-head attention that reports each point's sub-adjacent contribution."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.band: Band = config.band
        # whether to form the matrix of linear attention; by the window's length when None
        self.dense: bool | None = None
        self.mapping = MAPPINGS.get(config.attention)
        self.project = nn.Linear(config.width, 3 * config.width)
        self.mix = nn.Linear(config.width, config.width)
        if config.attention == "softmax":
            # the temperature is softplus(δ), δ starts at 1; shared by queries, keys and heads
            self.raw_temperature = nn.Parameter(torch.ones(()))
        else:
            self.register_buffer("raw_temperature", torch.ones(()), persistent=False)

    @property
    def temperature(self) -> Tensor:
        """τ of Eq. 4, always positive."""
        return functional.softplus(self.raw_temperature)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, N, D) → the attended points (B, N, D) and their contribution (B, N)."""
        packed = self._packed_form(x)
        if packed is not None:
            attended = packed(self.project(x), self.temperature, self.heads, self.band)
            return self.mix(attended.values), attended.contribution.mean(dim=1)
        q, k, v = self._queries_keys_values(x)
        attended = self._attend(q, k, v)
        joined = attended.values.transpose(1, 2).flatten(2)  # (B, N, D)
        return self.mix(joined), attended.contribution.mean(dim=1)

    def matrix(self, x: Tensor) -> Tensor:
        """The attention matrices, (B, H, N, N) [query, key]; for looking at, not for speed."""
        q, k, _ = self._queries_keys_values(x)
        return self._matrix(q, k)

    def _matrix(self, q: Tensor, k: Tensor) -> Tensor:
        if self.mapping is None:
            return vanilla_matrix(q, k)
        return attention_matrix(*self.mapping(q, k, self.temperature))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Attended:
        if self.mapping is None:
            return vanilla_attention(q, k, v, self.band)
        q, k = self.mapping(q, k, self.temperature)
        return linear_attention(q, k, v, self.band, dense=self.dense)

    def _packed_form(self, x: Tensor) -> Packed | None:
        """Attention straight from the projection, where there is such for these points."""
        if self.runs_in_a_kernel(x):
            from subadjacent.core.kernels.attention import packed_attention as in_a_kernel

            return in_a_kernel
        # compilers see into plain operations only
        plain = x.device.type != "cpu" or torch.compiler.is_compiling()
        return None if plain or not self._is_the_papers() else packed_attention

    def _is_the_papers(self) -> bool:
        """Whether this is the attention that the packed forms stand for."""
        mapping = self.mapping is MAPPINGS["softmax"] and self.dense is None
        return mapping and type(self) is SubAdjacentAttention

    def runs_in_a_kernel(self, x: Tensor) -> bool:
        """Whether there is a kernel for these points, which must come out in bfloat16."""
        if not self._is_the_papers() or not kernels_on(x):
            return False
        where = x.device.type
        if not torch.is_autocast_enabled(where) or torch.get_autocast_dtype(where) != KERNEL_KIND:
            return False
        from subadjacent.core.kernels.attention import fits

        return fits(x.shape[1], x.shape[2] // self.heads, self.band)

    def _queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, n, _ = x.shape
        projected = self.project(x).view(batch, n, 3, self.heads, -1)
        q, k, v = projected.permute(2, 0, 3, 1, 4).unbind(0)  # (B, H, N, E) each
        return q, k, v


class EncoderLayer(nn.Module):
    """Attention, then two linear maps, each added to its input and normalised after."""

    def __init__(self, config: ModelConfig, attention: SubAdjacentAttention | None = None) -> None:
        super().__init__()
        self.attention = SubAdjacentAttention(config) if attention is None else attention
        self.after_attention = nn.LayerNorm(config.width)
        self.widen = nn.Linear(config.width, config.feedforward)
        self.narrow = nn.Linear(config.feedforward, config.width)
        self.after_feedforward = nn.LayerNorm(config.width)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, N, D) → the encoded points (B, N, D) and their contribution (B, N)."""
        attended, contribution = self.attention(x)
        return self.encode(x, attended), contribution

    def encode(self, x: Tensor, attended: Tensor) -> Tensor:
        """All that comes after attention."""
        x = self.after_attention(x + attended)
        encoded: Tensor = self.after_feedforward(x + self.narrow(functional.gelu(self.widen(x))))
        return encoded
