"""What training and scoring ask of a network, whatever it computes inside.

Shapes: B windows, N points in a window, C channels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Self

import torch
from torch import Tensor, nn

from subadjacent.model.config import ModelConfig


class Reconstruction(NamedTuple):
    """What a network says of a batch of windows.

    ``contribution`` is the number at each point that the score weighs its error by (Eq. 6):
    the lower it is, the more suspect the point.
    """

    values: Tensor  # (B, N, C)
    contribution: Tensor  # (B, N), the mean over heads and layers


class Objective(NamedTuple):
    """What training minimises for a batch of windows, and the contribution it found there."""

    loss: Tensor  # a number
    contribution: Tensor  # (B, N)


class Network(nn.Module, ABC):
    """A network that reconstructs windows of any length, and knows its own objective.

    ``layered`` tells that it is a chain of ``layers``, each called with the points alone; a GPU
    then runs them in compiled form.
    """

    layered: ClassVar[bool] = False

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config

    @classmethod
    def seeded(cls, config: ModelConfig, seed: int) -> Self:
        """Build with weights that depend on ``seed`` alone; the global generators are untouched."""
        with torch.random.fork_rng(devices=[]):
            # not torch.manual_seed, which reseeds every GPU as well
            torch.default_generator.manual_seed(seed)
            return cls(config)

    @abstractmethod
    def forward(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C)."""

    @abstractmethod
    def objective(self, windows: Tensor, attention_weight: float) -> Objective:
        """What to minimise; ``attention_weight`` sets attention against reconstruction."""

    @abstractmethod
    def attention(self, windows: Tensor) -> Tensor:
        """The attention matrices of every layer, (layers, B, H, N, N) [query, key]."""
