"""The Anomaly Transformer (Xu et al., ICLR 2022), a baseline in our network's frame.

Embedding, encoder and output are those of the Sub-Adjacent Transformer, so that the two differ
in what attention is asked for and in nothing else.

Shapes: B windows, N points in a window, C channels, D model width, H heads.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from subadjacent.core.association import association_loss, discrepancy, prior_association, scale
from subadjacent.model.config import ModelConfig
from subadjacent.model.layers import Embedding, EncoderLayer, SubAdjacentAttention
from subadjacent.model.network import Network, Objective, Reconstruction

Measure = Callable[[Tensor, Tensor], Tensor]


class AnomalyAttention(SubAdjacentAttention):
    """Multi-head attention that also gives a prior: a Gaussian of learned scale at each point.

    The band plays no part. The attention matrices are formed, for the discrepancy needs them.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.scales = nn.Linear(config.width, config.heads)

    def associate(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(B, N, D) → attended points (B, N, D), series and prior association (B, H, N, N)."""
        q, k, v = self._queries_keys_values(x)
        series = self._matrix(q, k)
        attended = (series @ v.to(series.dtype)).transpose(1, 2).flatten(2)  # (B, N, D)
        prior = prior_association(scale(self.scales(x)).mT)
        return self.mix(attended.to(v.dtype)), series, prior


class AnomalyTransformer(Network):
    """Reconstructs windows, and tells each point's association discrepancy.

    The discrepancy, the mean over layers and heads, stands where the Sub-Adjacent Transformer
    has the contribution: the lower it is, the more suspect the point.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.embed = Embedding(config.channels, config.width)
        self.layers = nn.ModuleList(
            EncoderLayer(config, AnomalyAttention(config)) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)
        self.reconstruct = nn.Linear(config.width, config.channels)

    def forward(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C)."""
        values, found = self._run(windows, discrepancy)  # (layers, B, H, N)
        return Reconstruction(values, found.mean(dim=(0, 2)))

    def objective(self, windows: Tensor, attention_weight: float) -> Objective:
        """Both phases of the minimax; see ``association_loss``."""
        values, found = self._run(windows, _both_phases)  # (layers, 2, B, H, N)
        pushed, pulled = found.mean(dim=(0, 3))
        loss = association_loss(windows, values, pushed, pulled, attention_weight)
        return Objective(loss, pushed)

    def attention(self, windows: Tensor) -> Tensor:
        """The series associations of every layer, (layers, B, H, N, N) [query, key]."""
        return self._run(windows, lambda series, _prior: series)[1]

    def _run(self, windows: Tensor, measure: Measure) -> tuple[Tensor, Tensor]:
        """The reconstruction, and what ``measure`` makes of each layer's associations.

        Measured layer by layer: only training needs to keep the matrices of all of them.
        """
        x = self.embed(windows)  # (B, N, D)
        found = []
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            assert isinstance(layer.attention, AnomalyAttention)
            attended, series, prior = layer.attention.associate(x)
            found.append(measure(series, prior))
            x = layer.encode(x, attended)
        return self.reconstruct(self.norm(x)), torch.stack(found)


def _both_phases(series: Tensor, prior: Tensor) -> Tensor:
    """The discrepancy twice: to be learned by the series alone, and by the prior alone."""
    return torch.stack([discrepancy(series, prior.detach()), discrepancy(series.detach(), prior)])
