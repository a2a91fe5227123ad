"""The paper's Transformer as a method, and the base of methods around a Transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from subadjacent.core.band import Band
from subadjacent.errors import InputError
from subadjacent.methods.neural.defaults import (
    LEARNING_RATES,
    MAX_POINTS,
    MAX_POINTS_OF_PAIRS,
    Auto,
    choose_band,
    require_auto_or_whole,
)
from subadjacent.methods.neural.method import NeuralMethod
from subadjacent.networks.config import SIZES
from subadjacent.networks.layers import VANILLA
from subadjacent.networks.network import NetworkConfig
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer


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
class SubAdjacentMethod(TransformerMethod):
    """The Sub-Adjacent Transformer.

    Parameters
    ----------
    near, far
        The band; "auto" is a fifth and three tenths of the window.
    size
        The network's dimensions: "tiny", "small" or "paper".
    attention, attention_weight
        See ``SubAdjacentConfig``.
    """

    network = SubAdjacentTransformer

    near: int | Auto = "auto"
    far: int | Auto = "auto"
    attention: str = "softmax"
    attention_weight: float = 10.0

    def __post_init__(self) -> None:
        require_auto_or_whole("near", self.near, least=0)
        require_auto_or_whole("far", self.far, least=0)
        super().__post_init__()
        # what the network refuses for any data is refused now
        self._config(1, Band())

    def configure(self, channels: int, window: int) -> SubAdjacentConfig:
        """The network's settings for some data."""
        return self._config(channels, choose_band(self.near, self.far, window))

    def saved_config(self, saved: dict[str, Any], window: int) -> SubAdjacentConfig:
        """The settings of a saved network."""
        config = SubAdjacentConfig.from_dict(saved)
        config.band.check(window)
        return config

    def longest_window(self, config: NetworkConfig) -> int:
        """Fewer points where a matrix of all pairs is formed."""
        assert isinstance(config, SubAdjacentConfig)
        return MAX_POINTS_OF_PAIRS if config.attention == VANILLA else MAX_POINTS

    def _config(self, channels: int, band: Band) -> SubAdjacentConfig:
        return SubAdjacentConfig.sized(
            self.size,
            channels,
            attention=self.attention,
            band=band,
            attention_weight=self.attention_weight,
        )
