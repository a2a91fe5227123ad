"""NPSR: a point is abnormal if its values do not go together, and so may be those around it.

Lai, Sun, Gao, Lang and Boning, "Nominality Score Conditioned Time Series Anomaly Detection by
Point/Sequential Reconstruction", NeurIPS 2023.

Faithful: a point-based model that reconstructs each point from itself through a bottleneck, and a
sequence-based one that reconstructs points from those on both sides of them, never from
themselves; the anomaly score A is the squared error of the first; the nominality N is the squared
distance between the two reconstructions over that between the point and the second; scores spread
to at most d points on either side through a gate that closes as N rises to θ, the 98.5 % quantile.
Ours: the point-based model is of plain layers and the sequence-based one a Transformer with exact
attention, where the paper has Performers for both, which approximate it; the bottleneck is never
wider than half the channels, or it would copy a point; in turn each fifth of a window is hidden and
reconstructed from the other four; θ is learned on held-out rows, not on the training rows; scores
spread within a window.

Shapes: B windows, N points in a window, C channels, D width, P parts of a window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Rival, RivalConfig, RivalDetector, require_heads, setting

# parts of a window that are hidden in turn
PARTS = 5
# squared distance for each channel that is rounding: a point that both models give back exactly
# is as nominal as can be
ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class NPSRConfig(RivalConfig):
    """The settings of NPSR."""

    tiny: ClassVar = {"width": 8, "heads": 2, "layers": 1}
    usual_window: ClassVar = 100

    # size of the latent code of a point; at most half the channels
    latent: int = 10
    # of the Transformer; the width is the point-based model's as well
    width: int = 128
    heads: int = 4
    layers: int = 2
    # d: points on either side that a score spreads to; the most is more than any window has
    reach: int = setting(16, least=0, most=5_000)
    # quantile of the nominality on held-out rows at which the gate is closed
    nominal: float = setting(0.985, above=0, most=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_heads(self.width, self.heads)

    @property
    def bottleneck(self) -> int:
        """Size of the latent code of a point, given the number of channels."""
        return min(self.latent, max(self.channels // 2, 1))


class NPSRReconstructions(NamedTuple):
    """The reconstructions of a window by both models, (B, N, C)."""

    by_point: Tensor
    by_sequence: Tensor


def nominality(rows: Tensor, by_point: Tensor, by_sequence: Tensor) -> Tensor:
    """The nominality N of each point, (B, N).

    1 where the point-based model returns the point itself, 0 where it returns the sequence-based
    reconstruction.
    """
    rounding = ROUNDING * rows.shape[-1]
    known = (by_point - by_sequence).square().sum(dim=-1) + rounding
    whole = (rows - by_sequence).square().sum(dim=-1) + rounding
    return known / whole


def induced(score: Tensor, gate: Tensor, reach: int) -> Tensor:
    """Scores, raised by those of at most ``reach`` points before and after, (B, N).

    Point τ adds to point t its score times the gates from t to the point next to τ.
    """
    total = score
    for backwards in (False, True):
        spread, open_to = (rows.flip(1) if backwards else rows for rows in (score, gate))
        for _ in range(min(reach, score.shape[1] - 1)):
            # from the point before, through this point's gate
            spread = torch.cat([torch.zeros_like(spread[:, :1]), spread[:, :-1]], dim=1) * open_to
            total = total + (spread.flip(1) if backwards else spread)
    return total


class NPSR(Rival):
    """Reconstructs each point from itself, and from the points around it."""

    configured_by = NPSRConfig
    recordable = True
    shareable = True
    config: NPSRConfig
    hidden: Tensor
    closed_at: Tensor

    def __init__(self, config: NPSRConfig) -> None:
        super().__init__(config)
        channels, width = config.channels, config.width
        self.point = nn.Sequential(
            nn.Linear(channels, width),
            nn.GELU(),
            nn.Linear(width, config.bottleneck),
            nn.Linear(config.bottleneck, width),
            nn.GELU(),
            nn.Linear(width, channels),
        )
        self.embed = nn.Linear(channels, width)
        self.unknown = nn.Parameter(torch.zeros(width))
        self.position = nn.Parameter(0.02 * torch.randn(config.window, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width,
                config.heads,
                4 * width,
                dropout=0.0,
                activation="gelu",
                batch_first=True,
                norm_first=True,
            )
            for _ in range(config.layers)
        )
        self.output = nn.Linear(width, channels)
        count = min(PARTS, config.window)
        turn = torch.arange(config.window) * count // config.window
        hidden = turn == torch.arange(count)[:, None]
        # (P, N, 1), which points are hidden in each turn
        self.register_buffer("hidden", hidden[..., None], persistent=False)
        self.register_buffer("closed_at", torch.ones(()))

    def forward(self, windows: Tensor) -> NPSRReconstructions:
        """Reconstruct windows (B, N, C) with both models."""
        return NPSRReconstructions(self.point(windows), self._by_sequence(windows))

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        """The sum of both models' mean squared errors; they share no weights."""
        return [sum((reconstruction - windows).square().mean() for reconstruction in self(windows))]

    def conclude(self, training: Iterable[Tensor], held_out: Iterable[Tensor]) -> None:  # noqa: ARG002
        """Set the nominality θ at which the gate closes, from held-out windows."""
        nominalities = torch.cat(
            [nominality(windows, *self(windows)).flatten().cpu() for windows in held_out]
        )
        self.closed_at.fill_(float(np.quantile(nominalities.numpy(), self.config.nominal)))

    def assess(self, windows: Tensor) -> WindowEvidence:
        """Evidence: the point-based model's errors; a point's score is the induced score."""
        reconstructed = self(windows)
        error = (reconstructed.by_point - windows).square()
        nominal = nominality(windows, *reconstructed)
        gate = (1 - nominal / self.closed_at).clamp(min=0)
        score = induced(error.mean(dim=-1), gate, self.config.reach)
        return WindowEvidence(error, reconstructed.by_sequence, {"nominality": nominal}, score)

    def _by_sequence(self, windows: Tensor) -> Tensor:
        """The sequence-based reconstruction of each part from the other parts, (B, N, C)."""
        embedded = self.embed(windows)[:, None]  # (B, 1, N, D)
        known = torch.where(self.hidden, self.unknown.to(embedded.dtype), embedded)
        points = (known + self.position).flatten(0, 1)  # (B · P, N, D)
        for layer in self.layers:
            points = layer(points)
        by_turn = self.output(points).view(len(windows), -1, *windows.shape[1:])
        # each point where it was hidden
        whole: Tensor = (by_turn * self.hidden).sum(dim=1)
        return whole


@dataclass(kw_only=True, eq=False, repr=False)
class NPSRDetector(RivalDetector):
    """Finds points whose values do not go together, and unusual ones close to them.

    Lai et al. (NeurIPS 2023); the module's docstring says what is faithful. It needs several
    channels: of one or two, a point says little by itself.

    Parameters
    ----------
    reach : int
        Points on either side that a score may spread to; 0 leaves the error alone.
    nominal : float
        Share of held-out points that a score can spread to; more spreads it further.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given.
    """

    rival = NPSR

    reach: int = 16
    nominal: float = 0.985
