"""The Anomaly Transformer (Xu et al., ICLR 2022), a baseline in our network's frame.

Embedding, encoder and output are those of the Sub-Adjacent Transformer, so that the two differ
in their attention and in nothing else.

Shapes: B windows, N points in a window, C channels, D model width, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from subadjacent.core.association import association_loss, discrepancy, prior_association, scale
from subadjacent.errors import require_number
from subadjacent.networks.config import TransformerConfig, require_attention
from subadjacent.networks.layers import (
    VANILLA,
    Attention,
    Embedding,
    EncoderLayer,
    Reconstruction,
)
from subadjacent.networks.network import Network, WindowEvidence

# softmax attention, as published, or the mapping of the Sub-Adjacent Transformer
ATTENTIONS = (VANILLA, "softmax")

Measure = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class AnomalyTransformerConfig(TransformerConfig):
    """The settings of the Anomaly Transformer.

    Parameters
    ----------
    channels, width, heads, layers, feedforward
        See ``TransformerConfig``.
    attention
        Where the series association comes from: ``"vanilla"`` (as published) or ``"softmax"``,
        linear attention with the learned softmax mapping.
    attention_weight
        k of the published loss: weight of the discrepancy against the error.
    """

    attention: str = VANILLA
    attention_weight: float = 3.0

    def __post_init__(self) -> None:
        # super() does not find its class in a dataclass with slots
        TransformerConfig.__post_init__(self)
        require_attention(self.attention, ATTENTIONS)
        require_number("attention_weight", self.attention_weight, least=0)


class AnomalyAttention(Attention):
    """Multi-head attention that also gives a prior: a Gaussian of learned scale at each point.

    The attention matrices are formed, for the discrepancy needs them.
    """

    def __init__(self, config: AnomalyTransformerConfig) -> None:
        super().__init__(config, config.attention)
        self.scales = nn.Linear(config.width, config.heads)

    def associate(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(B, N, D) → attended points (B, N, D), series and prior association (B, H, N, N)."""
        q, k, v = self.queries_keys_values(x)
        series = self.matrix_of(q, k)
        attended = (series @ v.to(series.dtype)).transpose(1, 2).flatten(2)  # (B, N, D)
        prior = prior_association(scale(self.scales(x)).mT)
        return self.mix(attended.to(v.dtype)), series, prior


class AnomalyTransformer(Network):
    """Reconstructs windows, and tells each point's association discrepancy.

    The discrepancy, the mean over layers and heads, stands where the Sub-Adjacent Transformer
    has the contribution: the lower it is, the more suspect the point.
    """

    recordable = True
    shareable = True
    config: AnomalyTransformerConfig

    def __init__(self, config: AnomalyTransformerConfig) -> None:
        super().__init__(config)
        self.embed = Embedding(config.channels, config.width)
        self.layers = nn.ModuleList(
            EncoderLayer(config, AnomalyAttention(config)) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)
        self.reconstruct = nn.Linear(config.width, config.channels)

    def forward(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C); the discrepancy stands for the contribution."""
        values, discrepancies = self._run(windows, discrepancy)  # (layers, B, H, N)
        return Reconstruction(values, discrepancies.mean(dim=(0, 2)))

    def losses(
        self,
        windows: Tensor,
        epoch: int,  # noqa: ARG002 — the same in every epoch
    ) -> Sequence[Tensor]:
        """Both phases of the minimax in one loss; see ``association_loss``."""
        values, discrepancies = self._run(windows, _both_phases)  # (layers, 2, B, H, N)
        pushed, pulled = discrepancies.mean(dim=(0, 3))
        return [association_loss(windows, values, pushed, pulled, self.config.attention_weight)]

    def judge(self, windows: Tensor) -> WindowEvidence:
        """Squared error, reconstruction, and the discrepancy in the contribution's place."""
        values, discrepancies = self(windows)
        return WindowEvidence((values - windows).square(), values, {"contribution": discrepancies})

    def attention(self, windows: Tensor) -> Tensor:
        """The series associations of every layer, (layers, B, H, N, N) [query, key]."""
        return self._run(windows, lambda series, _prior: series)[1]

    def _run(self, windows: Tensor, measure: Measure) -> tuple[Tensor, Tensor]:
        """The reconstruction, and ``measure`` of each layer's associations.

        Measured layer by layer: only training needs to keep the matrices of all of them.
        """
        x = self.embed(windows)  # (B, N, D)
        measured = []
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            assert isinstance(layer.attention, AnomalyAttention)
            attended, series, prior = layer.attention.associate(x)
            measured.append(measure(series, prior))
            x = layer.encode(x, attended)
        return self.reconstruct(self.norm(x)), torch.stack(measured)


def _both_phases(series: Tensor, prior: Tensor) -> Tensor:
    """The discrepancy twice: to be learned by the series alone, and by the prior alone."""
    return torch.stack([discrepancy(series, prior.detach()), discrepancy(series.detach(), prior)])
