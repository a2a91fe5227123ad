"""The Sub-Adjacent Transformer.

Shapes: B windows, N points in a window, C channels, D model width, H heads.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from subadjacent.model.config import ModelConfig
from subadjacent.model.layers import Embedding, EncoderLayer


class Reconstruction(NamedTuple):
    """What the network says of a batch of windows."""

    values: Tensor  # (B, N, C)
    contribution: Tensor  # (B, N), the mean over heads and layers


class SubAdjacentTransformer(nn.Module):
    """Reconstructs windows of any length, and tells how much each point contributed."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = Embedding(config.channels, config.width)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.reconstruct = nn.Linear(config.width, config.channels)

    @classmethod
    def seeded(cls, config: ModelConfig, seed: int) -> SubAdjacentTransformer:
        """Build with weights that depend on ``seed`` alone; the global generators are untouched."""
        with torch.random.fork_rng(devices=[]):
            # not torch.manual_seed, which reseeds every GPU as well
            torch.default_generator.manual_seed(seed)
            return cls(config)

    def forward(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C)."""
        x = self.embed(windows)  # (B, N, D)
        contributions = []
        for layer in self.layers:
            x, contribution = layer(x)
            contributions.append(contribution)
        return Reconstruction(
            self.reconstruct(self.norm(x)), torch.stack(contributions).mean(dim=0)
        )

    def attention(self, windows: Tensor) -> Tensor:
        """The attention matrices of every layer, (layers, B, H, N, N) [query, key]."""
        x = self.embed(windows)
        matrices = []
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            matrices.append(layer.attention.matrix(x))
            x, _ = layer(x)
        return torch.stack(matrices)
