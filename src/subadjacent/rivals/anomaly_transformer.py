"""The Anomaly Transformer (Xu et al., ICLR 2022), a baseline in our network's frame.

Embedding, encoder and output are those of the Sub-Adjacent Transformer, so that the two differ
in their attention and in nothing else.

Shapes: B windows, N points in a window, C channels, D model width, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from subadjacent.core.association import association_loss, discrepancy, prior_association, scale
from subadjacent.detectors.network import NetworkDetector
from subadjacent.errors import InputError, require_number
from subadjacent.methods.neural.defaults import MAX_POINTS_OF_PAIRS
from subadjacent.methods.neural.transformers import TransformerMethod
from subadjacent.networks.config import TransformerConfig, require_attention
from subadjacent.networks.layers import VANILLA, Attention, Embedding, EncoderLayer, Reconstruction
from subadjacent.networks.network import Network, NetworkConfig, WindowEvidence

# softmax attention, as published, or the mapping of the Sub-Adjacent Transformer
ATTENTIONS = (VANILLA, "softmax")

# the parameter ``attention`` of the detector → what the network calls it
ASSOCIATIONS = {"vanilla": VANILLA, "linear": "softmax"}

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
        """Reconstruct windows (B, N, C); the discrepancy takes the contribution's place."""
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

    def assess(self, windows: Tensor) -> WindowEvidence:
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
    """The discrepancy twice: with gradients of the series only, and of the prior only."""
    return torch.stack([discrepancy(series, prior.detach()), discrepancy(series.detach(), prior)])


@dataclass(frozen=True, kw_only=True)
class AnomalyTransformerMethod(TransformerMethod):
    """The Anomaly Transformer; settings are those of ``AnomalyTransformerDetector``."""

    network = AnomalyTransformer

    attention: str = "vanilla"
    attention_weight: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.attention, str) or self.attention not in ASSOCIATIONS:
            known = ", ".join(ASSOCIATIONS)
            raise InputError(f"attention must be one of {known}; got {self.attention!r}")
        # what the network refuses for any data is refused now
        self.configure(1, 2)

    def configure(
        self,
        channels: int,
        window: int,  # noqa: ARG002 — the same for every window
    ) -> AnomalyTransformerConfig:
        """The network's settings for some data."""
        return AnomalyTransformerConfig.sized(
            self.size,
            channels,
            attention=ASSOCIATIONS[self.attention],
            attention_weight=self.attention_weight,
        )

    def saved_config(
        self,
        saved: dict[str, Any],
        window: int,  # noqa: ARG002 — likewise
    ) -> AnomalyTransformerConfig:
        """The settings of a saved network."""
        return AnomalyTransformerConfig.from_dict(saved)

    def longest_window(self, config: NetworkConfig) -> int:  # noqa: ARG002 — any attention
        """The prior is a matrix of all pairs of points."""
        return MAX_POINTS_OF_PAIRS


@dataclass(kw_only=True, eq=False, repr=False)
class AnomalyTransformerDetector(NetworkDetector):
    """Finds rows that reconstruct badly and whose attention stays among their neighbours.

    The baseline of Xu et al. (ICLR 2022). A Transformer learns to reconstruct windows while
    each point's attention (series association) is driven away from a Gaussian around the point
    (prior association). Anomalies cannot follow: their association discrepancy stays small, and
    a small discrepancy raises the score.

    Parameters
    ----------
    attention : {"vanilla", "linear"}
        Where the series association comes from: softmax attention, as published, or linear
        attention with the learned softmax mapping of the Sub-Adjacent Transformer.
    attention_weight : float
        k: how much the discrepancy weighs against the error.
    temperature : float
        How sharply a low discrepancy raises a score, by a softmax over the window. 0 leaves
        the plain error.
    block : int, optional
        Rows that share that softmax; the window when left out.
    dynamic : {"none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7 of the sub-adjacent paper.
    memory : int
        Scores that the trailing form compares with.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given, and the
        network is "small".

    Attributes
    ----------
    history_ : sequence of Epoch
        The ``contribution`` among its traces is the mean discrepancy.
    others
        As of every ``NetworkDetector``.
    """

    method = AnomalyTransformerMethod

    size: str = "small"
    attention: str = "vanilla"
    attention_weight: float = 3.0
    temperature: float = 50.0
    block: int | None = None
    dynamic: str = "none"
    memory: int = 1000
