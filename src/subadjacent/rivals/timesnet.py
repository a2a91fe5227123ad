"""TimesNet: convolutions over a window laid out as an image, one period per line.

Wu, Hu, Liu, Zhou, Wang and Long, "TimesNet: Temporal 2D-Variation Modeling for General Time Series
Analysis", ICLR 2023.

Faithful: each window is put on its own mean and deviation and back; values are embedded by a
convolution and a code of their place; in each block the strongest frequencies of the embedded
window give the periods, the window is folded by each of them, goes through two blocks of
two-dimensional convolutions with kernels of 1, 3, 5, … and is unfolded; the results are weighted by
the softmax of the strengths and added to what came in; the score is the error of reconstruction.
Dimensions are those of its experiments in anomaly detection. Ours: in scoring, the frequencies are
those that were strong on average in training, where the paper takes those of the batch: a window's
score must not depend on which others are scored with it.

Shapes: B windows, N points in a window, C channels, D numbers a point is embedded by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.layers import Embedding
from subadjacent.rivals.base import Rival, RivalConfig, RivalDetector

# share of a batch in the mean strength of the frequencies
NEWS = 0.05
# added to a window's variance, so that a constant window stays finite
MIN_VARIANCE = 1e-5


@dataclass(frozen=True, kw_only=True)
class TimesNetConfig(RivalConfig):
    """The settings of TimesNet."""

    tiny: ClassVar = {"width": 4, "hidden": 4, "layers": 1, "periods": 2, "kernels": 2}

    # numbers that a point is embedded by, and between the two convolutions of a block
    width: int = 64
    hidden: int = 64
    # blocks
    layers: int = 2
    # periods that a block looks at
    periods: int = 3
    # convolutions side by side, of sizes 1, 3, 5, …
    kernels: int = 6


class TimesNet(Rival):
    """Reconstructs windows from how they vary within and between periods.

    Not recorded on a GPU, nor shared out over processes: how a window is folded depends on what
    is in the batch.
    """

    configured_by = TimesNetConfig
    config: TimesNetConfig

    def __init__(self, config: TimesNetConfig) -> None:
        super().__init__(config)
        self.embed = Embedding(config.channels, config.width)
        self.blocks = nn.ModuleList(TimesBlock(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.give_back = nn.Linear(config.width, config.channels)

    def forward(self, windows: Tensor) -> Tensor:
        """Reconstruct windows (B, N, C)."""
        mean = windows.mean(dim=1, keepdim=True)
        variance = windows.var(dim=1, keepdim=True, correction=0)
        deviation = (variance + MIN_VARIANCE).sqrt()
        points = self.embed((windows - mean) / deviation)
        for block in self.blocks:
            points = self.norm(block(points))
        reconstruction: Tensor = self.give_back(points) * deviation + mean
        return reconstruction


class TimesBlock(nn.Module):
    """Folds points (B, N, D) by their periods, convolves, unfolds, and adds up."""

    strength: Tensor

    def __init__(self, config: TimesNetConfig) -> None:
        super().__init__()
        self.periods = min(config.periods, config.window // 2)
        self.convolve = nn.Sequential(
            Inception(config.width, config.hidden, config.kernels),
            nn.GELU(),
            Inception(config.hidden, config.width, config.kernels),
        )
        # of each frequency, the mean over the batches of training
        self.register_buffer("strength", torch.zeros(config.window // 2 + 1))

    def forward(self, points: Tensor) -> Tensor:
        """Points of the same shape, after convolutions along and across their periods."""
        strengths = spectrum(points)  # (B, frequencies)
        if self.training:
            mean = strengths.detach().mean(dim=0)
            self.strength.lerp_(mean.to(self.strength.dtype), NEWS)
            frequencies = strongest(mean, self.periods)
        else:
            frequencies = strongest(self.strength, self.periods)
        weights = torch.softmax(strengths[:, frequencies], dim=-1)  # (B, periods)
        folded = [self.folded(points, points.shape[1] // frequency) for frequency in frequencies]
        return points + torch.einsum("kbnd,bk->bnd", torch.stack(folded), weights)

    def folded(self, points: Tensor, period: int) -> Tensor:
        """Convolve points that are laid out in rows of one period; zeros fill the last row."""
        b, n, d = points.shape
        rows = math.ceil(n / period)
        filled = functional.pad(points, (0, 0, 0, rows * period - n))
        picture = filled.reshape(b, rows, period, d).permute(0, 3, 1, 2)
        flat: Tensor = self.convolve(picture).permute(0, 2, 3, 1).reshape(b, rows * period, d)
        return flat[:, :n]


class Inception(nn.Module):
    """The mean of convolutions of several sizes; maps pictures (B, D, rows, period) to as many."""

    def __init__(self, width: int, following: int, kernels: int) -> None:
        super().__init__()
        self.kernels = nn.ModuleList(
            nn.Conv2d(width, following, 2 * half + 1, padding=half) for half in range(kernels)
        )
        for name, weights in self.kernels.named_parameters():
            if name.endswith("weight"):
                nn.init.kaiming_normal_(weights, mode="fan_out", nonlinearity="relu")
            else:
                nn.init.zeros_(weights)

    def forward(self, picture: Tensor) -> Tensor:
        """The mean over the kernels."""
        return torch.stack([kernel(picture) for kernel in self.kernels]).mean(dim=0)


def spectrum(points: Tensor) -> Tensor:
    """Strength of each frequency in points (B, N, D), the mean over D: (B, N // 2 + 1)."""
    strengths: Tensor = torch.fft.rfft(points.float(), dim=1).abs().mean(dim=-1)
    return strengths


def strongest(strengths: Tensor, count: int) -> list[int]:
    """The strongest frequencies, strongest first, without frequency 0, the mean."""
    frequencies: list[int] = (strengths[1:].topk(count).indices + 1).tolist()
    return frequencies


@dataclass(kw_only=True, eq=False, repr=False)
class TimesNetDetector(RivalDetector):
    """Finds rows that do not fit how a window varies within and between its periods.

    Wu et al. (ICLR 2023); the module's docstring says what is faithful.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given.
    """

    rival = TimesNet
