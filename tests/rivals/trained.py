"""Training that tests of rivals share."""

from __future__ import annotations

from subadjacent.data.windows import Windows
from subadjacent.networks.network import Network
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast
from subadjacent.training.loop import train
from subadjacent.training.step import make_optimizers
from tiny import CPU


def train_on(model: Network, windows: Windows, config: TrainingConfig) -> None:
    """Train a network on windows, and validate it on the same."""
    optimizers = make_optimizers(model, config.learning_rate)
    for _ in train(model, windows, windows, config, optimizers, autocast(CPU, "float32")):
        pass
