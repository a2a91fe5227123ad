"""DAGMM: an autoencoder and a mixture of Gaussians over its code and errors, learned together.

Zong, Song, Min, Cheng, Lumezanu, Cho and Chen, "Deep Autoencoding Gaussian Mixture Model for
Unsupervised Anomaly Detection", ICLR 2018.

Faithful: the autoencoder of hyperbolic tangents down to one number, and the two errors of its
reconstruction beside that number; the network that assigns them to components, with its dropout;
the mixture that follows from the assignments in closed form; the loss of squared error, energy
(weight 0.1) and inverse variances (0.005); the mixture of all training samples after the last
epoch; the energy as the score. Ours: the paper judges the rows of a table, and a row of a series
by itself says nothing of time, so a sample is a row with the few before it; a sample near zero
would make the relative error infinite, so its length counts as a tenth of the usual one at least;
variances have a floor.

Shapes: B windows, N points in a window, C channels, K components, D features of a sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import OfLastPoint, RivalConfig, RivalDetector, chain, setting

# added to every variance, in squared units of the features, which are near 1: rows that never
# move have no variance. A tenth of it makes the energy of their first move ten times as large
FLOOR = 1e-3
# shortest a sample counts as, relative to the usual length of a standardised one
MIN_LENGTH = 0.1
# a component without members counts as one with so few
MIN_WEIGHT = 1e-6
# features beside the code: relative distance and cosine
ERRORS = 2


@dataclass(frozen=True, kw_only=True)
class DAGMMConfig(RivalConfig):
    """The settings of DAGMM."""

    tiny: ClassVar = {"hidden": (8,), "mixtures": 2}
    # the paper's samples are rows; five rows are as few as show a change of direction
    usual_window: ClassVar = 5

    # widths of the encoder's layers, the decoder's in reverse
    hidden: tuple[int, ...] = (60, 30, 10)
    # numbers that a sample is encoded by
    latent: int = 1
    # components of the mixture
    mixtures: int = 4
    # width of the network that assigns samples to components
    estimator: int = 10
    # share of its units that is left out in training
    dropout: float = setting(0.5, least=0, most=0.99)
    # λ₁ and λ₂: weights of the energy and of the inverse variances beside the squared error
    energy_weight: float = 0.1
    variance_weight: float = 0.005


class Mixture(NamedTuple):
    """A mixture of Gaussians."""

    share: Tensor  # (K,)
    mean: Tensor  # (K, D)
    covariance: Tensor  # (K, D, D)


class DAGMM(OfLastPoint):
    """Judges a window's last point by how unlikely its code and its errors are together.

    Not shared out over processes: the mixture is that of a batch.
    """

    configured_by = DAGMMConfig
    recordable = True
    config: DAGMMConfig
    share: Tensor
    mean: Tensor
    covariance: Tensor

    def __init__(self, config: DAGMMConfig) -> None:
        super().__init__(config)
        widths = [config.window * config.channels, *config.hidden, config.latent]
        self.encoder = chain(widths, nn.Tanh)
        self.decoder = chain(widths[::-1], nn.Tanh)
        features, k = config.latent + ERRORS, config.mixtures
        self.estimator = nn.Sequential(
            nn.Linear(features, config.estimator),
            nn.Tanh(),
            nn.Dropout(config.dropout),
            nn.Linear(config.estimator, k),
        )
        # of all training samples, after the last epoch
        self.register_buffer("share", torch.full((k,), 1 / k))
        self.register_buffer("mean", torch.zeros(k, features))
        self.register_buffer("covariance", torch.eye(features).repeat(k, 1, 1))

    def forward(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Windows as they are given back, (B, N, C), and the features of each, (B, D)."""
        flat = windows.flatten(1)
        code = self.encoder(flat)
        again = self.decoder(code).float()
        usual = math.sqrt(flat.shape[1])
        length = torch.linalg.vector_norm(flat, dim=1).clamp(min=MIN_LENGTH * usual)
        distance = torch.linalg.vector_norm(flat - again, dim=1) / length
        cosine = functional.cosine_similarity(flat, again, dim=1)
        features = torch.cat([code.float(), distance[:, None], cosine[:, None]], dim=1)
        return again.view_as(windows), features

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002 — the same
        """Squared error, energy and inverse variances under the mixture of the batch."""
        again, features = self(windows)
        mixture = fit_mixture(features, self.assign(features))
        inverse = mixture.covariance.diagonal(dim1=-2, dim2=-1).reciprocal().sum()
        return [
            (again - windows).square().sum(dim=(1, 2)).mean()
            + self.config.energy_weight * energy(features, mixture).mean()
            + self.config.variance_weight * inverse
        ]

    def assign(self, features: Tensor) -> Tensor:
        """Chance of each component, given the features (B, D); (B, K)."""
        return torch.softmax(self.estimator(features).float(), dim=-1)

    def conclude(self, training: Iterable[Tensor], held_out: Iterable[Tensor]) -> None:  # noqa: ARG002 — it learns from training rows
        """Keep the mixture of all training samples."""
        features = torch.cat([self(windows)[1] for windows in training])
        mixture = fit_mixture(features, self.assign(features))
        self.share.copy_(mixture.share)
        self.mean.copy_(mixture.mean)
        self.covariance.copy_(mixture.covariance)

    def assess(self, windows: Tensor) -> WindowEvidence:
        """The energy of each window at all of its points, and the errors of its values."""
        again, features = self(windows)
        energies = energy(features, Mixture(self.share, self.mean, self.covariance))
        score = energies[:, None].expand(windows.shape[:2])
        return WindowEvidence((again - windows).square(), again, {}, score)


