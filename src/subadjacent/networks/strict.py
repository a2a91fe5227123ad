"""The strict form: a point is reconstructed from its sub-adjacent points, and from nothing else.

The Sub-Adjacent Transformer is asked to look at the band, and may still copy the point itself.
Here it cannot: each point has a stream that begins without data, and layer after layer takes
from the embedded points of its own band. Points are embedded one by one, and keys and values
come from the embedding alone, never from a stream, so that no detour leads back to the point.

Shapes: B windows, N points in a window, C channels, D model width, H heads, E = D/H features.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.core.band import Band
from subadjacent.core.banded import banded_attention, banded_matrix, check_strict, usable
from subadjacent.core.loss import loss
from subadjacent.errors import InputError
from subadjacent.networks.config import TransformerConfig
from subadjacent.networks.layers import Reconstruction
from subadjacent.networks.network import Network, WindowEvidence

Turns = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class StrictConfig(TransformerConfig):
    """The settings of the strict form.

    Parameters
    ----------
    channels, width, heads, layers, feedforward
        See ``TransformerConfig``; the width must be a multiple of twice the heads.
    band
        The points that a point is reconstructed from. It must not hold the point itself, and
        its distance runs along the line.
    """

    band: Band = field(default_factory=lambda: Band(circular=False))

    def __post_init__(self) -> None:
        # super() does not find its class in a dataclass with slots
        TransformerConfig.__post_init__(self)
        check_strict(self.band)
        if self.width % (2 * self.heads):
            raise InputError(
                f"width must be a multiple of twice the heads in the strict form; "
                f"got width={self.width}, heads={self.heads}"
            )

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Self:
        """The inverse of ``dataclasses.asdict``."""
        return cls(**saved | {"band": Band(**saved["band"])})


class StrictAttention(nn.Module):
    """Multi-head attention from streams to the points in their bands.

    Queries, keys and values are turned by angles that grow with the position, and what was
    attended is turned back. What a stream takes then depends on how far a point lies before or
    after it, and not on where the window begins.
    """

    def __init__(self, config: StrictConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.band = config.band
        # whether to form the matrix; by the window's length when None
        self.dense: bool | None = None
        self.ask = nn.Linear(config.width, config.width)
        self.offer = nn.Linear(config.width, 2 * config.width)
        self.mix = nn.Linear(config.width, config.width)

    def forward(self, streams: Tensor, points: Tensor, turns: Turns) -> tuple[Tensor, Tensor]:
        """Streams and points (B, N, D) → what was attended (B, N, D), contribution (B, N)."""
        q, k, v = self._queries_keys_values(streams, points, turns)
        attended = banded_attention(q, k, v, self.band, dense=self.dense)
        joined = turned(attended.values, turns, back=True).transpose(1, 2).flatten(2)
        return self.mix(joined), attended.contribution.mean(dim=1)

    def matrix(self, streams: Tensor, points: Tensor, turns: Turns) -> Tensor:
        """The attention matrices, (B, H, N, N) [query, key]; for looking at, not for speed."""
        q, k, _ = self._queries_keys_values(streams, points, turns)
        return banded_matrix(q, k, self.band)

    def _queries_keys_values(
        self, streams: Tensor, points: Tensor, turns: Turns
    ) -> tuple[Tensor, Tensor, Tensor]:
        q = self.ask(streams).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, H, N, E)
        offered = self.offer(points).unflatten(-1, (2, self.heads, -1))
        k, v = turned(offered.permute(2, 0, 3, 1, 4), turns).unbind(0)  # (B, H, N, E) each
        return turned(q, turns), k, v


class StrictLayer(nn.Module):
    """Attention, then two linear maps of each stream, both added and normalised after."""

    def __init__(self, config: StrictConfig) -> None:
        super().__init__()
        self.attention = StrictAttention(config)
        self.after_attention = nn.LayerNorm(config.width)
        self.widen = nn.Linear(config.width, config.feedforward)
        self.narrow = nn.Linear(config.feedforward, config.width)
        self.after_feedforward = nn.LayerNorm(config.width)

    def forward(self, streams: Tensor, points: Tensor, turns: Turns) -> tuple[Tensor, Tensor]:
        """Streams and points (B, N, D) → the next streams (B, N, D), contribution (B, N)."""
        attended, contribution = self.attention(streams, points, turns)
        x = self.after_attention(streams + attended)
        x = self.after_feedforward(x + self.narrow(functional.gelu(self.widen(x))))
        return x, contribution


class StrictTransformer(Network):
    """Reconstructs each point from the points at distance ``near`` to ``far`` alone.

    Attention is the softmax over the band. The reconstruction of a point that has its whole band
    in the window does not depend on where the window begins; see ``usable``.

    The contribution of a point is all the attention it gets, for none comes from outside of the
    band. Its mean is 1, training does not raise it, and points near the window's ends have less
    of it since fewer can ask them.
    """

    recordable = True
    shareable = True
    config: StrictConfig

    def __init__(self, config: StrictConfig) -> None:
        super().__init__(config)
        self.embed = nn.Linear(config.channels, config.width, bias=False)
        nn.init.kaiming_normal_(self.embed.weight, mode="fan_in", nonlinearity="leaky_relu")
        self.start = nn.Parameter(torch.randn(config.width))
        self.layers = nn.ModuleList(StrictLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.reconstruct = nn.Linear(config.width, config.channels)
        self.register_buffer(
            "periods", periods(config.width // config.heads // 2, config.band.far), persistent=False
        )

    def forward(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C)."""
        streams, points, turns = self._begin(windows)
        contributions = []
        for layer in self.layers:
            streams, contribution = layer(streams, points, turns)
            contributions.append(contribution)
        return Reconstruction(
            self.reconstruct(self.norm(streams)), torch.stack(contributions).mean(dim=0)
        )

    def losses(
        self,
        windows: Tensor,
        epoch: int,  # noqa: ARG002 — the same in every epoch
    ) -> Sequence[Tensor]:
        """Twice the mean squared error, the scale of Eq. 5.

        The contribution has no weight here: all attention is in the band already.
        """
        values, contribution = self(windows)
        return [loss(windows, values, contribution.detach(), attention_weight=0.0)]

    def judge(self, windows: Tensor) -> WindowEvidence:
        """Squared error, reconstruction and contribution."""
        values, contribution = self(windows)
        error = (values - windows).square()
        return WindowEvidence(error, values, {"contribution": contribution})

    def attention(self, windows: Tensor) -> Tensor:
        """The attention matrices of every layer, (layers, B, H, N, N) [query, key]."""
        streams, points, turns = self._begin(windows)
        matrices = []
        for layer in self.layers:
            assert isinstance(layer, StrictLayer)
            matrices.append(layer.attention.matrix(streams, points, turns))
            streams, _ = layer(streams, points, turns)
        return torch.stack(matrices)

    def usable(self, n: int) -> slice:
        """The points of a window of ``n`` that have their whole band inside it, on both sides.

        The others are reconstructed from fewer points. Where windows overlap by ``2·far``, the
        usable points of one follow on those of the one before.
        """
        return usable(n, self.config.band)

    def _begin(self, windows: Tensor) -> tuple[Tensor, Tensor, Turns]:
        """Streams without data and points embedded one by one, (B, N, D), and the turns."""
        points: Tensor = self.embed(windows)
        streams = self.start.to(points.dtype).expand_as(points)
        n = windows.shape[1]
        return streams, points, turns(n, self.get_buffer("periods"), self.start.dtype)


def periods(count: int, far: int) -> Tensor:
    """Whole numbers of points from 2 to ``4·far``, evenly apart in their logarithm.

    The longest tells any two points of a band apart, the shortest neighbours. Whole, so that
    positions can be counted modulo the period, and the angle of the millionth point is as exact
    as that of the first.
    """
    steps = max(count - 1, 1)
    return torch.tensor([round(2 * (2 * far) ** (step / steps)) for step in range(count)])


def turns(n: int, periods: Tensor, dtype: torch.dtype) -> Turns:
    """Cosine and sine of each position's angles, (n, E/2) each."""
    wide = torch.promote_types(dtype, torch.float32)
    places = torch.arange(n, device=periods.device)[:, None] % periods
    angles = 2.0 * math.pi * places.to(wide) / periods.to(wide)
    return angles.cos(), angles.sin()


def turned(x: Tensor, turns: Turns, *, back: bool = False) -> Tensor:
    """Turn pairs of features (…, N, E) by the angles of their positions, or back."""
    cos, sin = turns
    if back:
        sin = -sin
    first, second = x.chunk(2, dim=-1)
    pairs = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return pairs.to(x.dtype)
