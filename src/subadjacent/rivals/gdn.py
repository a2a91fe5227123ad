"""GDN: forecasts each channel from those that its learned graph joins it to.

Deng and Hooi, "Graph Neural Network-Based Anomaly Detection in Multivariate Time Series",
AAAI 2021.

Faithful: a learned vector for every channel; each channel's neighbours are those with the most
similar vectors, by the cosine; attention over them that sees both vectors and values; forecasts
from five rows before; the score is the largest of the channels' errors, each less its median and
divided by its interquartile range. Ours: median and range are those of held-out rows, where the
paper takes the test rows themselves; a forecast is made from its own channel's features by layers
that all channels share, as in the released code, where the paper's text has layers over all
channels at once, which could go around the graph; a window holds many forecasts, which makes
training and scoring quicker and changes none of them. There is no normalisation of batches, and
the rows before the first of a window are taken to equal it.

Shapes: B windows, N points in a window, C channels, H points of history, D width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Rival, RivalConfig, RivalDetector, chain, pair_weights

# standard deviations added to the range of the errors: a channel that is always forecast exactly
# would otherwise raise an infinite score at the first rounding error
MIN_RANGE = 1e-2


@dataclass(frozen=True, kw_only=True)
class GDNConfig(RivalConfig):
    """The settings of GDN."""

    tiny: ClassVar = {"neighbours": 2, "width": 8, "hidden": 8}
    usual_window: ClassVar = 32

    # rows that a forecast is made from; one less than the window has, where it is shorter
    history: int = 5
    # channels that each is joined to; all others, where there are fewer
    neighbours: int = 15
    # size of a channel's vector, and of the features of its recent rows
    width: int = 64
    # width of the layer between these and the forecast
    hidden: int = 64

    @property
    def before(self) -> int:
        """Rows that a forecast is made from, in a window of this length."""
        return min(self.history, self.window - 1)


class GDN(Rival):
    """Forecasts a row from those just before it, each channel by itself and its neighbours."""

    configured_by = GDNConfig
    recordable = True
    shareable = True
    config: GDNConfig
    median: Tensor
    spread: Tensor

    def __init__(self, config: GDNConfig) -> None:
        super().__init__(config)
        width = config.width
        self.embedding = nn.Parameter(torch.empty(config.channels, width))
        nn.init.kaiming_uniform_(self.embedding, a=5**0.5)
        self.features = nn.Linear(config.before, width, bias=False)
        # one number for the channel that looks, and one for the channel that is looked at
        self.attend = nn.Linear(2 * width, 2, bias=False)
        self.output = chain([width, config.hidden, 1])
        self.register_buffer("median", torch.zeros(config.channels))
        self.register_buffer("spread", torch.ones(config.channels))

    @property
    def context(self) -> int:
        """The rows that the first forecast is made from."""
        return self.config.before

    def graph(self) -> Tensor:
        """Which channels each channel is joined to, (C, C), [from, to]; itself among them."""
        direction = functional.normalize(self.embedding.detach(), dim=-1)
        # not a matrix product, which training may run in few digits; 2 is above any cosine, so
        # that a channel is the first of its own neighbours
        alike = (direction[:, None] * direction).sum(dim=-1).fill_diagonal_(2.0)
        count = min(self.config.neighbours + 1, len(alike))
        nearest = alike.topk(count, dim=-1).indices
        return torch.zeros_like(alike, dtype=torch.bool).scatter(1, nearest, True)

    def forward(self, windows: Tensor) -> Tensor:
        """Forecast every point of windows (B, N, C) from the points before it."""
        history = self._history(windows)  # (B, N, C, H)
        features = self.features(history)  # (B, N, C, D)
        known = torch.cat([self.embedding.expand_as(features), features], dim=-1)
        weight = pair_weights(self.attend(known))  # (B, N, C, C)
        joined = weight.masked_fill(~self.graph(), -torch.inf).softmax(dim=-1)
        gathered = torch.relu(joined.to(features.dtype) @ features)  # (B, N, C, D)
        forecast: Tensor = self.output(gathered * self.embedding)[..., 0]
        return forecast

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        """The mean squared error of the forecasts that have a whole history."""
        return [(self(windows) - windows)[:, self.context :].square().mean()]

    def conclude(self, training: Iterable[Tensor], held_out: Iterable[Tensor]) -> None:  # noqa: ARG002
        """Learn how large each channel's errors usually are."""
        errors = [
            (self(windows) - windows)[:, self.context :].abs().flatten(0, 1) for windows in held_out
        ]
        low, middle, high = np.quantile(torch.cat(errors).cpu().numpy(), [0.25, 0.5, 0.75], axis=0)
        self.median.copy_(torch.from_numpy(middle))
        self.spread.copy_(torch.from_numpy(high - low + MIN_RANGE))

    def assess(self, windows: Tensor) -> WindowEvidence:
        """Squared errors; a point scores by the channel whose error is the most unusual."""
        forecast = self(windows)
        error = forecast - windows
        unusual = (error.abs() - self.median) / self.spread
        return WindowEvidence(error.square(), forecast, {}, unusual.amax(dim=-1))

    def _history(self, windows: Tensor) -> Tensor:
        """The points before each point of windows (B, N, C), as (B, N, C, H)."""
        first = windows[:, :1].expand(-1, self.context, -1)
        return torch.cat([first, windows[:, :-1]], dim=1).unfold(1, self.context, 1)


@dataclass(kw_only=True, eq=False, repr=False)
class GDNDetector(RivalDetector):
    """Finds rows where a channel departs from the forecast by its neighbours in a learned graph.

    Deng and Hooi (AAAI 2021); the module's docstring says what is faithful.

    Parameters
    ----------
    history : int
        Rows that a forecast is made from.
    smoothing : int
        Rows of the trailing average of the score; 4 as in the released code.
    others
        As of every ``NetworkDetector``. A window has 32 points, unless it is given.
    """

    rival = GDN

    history: int = 5
    smoothing: int = 4
