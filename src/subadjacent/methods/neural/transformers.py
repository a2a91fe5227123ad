"""The Transformers as methods: the paper's, its strict form, and the Anomaly Transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from subadjacent.core.band import Band
from subadjacent.errors import InputError
from subadjacent.methods.neural.defaults import (
    LEARNING_RATES,
    MOST_POINTS,
    MOST_SQUARED,
    Auto,
    choose_band,
    require_auto_or_whole,
)
from subadjacent.methods.neural.method import NeuralMethod
from subadjacent.networks.anomaly_transformer import AnomalyTransformer, AnomalyTransformerConfig
from subadjacent.networks.config import SIZES
from subadjacent.networks.layers import VANILLA
from subadjacent.networks.network import NetworkConfig
from subadjacent.networks.strict import StrictConfig, StrictTransformer
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer

# what the Anomaly Transformer's attention is called → what its network calls it
ASSOCIATIONS = {"vanilla": VANILLA, "linear": "softmax"}


@dataclass(frozen=True, kw_only=True)
class TransformerMethod(NeuralMethod):
    """A Transformer of a named size."""

    size: str = "paper"

    def __post_init__(self) -> None:
        if not isinstance(self.size, str) or self.size not in SIZES:
            raise InputError(f"size must be one of {', '.join(SIZES)}; got {self.size!r}")
        super().__post_init__()

    def usual_learning_rate(self) -> float:
        """The learning rate for the size."""
        return LEARNING_RATES[self.size]


@dataclass(frozen=True, kw_only=True)
class BandMethod(TransformerMethod):
    """A Transformer with a band; "auto" is a fifth and three tenths of the window."""

    near: int | Auto = "auto"
    far: int | Auto = "auto"

    def __post_init__(self) -> None:
        require_auto_or_whole("near", self.near, least=0)
        require_auto_or_whole("far", self.far, least=0)
        super().__post_init__()

    def band(self, window: int, *, circular: bool) -> Band:
        """The band in windows of some length."""
        return choose_band(self.near, self.far, window, circular=circular)


@dataclass(frozen=True, kw_only=True)
class SubAdjacentMethod(BandMethod):
    """The Sub-Adjacent Transformer.

    Parameters
    ----------
    near, far
        The band.
    size
        The network's dimensions: "tiny", "small" or "paper".
    attention, attention_weight
        See ``SubAdjacentConfig``.
    """

    network = SubAdjacentTransformer

    attention: str = "softmax"
    attention_weight: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        # what the network refuses for any data is refused now
        self._config(1, Band())

    def configure(self, channels: int, window: int) -> SubAdjacentConfig:
        """The network's settings for some data."""
        return self._config(channels, self.band(window, circular=True))

    def saved_config(self, saved: dict[str, Any], window: int) -> SubAdjacentConfig:
        """The settings of a saved network."""
        config = SubAdjacentConfig.from_dict(saved)
        config.band.check(window)
        return config

    def longest_window(self, config: NetworkConfig) -> int:
        """Fewer points where a matrix of all pairs is formed."""
        assert isinstance(config, SubAdjacentConfig)
        return MOST_SQUARED if config.attention == VANILLA else MOST_POINTS

    def _config(self, channels: int, band: Band) -> SubAdjacentConfig:
        return SubAdjacentConfig.sized(
            self.size,
            channels,
            attention=self.attention,
            band=band,
            attention_weight=self.attention_weight,
        )


@dataclass(frozen=True, kw_only=True)
class StrictMethod(BandMethod):
    """The strict form: each point reconstructed from its band alone.

    Parameters
    ----------
    near, far
        The band; ``near`` must be at least 1.
    size
        The network's dimensions: "tiny", "small" or "paper".
    """

    network = StrictTransformer

    def configure(self, channels: int, window: int) -> StrictConfig:
        """The network's settings for some data."""
        band = self.band(window, circular=False)
        return StrictConfig.sized(self.size, channels, band=band)

    def saved_config(self, saved: dict[str, Any], window: int) -> StrictConfig:
        """The settings of a saved network."""
        config = StrictConfig.from_dict(saved)
        config.band.check(window)
        return config


@dataclass(frozen=True, kw_only=True)
class AnomalyTransformerMethod(TransformerMethod):
    """The Anomaly Transformer.

    Parameters
    ----------
    size
        The network's dimensions: "tiny", "small" or "paper".
    attention
        Where the series association comes from: "vanilla" (as published) or "linear".
    attention_weight
        k: weight of the discrepancy against the error.
    """

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
        return MOST_SQUARED
