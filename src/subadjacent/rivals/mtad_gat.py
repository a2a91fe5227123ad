"""MTAD-GAT: attention between channels and between points, then a forecast and a reconstruction.

Zhao, Wang, Duan, Huang, Cao, Tong, Xu, Bai, Tong and Zhang, "Multivariate Time-series Anomaly
Detection via Graph Attention Network", ICDM 2020.

Faithful: a convolution over seven points; a graph attention in which every channel looks at all
channels, and one in which every point looks at all points; both beside their input into a GRU;
its last state gives the forecast of the next row, by layers of width 300, and the window again, by
a variational autoencoder; both losses are minimised together; a channel's error joins the squared
error of the forecast with the improbability of the value, weighted by γ = 0.8. Ours: the paper
does not say how a density becomes a probability between 0 and 1, and we divide it by its peak;
each channel has one learned deviation; the decoder is of linear layers and gives all points at
once. Judging takes the mean of the latent. The first points of a segment have no forecast, and are
assessed by the reconstruction in its place.

Shapes: B windows, N points in one, M = N - 1 of them the input, C channels, D width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import OfLastPoint, RivalConfig, RivalDetector, chain, pair_weights

# points that the convolution before everything else sees
KERNEL = 7
# the least standard deviation of a reconstruction: that of a channel which never moves would
# shrink for ever, and with it the loss
MIN_DEVIATION = 0.1


@dataclass(frozen=True, kw_only=True)
class MTADGATConfig(RivalConfig):
    """The settings of MTAD-GAT."""

    tiny: ClassVar = {"width": 8, "layers": 1}
    # 100 points of input, and the one that is forecast from them
    usual_window: ClassVar = 101

    # of the GRU, the forecast's layers and the autoencoder's
    width: int = 300
    # layers of that width before the forecast
    layers: int = 3
    # γ: weight of the reconstruction's probability beside the forecast's error
    gamma: float = 0.8


class ForecastAndReconstruction(NamedTuple):
    """The outputs for M points, with mean and log-variance of the latent."""

    forecast: Tensor  # (B, C)
    reconstruction: Tensor  # (B, M, C)
    mean: Tensor  # (B, D), of the latent
    log_variance: Tensor  # (B, D)


class GraphAttention(nn.Module):
    """Graph attention between all nodes; a node is one channel's window, or one point."""

    def __init__(self, size: int) -> None:
        super().__init__()
        # one number for the attending node, and one for the attended node
        self.weigh = nn.Linear(size, 2, bias=False)

    def weights(self, nodes: Tensor) -> Tensor:
        """Attention weights, (B, nodes, nodes), [attending, attended]; each row sums to 1."""
        return pair_weights(self.weigh(nodes)).softmax(dim=-1)

    def forward(self, nodes: Tensor) -> Tensor:
        """The sigmoid of each node's attention-weighted mean of all nodes, (B, nodes, size)."""
        return torch.sigmoid(self.weights(nodes).to(nodes.dtype) @ nodes)


class MTADGAT(OfLastPoint):
    """Forecasts the last point of a window from the others, which it also reconstructs.

    Not shared out over processes: the root of a batch's error is no mean of those of its parts.
    """

    configured_by = MTADGATConfig
    recordable = True
    config: MTADGATConfig

    def __init__(self, config: MTADGATConfig) -> None:
        super().__init__(config)
        points, channels, width = config.window - 1, config.channels, config.width
        self.smooth = nn.Conv1d(channels, channels, KERNEL, padding=KERNEL // 2)
        self.over_features = GraphAttention(points)
        self.over_time = GraphAttention(channels)
        self.recur = nn.GRU(3 * channels, width, batch_first=True)
        self.forecast = chain([width] * (config.layers + 1) + [channels])
        self.encode = chain([width, width, 2 * width])
        self.decode = chain([width, width, points * channels])
        self.spread = nn.Parameter(torch.zeros(channels))

    @property
    def deviation(self) -> Tensor:
        """The learned standard deviation of each channel's reconstruction error, (C,)."""
        return MIN_DEVIATION + functional.softplus(self.spread)

    def forward(self, points: Tensor) -> ForecastAndReconstruction:
        """Forecast the row after the points (B, M, C), and reconstruct these.

        In training the latent is drawn at random.
        """
        smooth = self.smooth(points.mT).mT
        of_features = self.over_features(smooth.mT).mT
        of_time = self.over_time(smooth)
        states, _ = self.recur(torch.cat([smooth, of_features, of_time], dim=-1))
        last = states[:, -1]
        mean, log_variance = self.encode(last).chunk(2, dim=-1)
        latent = mean
        if self.training:
            latent = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        reconstruction = self.decode(latent).view_as(points)
        return ForecastAndReconstruction(self.forecast(last), reconstruction, mean, log_variance)

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        """The forecast's root mean squared error, and the evidence bound of the reconstruction."""
        points, following = windows[:, :-1], windows[:, -1]
        output = self(points)
        # the root has no slope at 0
        missed = (output.forecast - following).square().mean().clamp(min=1e-12).sqrt()
        away = (output.reconstruction - points) / self.deviation
        unlikely = (0.5 * away.square() + self.deviation.log()).mean()
        variance = output.log_variance.float().exp()
        divergence = 0.5 * (output.mean.square() + variance - output.log_variance - 1).sum(dim=-1)
        return [missed + unlikely + divergence.mean() / points[0].numel()]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """Evidence on the last point: its forecast error and the improbability of its value."""
        early, late = self(windows[:, :-1]), self(windows[:, 1:])
        rebuilt = torch.cat([early.reconstruction, late.reconstruction[:, -1:]], dim=1)
        expected = torch.cat([early.reconstruction, early.forecast[:, None]], dim=1)
        away = ((windows - rebuilt) / self.deviation).square()
        improbable = -torch.expm1(-0.5 * away)
        gamma = self.config.gamma
        error = ((windows - expected).square() + gamma * improbable) / (1 + gamma)
        return WindowEvidence(error, expected, {})


@dataclass(kw_only=True, eq=False, repr=False)
class MTADGATDetector(RivalDetector):
    """Finds rows that are badly forecast and improbable, by attention over channels and time.

    Zhao et al. (ICDM 2020); the module's docstring says what is faithful.

    Parameters
    ----------
    gamma : float
        Weight of the reconstruction's probability beside the forecast's error.
    others
        As of every ``NetworkDetector``. A window has 101 points, unless it is given: 100 and the
        one that is forecast.
    """

    rival = MTADGAT

    gamma: float = 0.8
