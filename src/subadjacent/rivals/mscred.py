"""MSCRED: reconstructs the inner products of pairs of channels, over several lengths of time.

Zhang, Song, Chen, Feng, Lumezanu, Cheng, Ni, Zong, Chen and Chawla, "A Deep Neural Network for
Unsupervised Anomaly Detection and Diagnosis in Multivariate Time Series Data", AAAI 2019.

Faithful: signature matrices, the inner products of all pairs of channels over the last 10, 30 and
60 rows, at five moments ten rows apart; four convolutions of 32 to 256 maps; a convolutional LSTM
behind each, with attention to the moments most like the last one (χ = 5); a decoder that joins
all four; the squared error of the last moment's matrices as loss; the score counts the pairs of
the shortest scale that are reconstructed badly. Ours: the convolutions that halve a matrix all see
3 x 3 pairs, where two of the paper's see 2 x 2; the LSTM's gates do not look at its memory; "badly"
is worse than 99 % of pairs on held-out rows, where the paper takes a fixed number; of two moments
with as many bad pairs the one with the larger error scores higher. The rows between two moments
share a score, and those before the first assessed ones have the first.

Shapes: B windows, N points in a window, C channels, S scales, K moments, F maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.errors import InputError
from subadjacent.networks.network import WindowEvidence
from subadjacent.rivals.base import Rival, RivalConfig, RivalDetector, setting

# the least squared error of a bad pair, where one of standardised channels is about 1: on rows
# that never move, rounding would otherwise be bad
MIN_BAD = 1e-4


@dataclass(frozen=True, kw_only=True)
class MSCREDConfig(RivalConfig):
    """The settings of MSCRED."""

    tiny: ClassVar = {"scales": (2, 4, 6), "steps": 2, "gap": 2, "maps": (2, 4)}
    usual_window: ClassVar = 100

    # rows that each signature matrix covers, in order; fewer where the window is too short
    scales: tuple[int, ...] = (10, 30, 60)
    # moments at which there are matrices; half the window's points at most
    steps: int = 5
    # rows from one moment to the next; fewer where the window is too short
    gap: int = 10
    # of each convolution; the first keeps the size of a matrix, the others halve it
    maps: tuple[int, ...] = (32, 64, 128, 256)
    # χ: the softmax temperature of the attention to moments; a higher one evens out the weights
    likeness: float = setting(5.0, above=0)
    # share of pairs on held-out rows that count as badly reconstructed
    bad: float = setting(0.01, above=0, most=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if list(self.scales) != sorted(self.scales):
            raise InputError(f"scales must be in order, the shortest first; got {self.scales}")

    @property
    def moments(self) -> tuple[int, int]:
        """The number of moments in a window of this length, and the rows between them."""
        half = max(self.window // 2, 1)
        steps = min(self.steps, half)
        return steps, min(self.gap, half // steps)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Rows of each scale's matrices in a window of this length."""
        steps, gap = self.moments
        return tuple(min(scale, self.window - (steps - 1) * gap) for scale in self.scales)


def signatures(windows: Tensor, lengths: Sequence[int], steps: int, gap: int) -> Tensor:
    """Signature matrices of windows (B, N, C), as (B, K, S, C, C).

    The mean product of two channels over the ``length`` rows up to each of the moments, which end
    with the window's last row.
    """
    products = []
    for length in lengths:
        first = windows.shape[1] - length - (steps - 1) * gap
        pieces = windows[:, first:].unfold(1, length, gap)  # (B, K, C, length)
        products.append(pieces @ pieces.mT / length)
    return torch.stack(products, dim=2)


class AttentiveConvLSTM(nn.Module):
    """A convolutional LSTM with attention to the moments most similar to the last."""

    def __init__(self, maps: int, likeness: float) -> None:
        super().__init__()
        self.likeness = likeness
        self.take = nn.Conv2d(maps, 4 * maps, 3, padding=1)
        self.keep = nn.Conv2d(maps, 4 * maps, 3, padding=1, bias=False)

    def forward(self, maps: Tensor) -> Tensor:
        """The attention-weighted sum of the LSTM states over moments, (B, F, C, C)."""
        taken = self.take(maps.flatten(0, 1)).unflatten(0, maps.shape[:2])
        state = memory = torch.zeros_like(maps[:, 0])
        states = []
        for step in range(maps.shape[1]):
            gates = taken[:, step] + self.keep(state)
            enter, forget, leave, new = gates.chunk(4, dim=1)
            memory = forget.sigmoid() * memory + enter.sigmoid() * new.tanh()
            state = leave.sigmoid() * memory.tanh()
            states.append(state)
        through = torch.stack(states, dim=1)
        weights = self.weights(through).to(through.dtype)
        return (weights[..., None, None, None] * through).sum(dim=1)

    def weights(self, states: Tensor) -> Tensor:
        """The attention weight of each moment, (B, K), from its inner product with the last."""
        flat = states.flatten(2)
        alike = (flat @ flat[:, -1, :, None])[..., 0]
        return torch.softmax(alike / self.likeness, dim=1)


