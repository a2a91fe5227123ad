"""A network and data so small that training them takes no time."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from subadjacent.core.band import Band
from subadjacent.data.windows import Windows
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer

WINDOW = 12
CPU = torch.device("cpu")


def network(seed: int = 0) -> SubAdjacentTransformer:
    config = SubAdjacentConfig(
        channels=2, width=8, heads=2, layers=1, feedforward=8, band=Band(2, 3)
    )
    return SubAdjacentTransformer.seeded(config, seed)


def windows(rows: int = 100, stride: int = 1, seed: int = 0) -> Windows:
    time = torch.arange(rows)[:, None]
    noise = torch.randn(rows, 2, generator=torch.Generator().manual_seed(seed))
    values = torch.sin(time / torch.tensor([3.0, 5.0])) + 0.1 * noise
    return Windows(values, torch.arange(0, rows - WINDOW + 1, stride), WINDOW)


def weights(model: nn.Module) -> np.ndarray:
    return np.concatenate([one.detach().numpy().ravel() for one in model.parameters()])
