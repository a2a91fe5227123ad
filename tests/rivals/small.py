"""Small data, short training and evidence for the tests of rival networks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from subadjacent.data.windows import Windows
from subadjacent.networks.network import Network
from subadjacent.rivals.base import RivalConfig
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast
from subadjacent.training.loop import train
from subadjacent.training.step import make_optimizers
from tiny import CPU


def batch(config: RivalConfig, count: int = 3, seed: int = 5) -> Tensor:
    """Random windows for a network with these settings, always the same."""
    shape = (count, config.window, config.channels)
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def train_on(
    model: Network, windows: Windows, epochs: int, *, rate: float = 1e-2, batch_size: int = 16
) -> None:
    """Train a network on windows, and validate it on the same."""
    config = TrainingConfig(epochs, batch_size, rate, patience=epochs)
    optimizers = make_optimizers(model, rate)
    for _ in train(model, windows, windows, config, optimizers, autocast(CPU, "float32")):
        pass
    model.eval()


def assess(model: Network, rows: Tensor) -> Any:
    """The evidence on windows; untyped, for a score or expected values may be None."""
    return model.assess(rows)
