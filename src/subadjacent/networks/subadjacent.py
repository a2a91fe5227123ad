"""The Sub-Adjacent Transformer: the paper's network.

Shapes: B windows, N points in a window, C channels, D model width, H heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

import torch
from torch import Tensor, nn

from subadjacent.core import dispatch
from subadjacent.core.band import Band
from subadjacent.core.loss import loss
from subadjacent.core.mapping import MAPPINGS
from subadjacent.errors import require_number
from subadjacent.networks import fused
from subadjacent.networks.config import TransformerConfig, require_attention
from subadjacent.networks.layers import (
    VANILLA,
    Embedding,
    EncoderLayer,
    Reconstruction,
    SubAdjacentAttention,
)
from subadjacent.networks.network import Network, WindowEvidence

ATTENTIONS = (*MAPPINGS, VANILLA)


@dataclass(frozen=True, slots=True)
class SubAdjacentConfig(TransformerConfig):
    """The settings of the Sub-Adjacent Transformer.

    Parameters
    ----------
    channels, width, heads, layers, feedforward
        See ``TransformerConfig``.
    attention
        One of the mappings of linear attention, or ``"vanilla"``.
    band
        Which points count as sub-adjacent.
    attention_weight
        λ of Eq. 5: weight of the contribution against the reconstruction error.
    """

    attention: str = "softmax"
    band: Band = field(default_factory=Band)
    attention_weight: float = 10.0

    def __post_init__(self) -> None:
        # super() does not find its class in a dataclass with slots
        TransformerConfig.__post_init__(self)
        require_attention(self.attention, ATTENTIONS)
        require_number("attention_weight", self.attention_weight, least=0)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Self:
        """The inverse of ``dataclasses.asdict``."""
        return cls(**saved | {"band": Band(**saved["band"])})


class SubAdjacentTransformer(Network):
    """Reconstructs windows of any length, and gives each point's contribution."""

    recordable = True
    shareable = True
    layered = True
    config: SubAdjacentConfig

    def __init__(self, config: SubAdjacentConfig) -> None:
        super().__init__(config)
        self.embed = Embedding(config.channels, config.width)
        self.layers = nn.ModuleList(
            EncoderLayer(config, SubAdjacentAttention(config, config.attention, config.band))
            for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)
        self.reconstruct = nn.Linear(config.width, config.channels)
        # positions that the fused form has made so far, by window length and device
        self.places: dict[tuple[int, torch.device], Tensor] = {}

    def forward(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C)."""
        if self.runs_in_kernels(windows):
            return Reconstruction(*fused.reconstruct(self, windows))
        x = self.embed(windows)  # (B, N, D)
        contributions = []
        for layer in self.layers:
            x, contribution = layer(x)
            contributions.append(contribution)
        return Reconstruction(
            self.reconstruct(self.norm(x)), torch.stack(contributions).mean(dim=0)
        )

    def losses(
        self,
        windows: Tensor,
        epoch: int,  # noqa: ARG002 — the same in every epoch
    ) -> Sequence[Tensor]:
        """Eq. 5: the error, less λ times the contribution."""
        weight = self.config.attention_weight
        if self.runs_in_kernels(windows):
            return [fused.loss(self, windows, weight)]
        values, contribution = self(windows)
        return [loss(windows, values, contribution, weight)]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """Squared error, reconstruction and contribution."""
        values, contribution = self(windows)
        error = (values - windows).square()
        return WindowEvidence(error, values, {"contribution": contribution})

    def attention(self, windows: Tensor) -> Tensor:
        """The attention matrices of every layer, (layers, B, H, N, N) [query, key]."""
        x = self.embed(windows)
        matrices = []
        for layer, attention in zip(self.layers, self.attentions(), strict=True):
            matrices.append(attention.matrix(x))
            x, _ = layer(x)
        return torch.stack(matrices)

    def attentions(self) -> Iterator[SubAdjacentAttention]:
        """The attention of each layer."""
        for layer in self.layers:
            # not checked: a compiled layer is of another class, with the same attributes
            yield cast("SubAdjacentAttention", layer.attention)

    def runs_in_kernels(self, windows: Tensor) -> bool:
        """Whether the whole network runs in kernels on these windows (B, N, C)."""
        config = self.config
        widest = max(config.width, config.feedforward, config.channels)
        return dispatch.network_in_kernels(
            windows, config.width, widest, config.heads, config.band
        ) and all(attention.is_papers() for attention in self.attentions())
