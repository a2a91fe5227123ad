"""LSTM-VAE: a variational autoencoder over time that gives each value a density.

Park, Hoshi and Kemp, "A Multimodal Anomaly Detector for Robot-Assisted Feeding Using an
LSTM-Based Variational Autoencoder", IEEE Robotics and Automation Letters 2018.

Faithful: an LSTM and a linear map encode every point, given those before it, as a normal density;
a second LSTM and a linear map decode it into mean and deviation of every value; training adds
noise to what is encoded and not to what must be decoded; the score is the negative log-density of
a point, decoded from the mean of its encoding. Ours: the prior is a standard normal density, where
the paper moves its centre along the course of a task, since a series without end has no course;
state does not pass from window to window, and the first half of a window only builds it up; the
threshold is that of all detectors here, where the paper's varies with the encoding; the paper's
widths are for its robot, these are ours.

Shapes: B windows, N points in a window, C channels, Z numbers of an encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from torch import Tensor, nn

from subadjacent.networks.draws import standard_normal
from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Recurrent, RivalConfig, RivalDetector
from subadjacent.rivals.gaussian import Normal, assessed, divergence, draw, surprise


@dataclass(frozen=True, kw_only=True)
class LSTMVAEConfig(RivalConfig):
    """The settings of LSTM-VAE."""

    tiny: ClassVar = {"width": 8, "latent": 2}

    # units of each LSTM
    width: int = 64
    # numbers that a point is encoded by
    latent: int = 16
    # deviation of the noise that is added in training, in deviations of a channel
    noise: float = 0.1


class DecodedWindow(NamedTuple):
    """The density of each value of a window, and that of each point's encoding."""

    mean: Tensor  # (B, N, C)
    deviation: Tensor  # (B, N, C)
    code_mean: Tensor  # (B, N, Z)
    code_deviation: Tensor  # (B, N, Z)


class LSTMVAE(Recurrent):
    """Encodes and decodes points in time; a point is assessed by its density."""

    configured_by = LSTMVAEConfig
    recordable = True
    shareable = True
    config: LSTMVAEConfig

    def __init__(self, config: LSTMVAEConfig) -> None:
        super().__init__(config)
        self.encoder = nn.LSTM(config.channels, config.width, batch_first=True)
        self.code = Normal(config.width, config.latent)
        self.decoder = nn.LSTM(config.latent, config.width, batch_first=True)
        self.value = Normal(config.width, config.channels)

    def forward(self, windows: Tensor, *, drawn: bool) -> DecodedWindow:
        """Decode windows from encodings that are drawn at random, or from their means."""
        mean, deviation = self.code(self.encoder(windows)[0])
        code = draw(mean, deviation) if drawn else mean
        value_mean, value_deviation = self.value(self.decoder(code)[0])
        return DecodedWindow(value_mean, value_deviation, mean, deviation)

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002 — the same
        """Surprise at clean values, decoded from noisy ones, and divergence from the prior."""
        noise = standard_normal(windows.shape, windows.device, windows.dtype)
        noisy = windows + self.config.noise * noise
        decoded = self(noisy, drawn=True)
        values = surprise(windows, decoded.mean, decoded.deviation).sum(dim=-1)
        prior = divergence(decoded.code_mean, decoded.code_deviation).sum(dim=-1)
        return [(values + prior).mean()]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """The mean surprise at the values of each point, and the squared errors of the means."""
        decoded = self(windows, drawn=False)
        return assessed(windows, decoded.mean, decoded.deviation)


@dataclass(kw_only=True, eq=False, repr=False)
class LSTMVAEDetector(RivalDetector):
    """Finds rows that a variational autoencoder over time gives a low density.

    Park et al. (RA-L 2018); the module's docstring says what is faithful.

    Parameters
    ----------
    noise : float
        Deviation of the noise that is added to rows in training, in deviations of a channel.
    others
        As of every ``NetworkDetector``. The first half of a window is where it gets its state.
    """

    rival = LSTMVAE

    noise: float = 0.1