class MSCRED(Rival):
    """Reconstructs the last moment's signature matrices from those of all moments."""

    configured_by = MSCREDConfig
    recordable = True
    shareable = True
    config: MSCREDConfig
    bad_above: Tensor

    def __init__(self, config: MSCREDConfig) -> None:
        super().__init__(config)
        maps = config.maps
        into = (len(config.scales), *maps)
        strides = (1, *(2 for _ in maps[1:]))
        self.encoders = nn.ModuleList(
            nn.Conv2d(before, after, 3, stride, padding=1)
            for before, after, stride in zip(into, maps, strides, strict=False)
        )
        self.recurrences = nn.ModuleList(
            AttentiveConvLSTM(width, config.likeness) for width in maps
        )
        # all but the deepest decoder also get what the one below gave
        deepest = len(maps) - 1
        self.decoders = nn.ModuleList(
            nn.ConvTranspose2d(width if level == deepest else 2 * width, back, 3, stride, padding=1)
            for level, (width, back, stride) in enumerate(zip(maps, into, strides, strict=False))
        )
        self.register_buffer("bad_above", torch.ones(()))

    @property
    def context(self) -> int:
        """The unscored points: all up to the last moment but one."""
        return self.config.window - self.config.moments[1]

    def signatures(self, windows: Tensor) -> Tensor:
        """The signature matrices of windows (B, N, C), as (B, K, S, C, C)."""
        return signatures(windows, self.config.lengths, *self.config.moments)

    def forward(self, matrices: Tensor) -> Tensor:
        """Reconstruct the last of the matrices (B, K, S, C, C), as (B, S, C, C)."""
        level, moments = matrices.flatten(0, 1), matrices.shape[:2]
        levels, sizes = [], []
        for encode, recur in zip(self.encoders, self.recurrences, strict=True):
            sizes.append(level.shape[-2:])
            level = functional.selu(encode(level))
            levels.append(recur(level.view(*moments, *level.shape[1:])))
        decoded: Tensor | None = None
        for number in reversed(range(len(levels))):
            joined = (
                levels[number] if decoded is None else torch.cat([levels[number], decoded], dim=1)
            )
            decoded = self.decoders[number](joined, output_size=sizes[number])
            if number:
                decoded = functional.selu(decoded)
        assert decoded is not None
        return decoded

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        """The mean squared error of the last moment's matrices."""
        return [self._residuals(windows).mean()]

    def conclude(self, training: Iterable[Tensor], held_out: Iterable[Tensor]) -> None:  # noqa: ARG002
        """Set the squared error above which a pair counts as badly reconstructed."""
        residuals = torch.cat(
            [self._residuals(windows)[:, 0].flatten().cpu() for windows in held_out]
        )
        worst = float(np.quantile(residuals.numpy(), 1 - self.config.bad))
        self.bad_above.fill_(max(worst, MIN_BAD))

    def assess(self, windows: Tensor) -> WindowEvidence:
        """Evidence: the share of badly reconstructed pairs, and each channel's mean error."""
        residuals = self._residuals(windows)
        shortest = residuals[:, 0].flatten(1)  # (B, C · C)
        count = (shortest > self.bad_above).sum(dim=1)
        # less than one pair: it breaks ties between moments with as many bad pairs
        size = shortest.mean(dim=1) / self.bad_above
        score = (count + size / (1 + size)) / shortest.shape[1]
        by_channel = residuals.mean(dim=(1, 2))[:, None].expand_as(windows)
        return WindowEvidence(by_channel, None, {}, score[:, None].expand(windows.shape[:2]))

    def _residuals(self, windows: Tensor) -> Tensor:
        """Squared errors of the last moment's matrices, (B, S, C, C)."""
        matrices = self.signatures(windows)
        squared: Tensor = (self(matrices) - matrices[:, -1]).square()
        return squared


@dataclass(kw_only=True, eq=False, repr=False)
class MSCREDDetector(RivalDetector):
    """Finds rows where channels do not move together as they used to.

    Zhang et al. (AAAI 2019); the module's docstring says what is faithful. Time and memory
    grow with the square of the channels.

    Parameters
    ----------
    bad : float
        Share of pairs of channels, on held-out rows, that count as badly reconstructed.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given, and the last
        ten of them are assessed.
    """

    rival = MSCRED

    bad: float = 0.01