def fit_mixture(features: Tensor, chances: Tensor) -> Mixture:
    """The mixture of samples (B, D) that belong to components by chances (B, K).

    Written without matrix products, which would be rounded to bfloat16 in training on a GPU.
    """
    members = chances.sum(dim=0).clamp(min=MIN_WEIGHT)
    mean = (chances[:, :, None] * features[:, None]).sum(dim=0) / members[:, None]
    away = features[:, None] - mean  # (B, K, D)
    squares = away[..., :, None] * away[..., None, :]
    covariance = (chances[..., None, None] * squares).sum(dim=0) / members[:, None, None]
    floor = FLOOR * torch.eye(features.shape[1], device=features.device)
    return Mixture(members / len(features), mean, covariance + floor)


def energy(features: Tensor, mixture: Mixture) -> Tensor:
    """Negative log-density of samples (B, D) under a mixture; (B,).

    Feature after feature: what each adds to distance and volume, given those before it. A GPU
    need not wait for the outcome, as it would for a library's factorisation.
    """
    away = features[:, None] - mixture.mean  # (B, K, D)
    rest = mixture.covariance
    distance, volume = torch.zeros_like(away[..., 0]), torch.zeros_like(mixture.share)
    for _ in range(features.shape[1]):
        # what is left of a variance is its floor at least, but for rounding
        variance = rest[:, 0, 0].clamp(min=FLOOR)
        slope = rest[:, 1:, 0] / variance[:, None]
        distance = distance + away[..., 0].square() / variance
        volume = volume + variance.log()
        away = away[..., 1:] - away[..., :1] * slope
        rest = rest[:, 1:, 1:] - slope[..., None] * rest[:, :1, 1:]
    constant = features.shape[1] * math.log(2 * math.pi)
    log_share = mixture.share.log()
    return -torch.logsumexp(log_share - (distance + volume + constant) / 2, dim=1)


@dataclass(kw_only=True, eq=False, repr=False)
class DAGMMDetector(RivalDetector):
    """Finds rows whose code and errors, in an autoencoder, are unlikely under a mixture.

    Zong et al. (ICLR 2018); the module's docstring says what is faithful.

    Parameters
    ----------
    mixtures : int
        Components of the mixture: how many kinds of normal there are, roughly.
    others
        As of every ``NetworkDetector``. A window has 5 points, unless it is given; it is one
        sample, of its last row.
    """

    rival = DAGMM

    mixtures: int = 4
