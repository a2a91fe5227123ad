"""UAE: one small autoencoder for each channel, and how unlikely their errors are together.

Garg, Zhang, Samaran, Savitha and Foo, "An Evaluation of Anomaly Detection and Diagnosis in
Multivariate Time Series", IEEE Transactions on Neural Networks and Learning Systems, 2021.

Faithful: a fully connected autoencoder for every channel by itself, with tanh between its layers;
the score of a point is the sum over channels of -log(1 - Φ(z)), z being its error in units of the
errors of normal rows. Ours: these units are those of held-out rows, once for all (the paper's
static form, where its best one moves along); the autoencoders of all channels run as one product.

Shapes: B windows, N points in a window, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Rival, RivalConfig, RivalDetector

# a spread of errors below this is that of a channel that never moves
MIN_SPREAD = 1e-6


@dataclass(frozen=True, kw_only=True)
class UAEConfig(RivalConfig):
    """The settings of UAE."""

    tiny: ClassVar = {"latent": 2}

    # numbers that a window of one channel is encoded by
    latent: int = 5


class UAE(Rival):
    """Reconstructs each channel from itself alone."""

    configured_by = UAEConfig
    recordable = True
    shareable = True
    config: UAEConfig
    usual: Tensor
    spread: Tensor

    def __init__(self, config: UAEConfig) -> None:
        super().__init__(config)
        n = config.window
        widths = [n, max(n // 2, 1), max(n // 4, 1), config.latent]
        widths += widths[-2::-1]
        self.layers = nn.ModuleList(
            ChannelLinear(config.channels, width, following)
            for width, following in pairwise(widths)
        )
        self.register_buffer("usual", torch.zeros(config.channels))
        self.register_buffer("spread", torch.ones(config.channels))

    def forward(self, windows: Tensor) -> Tensor:
        """Reconstruct windows (B, N, C)."""
        points = windows.transpose(1, 2)
        for number, layer in enumerate(self.layers):
            points = layer(torch.tanh(points) if number else points)
        return points.transpose(1, 2)

    def conclude(self, training: Iterable[Tensor], held_out: Iterable[Tensor]) -> None:  # noqa: ARG002 — rows not learned from tell what is usual
        """Mean and deviation of each channel's error on held-out rows."""
        errors = torch.cat([self._errors(batch, self(batch)).flatten(0, 1) for batch in held_out])
        self.usual.copy_(errors.mean(dim=0))
        self.spread.copy_(errors.std(dim=0, correction=0).clamp(min=MIN_SPREAD))

    def assess(self, windows: Tensor) -> WindowEvidence:
        """How unlikely the error of each channel is; the score adds them up."""
        expected = self(windows)
        unlikely = tail_surprise((self._errors(windows, expected) - self.usual) / self.spread)
        return WindowEvidence(unlikely, expected, {}, unlikely.sum(dim=-1))

    @staticmethod
    def _errors(windows: Tensor, expected: Tensor) -> Tensor:
        return (windows - expected).abs()


class ChannelLinear(nn.Module):
    """A linear layer for each channel, (B, C, from) to (B, C, to)."""

    def __init__(self, channels: int, width: int, following: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(width)
        self.weight = nn.Parameter(torch.empty(channels, width, following).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(channels, following).uniform_(-bound, bound))

    def forward(self, points: Tensor) -> Tensor:
        """Apply each channel's own weights."""
        reconstruction: Tensor = torch.einsum("bcn,cnm->bcm", points, self.weight) + self.bias
        return reconstruction


def tail_surprise(z: Tensor) -> Tensor:
    """``-log(1 - Φ(z))``, finite far in the tail."""
    surprise: Tensor = -torch.special.log_ndtr(-z)
    return surprise


@dataclass(kw_only=True, eq=False, repr=False)
class UAEDetector(RivalDetector):
    """Finds rows that autoencoders of single channels reconstruct badly.

    Garg et al. (TNNLS 2021); the module's docstring says what is faithful.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given.
    """

    rival = UAE
