"""GTA: learns which channels influence which, by sampling links, and forecasts with a Transformer.

Chen, Chen, Zhang, Yuan and Cheng, "Learning Graph Structures With Transformer for Multivariate
Time-Series Anomaly Detection in IoT", IEEE Internet of Things Journal, 2021.

Faithful: two learned numbers for every ordered pair of channels say how likely a link is; in
training the links are drawn from them by Gumbel-softmax, so that gradients reach them; influence
propagates along links by a map of a channel's past, its difference to another's and their sum;
this alternates with convolutions of growing dilation, and what every level gives is put together;
a Transformer whose layers have several branches (attention by content, attention by place, which
is learned and the same for all input, and a convolution over neighbours); 60 rows forecast the
next; the score is the squared error. Ours: an encoder alone, whose last point gives the forecast,
where the paper also has a decoder; influences are averaged, not added, so that their size does not
grow with the channels; the temperature of the draws is fixed; when rows are assessed there are the
links that are more likely than not. The first rows of a segment have no forecast and are expected
to equal the row before.

Shapes: B windows, N points in one, M = N - 1 of them the input, C channels, D width, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import OfLastPoint, RivalConfig, RivalDetector, require_heads, setting

# points that a convolution over time sees
KERNEL = 3


@dataclass(frozen=True, kw_only=True)
class GTAConfig(RivalConfig):
    """The settings of GTA."""

    tiny: ClassVar = {"width": 8, "heads": 2, "layers": 1, "levels": 2, "influence": 4}
    # 60 points of input, and the one that is forecast from them
    usual_window: ClassVar = 61

    # of the Transformer
    width: int = 128
    heads: int = 8
    layers: int = 3
    # convolutions over time, each with twice the dilation of the one before
    levels: int = 3
    # numbers in which a channel influences another
    influence: int = 32
    # temperature of the Gumbel-softmax: lower draws are nearer to 0 and 1, with larger gradients
    draw: float = setting(0.5, above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_heads(self.width, self.heads)


class Propagation(nn.Module):
    """Influence propagation: a channel's past is changed by the channels linked to it."""

    def __init__(self, points: int, influence: int) -> None:
        super().__init__()
        self.meet = nn.Linear(3 * points, influence)
        self.back = nn.Linear(influence, points)

    def forward(self, channels: Tensor, links: Tensor) -> Tensor:
        """Channels (B, C, M) after influence along links (C, C), [to, from]."""
        # of a channel, its difference to another, and their sum: two maps, one for each of both
        past, difference, total = self.meet.weight.chunk(3, dim=1)
        mine = functional.linear(channels, past - difference + total, self.meet.bias)
        theirs = functional.linear(channels, difference + total)
        met = torch.relu(mine[:, :, None] + theirs[:, None])  # (B, C, C, influence)
        flow = torch.einsum("ij,bijk->bik", links.to(met.dtype), met) / len(links)
        changed: Tensor = channels + self.back(flow)
        return changed


class BranchedLayer(nn.Module):
    """A layer of a Transformer whose attention has three branches."""

    def __init__(self, points: int, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.places = nn.Parameter(torch.zeros(heads, points, points))
        self.near = nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2, groups=width)
        self.join = nn.Linear(3 * width, width)
        self.feedforward = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, points: Tensor) -> Tensor:
        """Points (B, M, D) after attention to the others."""
        query, key, value = self.project(self.before(points)).chunk(3, dim=-1)
        of_heads = self._split(value)
        by_content = functional.scaled_dot_product_attention(
            self._split(query), self._split(key), of_heads
        )
        by_place = self.places.softmax(dim=-1).to(value.dtype) @ of_heads
        branches = [self._merge(by_content), self._merge(by_place), self.near(value.mT).mT]
        points = points + self.join(torch.cat(branches, dim=-1))
        changed: Tensor = points + self.feedforward(points)
        return changed

    def _split(self, points: Tensor) -> Tensor:
        return points.view(*points.shape[:2], self.heads, -1).transpose(1, 2)

    def _merge(self, points: Tensor) -> Tensor:
        return points.transpose(1, 2).flatten(2)


class GTA(OfLastPoint):
    """Forecasts the last point of a window from the others, along links that it learns."""

    configured_by = GTAConfig
    recordable = True
    shareable = True
    config: GTAConfig

    def __init__(self, config: GTAConfig) -> None:
        super().__init__(config)
        points, channels, width = config.window - 1, config.channels, config.width
        # of each ordered pair, [to, from, (a link, none)]
        self.logits = nn.Parameter(torch.zeros(channels, channels, 2))
        self.dilated = nn.ModuleList(
            nn.Conv1d(channels, channels, KERNEL, dilation=2**level, groups=channels)
            for level in range(config.levels)
        )
        self.propagations = nn.ModuleList(
            Propagation(points, config.influence) for _ in range(config.levels)
        )
        self.embed = nn.Linear(config.levels * channels, width)
        self.position = nn.Parameter(0.02 * torch.randn(points, width))
        self.branched = nn.ModuleList(
            BranchedLayer(points, width, config.heads) for _ in range(config.layers)
        )
        self.output = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, channels))

    def links(self) -> Tensor:
        """Which channels influence which, (C, C), [to, from]: drawn in training, else the likely.

        A draw is 0 or 1, and has the gradient of its Gumbel-softmax.
        """
        if self.training:
            drawn = functional.gumbel_softmax(self.logits, tau=self.config.draw, hard=True)
            return drawn[..., 0]
        return (self.logits[..., 0] > self.logits[..., 1]).to(self.logits.dtype)

    def forward(self, points: Tensor) -> Tensor:
        """Forecast the row after the points (B, M, C), as (B, C)."""
        links, level, levels = self.links(), points.mT, []
        for number, (dilated, propagate) in enumerate(
            zip(self.dilated, self.propagations, strict=True)
        ):
            # nothing later than a point takes part in it
            padded = functional.pad(level, ((KERNEL - 1) * 2**number, 0))
            level = propagate(functional.gelu(dilated(padded)), links)
            levels.append(level)
        encoded = self.embed(torch.cat(levels, dim=1).mT) + self.position
        for layer in self.branched:
            encoded = layer(encoded)
        forecast: Tensor = self.output(encoded[:, -1])
        return forecast

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        """The mean squared error of the forecast."""
        return [(self(windows[:, :-1]) - windows[:, -1]).square().mean()]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """Squared errors of the forecast."""
        forecast = self(windows[:, :-1])
        expected = torch.cat([windows[:, :1], windows[:, :-2], forecast[:, None]], dim=1)
        return WindowEvidence((windows - expected).square(), expected, {})


@dataclass(kw_only=True, eq=False, repr=False)
class GTADetector(RivalDetector):
    """Finds rows that a Transformer over a learned graph of the channels forecasts badly.

    Chen et al. (IEEE Internet of Things Journal, 2021); the module's docstring says
    what is faithful. Time and memory grow with the square of the channels.

    Parameters
    ----------
    others
        As of every ``NetworkDetector``. A window has 61 points, unless it is given: 60 and the one
        that is forecast.
    """

    rival = GTA
