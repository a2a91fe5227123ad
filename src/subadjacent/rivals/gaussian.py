"""Normal densities of single numbers, as the variational networks use them."""

from __future__ import annotations

import math

from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.draws import standard_normal
from subadjacent.networks.network import WindowEvidence

# smallest deviation of a value, in deviations of its channel: without one, rows that never move
# would have an infinite density. Twice as small makes surprise on such rows four times as large
MIN_DEVIATION = 0.05


class Normal(nn.Module):
    """A linear map to the mean and the deviation of a normal density of each number."""

    def __init__(self, width: int, numbers: int) -> None:
        super().__init__()
        self.map = nn.Linear(width, 2 * numbers)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Means and deviations, (…, numbers) each, in float32."""
        mean, raw = self.map(features).float().chunk(2, dim=-1)
        return mean, functional.softplus(raw) + MIN_DEVIATION


def surprise(values: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """Negative log-density of values under normal densities."""
    standardised = (values - mean) / deviation
    return standardised.square() / 2 + deviation.log() + math.log(2 * math.pi) / 2


def divergence(mean: Tensor, deviation: Tensor) -> Tensor:
    """Kullback-Leibler divergence of normal densities from the standard one."""
    return (mean.square() + deviation.square() - 1) / 2 - deviation.log()


def draw(mean: Tensor, deviation: Tensor) -> Tensor:
    """A random number of each density, through which gradients reach mean and deviation."""
    return mean + deviation * standard_normal(mean.shape, mean.device, mean.dtype)


def assessed(windows: Tensor, mean: Tensor, deviation: Tensor) -> WindowEvidence:
    """Evidence: of a point the mean surprise of its values, of a value its squared error."""
    score = surprise(windows, mean, deviation).mean(dim=-1)
    return WindowEvidence((windows - mean).square(), mean, {}, score)
