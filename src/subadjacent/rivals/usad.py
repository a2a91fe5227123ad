"""USAD: two autoencoders that share an encoder, the second trained against the first.

Audibert, Michiardi, Guyard, Marti and Zuluaga, "USAD: UnSupervised Anomaly Detection on
Multivariate Time Series", KDD 2020.

Faithful: encoder and decoders of three linear layers that halve the window's values twice; the
two losses with weights 1/n and 1 - 1/n in epoch n; the score αr + β(reconstruction of the
reconstruction). Ours: values are standardised, not squeezed between 0 and 1, and so the decoders
end in a hyperbolic tangent of ±4 deviations where the paper has a sigmoid (without a bound the
second autoencoder wins the contest by giving back anything large); both optimisers step from the
same weights, where the released code runs the second on what the first has changed. From the
third epoch on the second loss falls as its own reconstruction gets worse, which is so in the paper
as well; the best epoch on held-out rows, often one of the first, is kept.

Shapes: B windows, N points in a window, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import (
    Rival,
    RivalConfig,
    RivalDetector,
    chain,
    setting,
    squared_error,
)

# standard deviations that a decoder can give back
BOUND = 4.0


@dataclass(frozen=True, kw_only=True)
class USADConfig(RivalConfig):
    """The settings of USAD."""

    tiny: ClassVar = {"latent": 4}
    # its experiments take 5 to 12
    usual_window: ClassVar = 12

    # numbers that a window is encoded by
    latent: int = 40
    # β: weight of the second reconstruction in the score, from 0 to 1; α is the rest. A larger one
    # finds more, and more that is false
    second: float = setting(0.5, least=0, most=1)


class USADReconstructions(NamedTuple):
    """A window as each autoencoder gives it back, each (B, N, C)."""

    first: Tensor
    second: Tensor
    again: Tensor  # the second autoencoder, given what the first gave back


class USAD(Rival):
    """Reconstructs windows twice: the second autoencoder also reconstructs the first's output.

    The first learns to be reconstructed well by the second, the second to tell what the first
    reconstructed from real windows: small departures grow on the second way.
    """

    configured_by = USADConfig
    recordable = True
    shareable = True
    # the weights of the two errors change with the epoch
    steady = False
    config: USADConfig

    def __init__(self, config: USADConfig) -> None:
        super().__init__(config)
        size = config.window * config.channels
        widths = [size, max(size // 2, 1), max(size // 4, 1), config.latent]
        self.encoder = chain(widths)
        self.first = chain(widths[::-1])
        self.second = chain(widths[::-1])

    def forward(self, windows: Tensor) -> USADReconstructions:
        """Reconstruct windows (B, N, C)."""
        flat = windows.flatten(1)
        # what is encoded is not negative, as in the paper
        code = torch.relu(self.encoder(flat))
        first, second = _bounded(self.first(code)), _bounded(self.second(code))
        again = _bounded(self.second(torch.relu(self.encoder(first))))
        return USADReconstructions(
            *(reconstruction.view_as(windows) for reconstruction in (first, second, again))
        )

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:
        """Each autoencoder's own error fades with the epochs, and their contest grows."""
        reconstructions = self(windows)
        contest = squared_error(reconstructions.again, windows).mean()
        alone, against = 1 / epoch, 1 - 1 / epoch
        return [
            alone * squared_error(reconstructions.first, windows).mean() + against * contest,
            alone * squared_error(reconstructions.second, windows).mean() - against * contest,
        ]

    def parameter_groups(self) -> Sequence[Sequence[nn.Parameter]]:
        """The encoder with each decoder."""
        shared = list(self.encoder.parameters())
        return [shared + list(self.first.parameters()), shared + list(self.second.parameters())]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """Both errors, weighted."""
        reconstructions = self(windows)
        first, again = (
            squared_error(reconstructions.first, windows),
            squared_error(reconstructions.again, windows),
        )
        error = (1 - self.config.second) * first + self.config.second * again
        return WindowEvidence(error, reconstructions.first, {})


def _bounded(decoded: Tensor) -> Tensor:
    return BOUND * torch.tanh(decoded / BOUND)


@dataclass(kw_only=True, eq=False, repr=False)
class USADDetector(RivalDetector):
    """Finds rows that two autoencoders, trained against each other, reconstruct badly.

    Audibert et al. (KDD 2020); the module's docstring says what is faithful.

    Parameters
    ----------
    second : float
        Weight of the second reconstruction in the score, 0 to 1: more finds more, and more that
        is false.
    others
        As of every ``NetworkDetector``. A window has 12 points, unless it is given.
    """

    rival = USAD

    second: float = 0.5
