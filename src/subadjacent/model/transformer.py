"""The Sub-Adjacent Transformer.

Shapes: B windows, N points in a window, C channels, D model width, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from subadjacent.core.loss import loss
from subadjacent.model import fused
from subadjacent.model.config import ModelConfig
from subadjacent.model.layers import Embedding, EncoderLayer
from subadjacent.model.network import Network, Objective, Reconstruction


class SubAdjacentTransformer(Network):
    """Reconstructs windows of any length, and tells how much each point contributed."""

    layered = True

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.embed = Embedding(config.channels, config.width)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.reconstruct = nn.Linear(config.width, config.channels)
        # positions that the fused form has made so far, by window length and device
        self.places: dict[tuple[int, torch.device], Tensor] = {}

    def forward(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C)."""
        if fused.applies(self, windows):
            return fused.reconstruct(self, windows)
        x = self.embed(windows)  # (B, N, D)
        contributions = []
        for layer in self.layers:
            x, contribution = layer(x)
            contributions.append(contribution)
        return Reconstruction(
            self.reconstruct(self.norm(x)), torch.stack(contributions).mean(dim=0)
        )

    def objective(self, windows: Tensor, attention_weight: float) -> Objective:
        """Eq. 5: the error, less λ times the contribution."""
        if fused.applies(self, windows):
            return fused.objective(self, windows, attention_weight)
        values, contribution = self(windows)
        return Objective(loss(windows, values, contribution, attention_weight), contribution)

    def attention(self, windows: Tensor) -> Tensor:
        """The attention matrices of every layer, (layers, B, H, N, N) [query, key]."""
        x = self.embed(windows)
        matrices = []
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            matrices.append(layer.attention.matrix(x))
            x, _ = layer(x)
        return torch.stack(matrices)
