"""The networks of other papers as one method: they differ in the network alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from subadjacent.errors import InputError
from subadjacent.methods.neural.defaults import MOST_SQUARED
from subadjacent.methods.neural.method import NeuralMethod
from subadjacent.networks.network import Network, NetworkConfig
from subadjacent.networks.rival import PAPER, Rival, RivalConfig


@dataclass(frozen=True, kw_only=True)
class RivalMethod(NeuralMethod):
    """A network of another paper, trained and judged like all others.

    Parameters
    ----------
    rival
        The network.
    size
        "paper", or "tiny" for tests.
    settings
        Of the network, by name; the rest goes by the size.
    """

    rival: type[Rival]
    size: str = PAPER
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        # what the network refuses for any data is refused now
        self.configure(1, self.usual_window() if isinstance(self.window, str) else self.window)

    @property
    def network(self) -> type[Network]:
        """The class of the network."""
        return self.rival

    def usual_window(self) -> int:
        """The window of the network's own paper."""
        return self.rival.configured_by.usual_window

    def configure(self, channels: int, window: int) -> RivalConfig:
        """The network's settings for some data."""
        return self.rival.configured_by.sized(self.size, channels, window, **self.settings)

    def saved_config(self, saved: dict[str, Any], window: int) -> RivalConfig:
        """The settings of a saved network."""
        config = self.rival.configured_by.from_dict(saved)
        if config.window != window:
            raise InputError(f"window must be the network's {config.window}; got {window}")
        return config

    def longest_window(self, config: NetworkConfig) -> int:  # noqa: ARG002 — the same for all
        """Fewer points: weights may grow with the window, and some compare all pairs of points."""
        return MOST_SQUARED
