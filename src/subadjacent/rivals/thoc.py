"""THOC: features at several scales of time, each drawn to centres that its scale has learned.

Shen, Li and Kwok, "Timeseries Anomaly Detection using Temporal Hierarchical One-Class Network",
NeurIPS 2020.

Faithful: a recurrent network whose layers skip ever more points; at every scale, centres that
features are assigned to by the softmax of their cosines; features that are mixed by their
assignments, merged with those of the next scale and assigned anew; a loss of cosine distances,
weighted by the chance to arrive at a centre; centres held orthogonal at every scale; values
forecast from the features of each scale, so that features keep saying something. Ours: the
distance is the mean over all scales, where the paper takes the last: there alone, training found
maps that lead every point to the centres, normal or not; for the same reason the merging has no
biases and assignments are ten times as sharp; centres are held orthogonal by their directions, or
one of them shrinks to nothing instead; GRU cells, their widths, skips and numbers of centres, and
the weights of the losses, which the paper chooses for each set; scores are taken in the whole
second half of a window, where the paper scores its last point and starts anew for the next.

Shapes: B windows, N points in a window, C channels, W features, I groups of features that come to
a scale, K centres of that scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.errors import InputError
from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Recurrent, RivalConfig, RivalDetector

# what cosines are multiplied by before their softmax; at 1, a feature at one of two orthogonal
# centres would still belong to the other by a quarter
SHARPNESS = 10.0


@dataclass(frozen=True, kw_only=True)
class THOCConfig(RivalConfig):
    """The settings of THOC."""

    tiny: ClassVar = {"width": 8, "skips": (1, 2), "centres": (3, 2)}

    # features of a point at each scale
    width: int = 64
    # points that a layer's state skips, one number for each scale
    skips: tuple[int, ...] = (1, 4, 16)
    # centres of each scale
    centres: tuple[int, ...] = (8, 6, 4)
    # weights of what holds centres apart and of the forecasts beside the distance
    orthogonal_weight: float = 1.0
    forecast_weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.skips) != len(self.centres):
            raise InputError(
                f"centres must have a number for each of the {len(self.skips)} skips; "
                f"got {self.centres}"
            )


class Scale(nn.Module):
    """One scale of time: a recurrent layer, its centres, and its forecasts."""

    def __init__(self, inputs: int, width: int, skip: int, centres: int, channels: int) -> None:
        super().__init__()
        self.skip = skip
        self.recurrent = nn.GRU(inputs, width, batch_first=True)
        self.centres = nn.Parameter(functional.normalize(torch.randn(centres, width), dim=-1))
        self.forecast = nn.Linear(width, channels)

    def features(self, points: Tensor) -> Tensor:
        """Features of points (B, N, …), from the state ``skip`` points before.

        Points that many apart form series of their own, so that one call runs all of them.
        """
        b, n, width = points.shape
        # to skip more than all points is to skip all
        skip = min(self.skip, n)
        rounds = -(-n // skip)
        padded = functional.pad(points, (0, 0, 0, rounds * skip - n))
        apart = padded.view(b, rounds, skip, width).transpose(1, 2)
        states: Tensor = self.recurrent(apart.flatten(0, 1))[0]
        together = states.view(b, skip, rounds, -1).transpose(1, 2).flatten(1, 2)
        return together[:, :n]

    def forecasts(self, features: Tensor) -> Tensor:
        """Values (B, N, C) forecast from features ``skip`` points before, zeros at the start."""
        n = features.shape[1]
        before = functional.pad(features, (0, 0, min(self.skip, n), 0))[:, :n]
        forecasts: Tensor = self.forecast(before)
        return forecasts.float()

    def cosines(self, groups: Tensor) -> Tensor:
        """Cosines of features (…, W) with all centres, (…, K)."""
        directions = functional.normalize(self.centres, dim=-1)
        return (functional.normalize(groups.float(), dim=-1) @ directions.T).float()

    def crowding(self) -> Tensor:
        """How far the centres are from orthogonal, whatever their lengths: 0 when they are."""
        directions = functional.normalize(self.centres, dim=-1)
        products = (directions[:, None] * directions).sum(dim=-1)
        return (products - torch.eye(len(products), device=products.device)).square().sum()


class THOC(Recurrent):
    """Judges a point by how far its features are from the centres of every scale."""

    configured_by = THOCConfig
    recordable = True
    shareable = True
    config: THOCConfig

    def __init__(self, config: THOCConfig) -> None:
        super().__init__(config)
        width, count = config.width, len(config.skips)
        widths = [config.channels] + [width] * (count - 1)
        self.scales = nn.ModuleList(
            Scale(inputs, width, skip, centres, config.channels)
            for inputs, skip, centres in zip(widths, config.skips, config.centres, strict=True)
        )
        # what comes from a scale, with the features of the next
        self.merge = nn.ModuleList(
            nn.Sequential(
                nn.Linear(2 * width, width, bias=False),
                nn.ReLU(),
                nn.Linear(width, width, bias=False),
            )
            for _ in range(count - 1)
        )

    def forward(self, windows: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Of each scale, the distances of points from its centres, (B, N), and its forecasts."""
        features, groups = windows, windows[..., None, :]
        chances = torch.ones_like(windows[..., :1])
        distances, forecasts = [], []
        for number, scale in enumerate(self._scales()):
            features = scale.features(features)
            forecasts.append(scale.forecasts(features))
            alike = features[..., None, :]  # (B, N, 1, W)
            if number:
                alike = alike.expand(*groups.shape[:-1], -1)
                alike = self.merge[number - 1](torch.cat([groups, alike], dim=-1))
            cosines = scale.cosines(alike)  # (B, N, I, K)
            assigned = torch.softmax(SHARPNESS * cosines, dim=-1)
            arriving = chances[..., None] * assigned
            distances.append((arriving * (1 - cosines)).sum(dim=(-2, -1)))
            chances = arriving.sum(dim=-2)
            # what comes to each centre, (B, N, K, W)
            groups = torch.einsum("bnik,bniw->bnkw", assigned, alike.float())
        return distances, forecasts

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002 — the same
        """Distance, centres that are not orthogonal, and errors of the forecasts."""
        distances, forecasts = self(windows)
        crowding = torch.stack([scale.crowding() for scale in self._scales()])
        # the first points of a layer have nothing before them to forecast from
        errors = [
            (windows - forecast).square()[:, min(scale.skip, self.context) :].mean()
            for scale, forecast in zip(self._scales(), forecasts, strict=True)
        ]
        return [
            torch.stack(distances).mean()
            + self.config.orthogonal_weight * crowding.mean()
            + self.config.forecast_weight * torch.stack(errors).mean()
        ]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """The mean distance, and the squared errors of the mean of all scales' forecasts."""
        distances, forecasts = self(windows)
        score, expected = (torch.stack(tensors).mean(dim=0) for tensors in (distances, forecasts))
        return WindowEvidence((windows - expected).square(), expected, {}, score)

    def _scales(self) -> list[Scale]:
        return [scale for scale in self.scales if isinstance(scale, Scale)]


@dataclass(kw_only=True, eq=False, repr=False)
class THOCDetector(RivalDetector):
    """Finds rows whose features, at several scales of time, are far from learned centres.

    Shen et al. (NeurIPS 2020); the module's docstring says what is faithful.

    Parameters
    ----------
    orthogonal_weight : float
        Weight in training of what holds centres apart.
    forecast_weight : float
        Weight in training of the errors of forecasts.
    others
        As of every ``NetworkDetector``. The first half of a window is where it gets its state.
    """

    rival = THOC

    orthogonal_weight: float = 1.0
    forecast_weight: float = 1.0
