"""MAD-GAN: recurrent networks that generate windows and tell them from real ones.

Li, Chen, Jin, Shi, Goh and Ng, "MAD-GAN: Multivariate Anomaly Detection for Time Series Data with
Generative Adversarial Networks", ICANN 2019.

Faithful: a generator of three LSTM layers that turns random numbers at every point into values,
and a discriminator of one that says at every point how real a window looks, both with 100 units,
trained against each other; at decided, a search by gradients for the random numbers whose window
is most like the real one; the score adds what that window leaves and what the discriminator says.
Ours: the search starts from the middle of the distribution, takes a fixed number of steps of Adam
and compares by the squared error, where the paper starts at random and compares by a kernel, so
that the same window has the same score; what the generator leaves is a mean over channels, not a
sum, so that its weight does not grow with them; values are standardised, so the generator ends
without a bound; both networks step from the same weights.

Shapes: B windows, N points in a window, C channels, Z random numbers at a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.draws import standard_normal
from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Rival, RivalConfig, RivalDetector, setting

# how far a random number, of deviation 1, moves in a step of the search
STEP = 0.1


@dataclass(frozen=True, kw_only=True)
class MADGANConfig(RivalConfig):
    """The settings of MAD-GAN."""

    tiny: ClassVar = {"width": 8, "depth": 1, "latent": 4, "search": 4}
    usual_window: ClassVar = 30

    # units of each LSTM layer
    width: int = 100
    # LSTM layers of the generator; the discriminator has one
    depth: int = 3
    # random numbers at a point
    latent: int = 15
    # steps of the search for the window that is most like a real one
    search: int = setting(30, least=0)
    # λ: weight of that window's residual in the score, from 0 to 1; the discriminator has the rest
    residual: float = setting(0.5, least=0, most=1)


class MADGAN(Rival):
    """Judges a window by the nearest that can be generated, and by how real it looks."""

    configured_by = MADGANConfig
    recordable = True
    shareable = True
    config: MADGANConfig

    def __init__(self, config: MADGANConfig) -> None:
        super().__init__(config)
        self.generator = nn.LSTM(config.latent, config.width, config.depth, batch_first=True)
        self.values = nn.Linear(config.width, config.channels)
        self.discriminator = nn.LSTM(config.channels, config.width, batch_first=True)
        self.verdict = nn.Linear(config.width, 1)

    def generate(self, latent: Tensor) -> Tensor:
        """Windows (B, N, C) from random numbers (B, N, Z)."""
        generated: Tensor = self.values(self.generator(latent)[0])
        return generated.float()

    def realness(self, windows: Tensor) -> Tensor:
        """Log-odds at every point that windows are real, (B, N)."""
        log_odds: Tensor = self.verdict(self.discriminator(windows)[0])
        return log_odds.float().squeeze(-1)

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002 — the same
        """The discriminator's errors on real and generated windows, and the generator's loss."""
        shape = (*windows.shape[:2], self.config.latent)
        made = self.realness(self.generate(standard_normal(shape, windows.device)))
        real = self.realness(windows)
        told_apart = _unlike_real(real).mean() + _unlike_made(made).mean()
        return [told_apart, _unlike_real(made).mean()]

    def parameter_groups(self) -> Sequence[Sequence[nn.Parameter]]:
        """The discriminator, and the generator."""
        return [
            [*self.discriminator.parameters(), *self.verdict.parameters()],
            [*self.generator.parameters(), *self.values.parameters()],
        ]

    def nearest(self, windows: Tensor) -> Tensor:
        """The windows that can be generated and are most like these, as far as the search gets."""
        # cuDNN gives gradients of an LSTM in this mode alone; without dropout it changes nothing
        self.generator.train()
        with torch.inference_mode(False), torch.enable_grad():
            # a copy that may take part in gradients, whatever mode it comes from
            wanted = windows.clone()
            latent = torch.zeros(
                (*windows.shape[:2], self.config.latent), device=windows.device, requires_grad=True
            )
            optimizer = torch.optim.Adam([latent], lr=STEP)
            for _ in range(self.config.search):
                # a sum, so that no window bears on the search of another
                error = (self.generate(latent) - wanted).square().sum()
                (latent.grad,) = torch.autograd.grad(error, [latent])
                optimizer.step()
        with torch.no_grad():
            return self.generate(latent)

    def assess(self, windows: Tensor) -> WindowEvidence:
        """The residual of the nearest generated window, and how little the real one looks real."""
        expected = self.nearest(windows)
        left = (windows - expected).abs().mean(dim=-1)
        unreal = _unlike_real(self.realness(windows))
        score = self.config.residual * left + (1 - self.config.residual) * unreal
        return WindowEvidence((windows - expected).square(), expected, {"unreal": unreal}, score)


def _unlike_real(log_odds: Tensor) -> Tensor:
    """Negative log-chance of being real: the cross-entropy where real is the truth."""
    return functional.softplus(-log_odds)


def _unlike_made(log_odds: Tensor) -> Tensor:
    return functional.softplus(log_odds)


@dataclass(kw_only=True, eq=False, repr=False)
class MADGANDetector(RivalDetector):
    """Finds rows that cannot be generated, or that a discriminator takes for generated.

    Li et al. (ICANN 2019); the module's docstring says what is faithful.

    Parameters
    ----------
    residual : float
        Weight in the score of what the nearest generated window leaves, 0 to 1; the
        discriminator has the rest.
    others
        As of every ``NetworkDetector``. A window has 30 points, unless it is given.
    """

    rival = MADGAN

    residual: float = 0.5
