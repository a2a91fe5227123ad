"""TranAD: a Transformer that reconstructs a window twice, the second time knowing its own errors.

Tuli, Casale and Jennings, "TranAD: Deep Transformer Networks for Anomaly Detection in Multivariate
Time Series Data", PVLDB 15(6), 2022.

Faithful: one encoder and two decoders; the squared error of the first reconstruction is the focus
that the second pass is given beside the window (self-conditioning), and that pass ends in the
second decoder; both errors are weighted by 1/n and 1 - 1/n in epoch n; width of two numbers a
channel, a head a channel, one layer, 16 hidden units, windows of 10 points; the score is the mean
of both errors. Ours: both decoders minimise, as in the released code (with the sign of the paper's
text the second one's loss falls without end); what has come before the window is left out, for
each window is assessed alone; no meta-learning step and no sigmoid, for values are standardised.

Shapes: B windows, N points in a window, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from subadjacent.networks.layers import positions
from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Rival, RivalConfig, RivalDetector, squared_error


@dataclass(frozen=True, kw_only=True)
class TranADConfig(RivalConfig):
    """The settings of TranAD."""

    tiny: ClassVar = {"feedforward": 4}
    usual_window: ClassVar = 10

    # hidden units of a layer
    feedforward: int = 16


class Phases(NamedTuple):
    """A window as both phases give it back, each (B, N, C)."""

    first: Tensor  # without focus, from the first decoder
    second: Tensor  # with the errors of the first as focus, from the second decoder


class TranAD(Rival):
    """Reconstructs windows from what it encodes of them and of its own first errors."""

    configured_by = TranADConfig
    recordable = True
    shareable = True
    # the weights of the two errors change with the epoch
    steady = False
    config: TranADConfig
    places: Tensor
    later: Tensor

    def __init__(self, config: TranADConfig) -> None:
        super().__init__(config)
        c, n = config.channels, config.window
        self.encoder = nn.TransformerEncoderLayer(
            2 * c, c, config.feedforward, dropout=0.0, batch_first=True
        )
        self.first = _decoder(c, config.feedforward)
        self.second = _decoder(c, config.feedforward)
        self.give_back = nn.Linear(2 * c, c)
        self.register_buffer("places", positions(n, 2 * c), persistent=False)
        # a point of the decoder's own window does not see those after it
        mask = torch.ones(n, n, dtype=torch.bool).triu(1)
        self.register_buffer("later", mask, persistent=False)

    def forward(self, windows: Tensor) -> Phases:
        """Both phases, for windows (B, N, C)."""
        first = self.decoded(windows, torch.zeros_like(windows), self.first)
        focus = (first - windows).square()
        return Phases(first, self.decoded(windows, focus, self.second))

    def decoded(self, windows: Tensor, focus: Tensor, decoder: nn.Module) -> Tensor:
        """One pass: windows and focus, both (B, N, C), to a reconstruction by one decoder."""
        scale = math.sqrt(self.config.channels)
        points = torch.cat([windows, focus], dim=-1) * scale + self.places
        whole = self.encoder(points)
        doubled = torch.cat([windows, windows], dim=-1)
        reconstruction: Tensor = self.give_back(decoder(doubled, whole, tgt_mask=self.later))
        return reconstruction

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:
        """The first error counts less and less, the second more and more."""
        reconstructions, share = self(windows), 1 / epoch
        first, second = (
            squared_error(reconstruction, windows).mean() for reconstruction in reconstructions
        )
        return [share * first + (1 - share) * second]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """The mean of both errors."""
        reconstructions = self(windows)
        error = (
            squared_error(reconstructions.first, windows)
            + squared_error(reconstructions.second, windows)
        ) / 2
        return WindowEvidence(error, reconstructions.second, {})


def _decoder(channels: int, feedforward: int) -> nn.Module:
    return nn.TransformerDecoderLayer(
        2 * channels, channels, feedforward, dropout=0.0, batch_first=True
    )


@dataclass(kw_only=True, eq=False, repr=False)
class TranADDetector(RivalDetector):
    """Finds rows that a Transformer reconstructs badly, the second time knowing its errors.

    Tuli et al. (VLDB 2022); the module's docstring says what is faithful.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 10 points, unless it is given.
    """

    rival = TranAD
