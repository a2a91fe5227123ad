"""OmniAnomaly: latent variables that form a chain in time, bent by normalising flows.

Su, Zhao, Niu, Liu, Sun and Pei, "Robust Anomaly Detection for Multivariate Time Series through
Stochastic Recurrent Neural Network", KDD 2019.

Faithful: a GRU reads the values; the latent variables of a point follow from its state and from
those of the point before; planar flows bend their density; the prior is a linear Gaussian chain;
a second GRU reads the latent variables and gives each value a normal density; the loss is the
evidence bound by draws; the score is the negative log-density of a point. Widths and windows are
the paper's. Ours: transition and observation of the prior are one matrix, since the chain is given
the drawn variables; the flows bend what the chain has drawn, and the chain goes on from what they
started with, so that they run over all points at once; scores are taken at the mean of the chain
and not averaged over draws, and in the whole second half of a window, where the paper scores its
last point and starts anew for the next; the threshold is that of all detectors here.

Shapes: B windows, N points in a window, C channels, Z latent variables of a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.draws import standard_normal
from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Recurrent, RivalConfig, RivalDetector, setting
from subadjacent.rivals.gaussian import Normal, assessed, surprise


@dataclass(frozen=True, kw_only=True)
class OmniAnomalyConfig(RivalConfig):
    """The settings of OmniAnomaly."""

    tiny: ClassVar = {"width": 8, "flows": 2}

    # units of each GRU, and of the layers between
    width: int = 500
    # latent variables of a point
    latent: int = 3
    # planar flows after one another
    flows: int = setting(20, least=0)


class Chain(NamedTuple):
    """Latent variables of windows, (B, N, Z) each, and mean and deviation they were drawn from."""

    latent: Tensor
    mean: Tensor
    deviation: Tensor


class Flow(nn.Module):
    """One planar flow: a fold of space along a direction."""

    def __init__(self, latent: int) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.randn(latent) / latent**0.5)
        self.shift = nn.Parameter(torch.zeros(latent))
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, latent: Tensor) -> tuple[Tensor, Tensor]:
        """Points (…, Z) after the fold, and by how much the logarithm of volume grew there."""
        w = self.direction
        along = (w * self.shift).sum()
        # along must stay above -1 for the fold to be one-to-one
        u = self.shift + (functional.softplus(along) - 1 - along) * w / w.square().sum().clamp(
            min=1e-6
        )
        bent = torch.tanh((latent * w).sum(dim=-1) + self.offset)
        growth = torch.log1p((1 - bent.square()) * (w * u).sum())
        return latent + bent[..., None] * u, growth


class OmniAnomaly(Recurrent):
    """Explains a window by a chain of latent variables; a point is assessed by its density."""

    configured_by = OmniAnomalyConfig
    recordable = True
    shareable = True
    config: OmniAnomalyConfig

    def __init__(self, config: OmniAnomalyConfig) -> None:
        super().__init__(config)
        width, latent = config.width, config.latent
        self.reader = nn.GRU(config.channels, width, batch_first=True)
        self.from_state = nn.Linear(width, width)
        self.from_latent = nn.Linear(latent, width, bias=False)
        self.to_latent = Normal(width, latent)
        self.flows = nn.ModuleList(Flow(latent) for _ in range(config.flows))
        self.transition = nn.Parameter(torch.eye(latent))
        self.writer = nn.GRU(latent, width, batch_first=True)
        self.between = nn.Linear(width, width)
        self.value = Normal(width, config.channels)

    def chain(self, windows: Tensor, *, drawn: bool) -> Chain:
        """Latent variables of windows, each drawn given those before, or the mean of that.

        Step by step, as nothing less gives a chain; all that does not depend on it is done before.
        """
        states = self.from_state(self.reader(windows)[0]).float()
        shape = (*windows.shape[:2], self.config.latent)
        noise = standard_normal(shape, windows.device)
        latent = torch.zeros_like(noise[:, 0])
        steps = []
        for state, draws in zip(states.unbind(dim=1), noise.unbind(dim=1), strict=True):
            mean, deviation = self.to_latent(torch.relu(state + self.from_latent(latent)))
            latent = mean + deviation * draws if drawn else mean
            steps.append((latent, mean, deviation))
        return Chain(*(torch.stack(column, dim=1) for column in zip(*steps, strict=True)))

    def bend(self, latent: Tensor) -> tuple[Tensor, Tensor]:
        """Latent variables after all flows, and by how much log-volume grew, (B, N)."""
        growth = torch.zeros_like(latent[..., 0])
        for flow in self.flows:
            latent, more = flow(latent)
            growth = growth + more
        return latent, growth

    def prior(self, latent: Tensor) -> Tensor:
        """Surprise at latent variables (B, N, Z), given those of the point before; (B, N)."""
        before = functional.pad(latent[:, :-1], (0, 0, 1, 0))
        # no matrix product: it would be rounded to bfloat16 in training on a GPU
        expected = (before[..., None, :] * self.transition).sum(dim=-1)
        return surprise(latent, expected, torch.ones_like(latent)).sum(dim=-1)

    def decode(self, latent: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and deviation of every value, (B, N, C) each."""
        mean, deviation = self.value(torch.relu(self.between(self.writer(latent)[0])))
        return mean, deviation

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002 — the same
        """The negative evidence bound of a point, by one draw of the chain."""
        chain = self.chain(windows, drawn=True)
        latent, growth = self.bend(chain.latent)
        values = surprise(windows, *self.decode(latent)).sum(dim=-1)
        entropy = surprise(*chain).sum(dim=-1) + growth
        return [(values + self.prior(latent) - entropy).mean()]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """The mean surprise at the values of each point, and the squared errors of the means."""
        latent, _ = self.bend(self.chain(windows, drawn=False).latent)
        return assessed(windows, *self.decode(latent))


@dataclass(kw_only=True, eq=False, repr=False)
class OmniAnomalyDetector(RivalDetector):
    """Finds rows that a chain of latent variables gives a low density.

    Su et al. (KDD 2019); the module's docstring says what is faithful.

    Parameters
    ----------
    latent : int
        Latent variables of a row.
    others
        As of every ``NetworkDetector``. The first half of a window is where it gets its state.
    """

    rival = OmniAnomaly

    latent: int = 3
