"""How surprising residuals are, channel by channel, against residuals that are usual.

A residual is looked at on several scales: as it is, and averaged over more and more rows, so that
a small error that lasts counts as much as a large one that does not. On each scale it is compared
with the same average of residuals on rows that the model did not learn from; those of rows it did
learn from are far too small.

Shapes: T rows of a stretch, C channels, S scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# rows that a residual is averaged over
SCALES = (1, 10, 40)
# added to what is usual, in standardised units: a channel that never moved may move a little
FLOOR = 1e-3
# a square so many times the usual one counts as log 2; noise counts for next to nothing
SOFTNESS = 100.0
# parts of the training rows whose usual squares are compared
BLOCKS = 10

# decimals of a score that mean something
DECIMALS = 6
# larger than any square of a residual
NEVER_UNUSUAL = 1e30

Residuals = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """The usual square of each channel's averaged residual, (S, C)."""

    squares: NDArray[np.float64]

    def surprise(self, residuals: Residuals, *, causal: bool) -> NDArray[np.float64]:
        """``log(1 + z/100)``, the mean over scales, (T, C); z is the square over the usual one.

        The logarithm lets no single channel or moment drown the others.
        """
        total = np.zeros(residuals.shape)
        for scale, usual in zip(SCALES, self.squares, strict=True):
            averaged = moving_mean(residuals, scale, causal=causal)
            total += np.log1p(averaged**2 / (usual + FLOOR) / SOFTNESS)
        return total / len(SCALES)


def learn_usual(
    parts: Sequence[Residuals],
    *,
    causal: bool,
    judged: Sequence[NDArray[np.bool_]] | None = None,
) -> Usual:
    """What is usual, from residuals of unbroken stretches that the model did not learn from.

    ``judged`` says which rows have a residual at all; where none has, nothing is ever unusual.
    The root mean square over ten blocks of each block's mean square: a channel that was at ease
    for most of the time and restless for some of it will be restless again.
    """
    squares = []
    for scale in SCALES:
        found = np.concatenate([moving_mean(part, scale, causal=causal) ** 2 for part in parts])
        if judged is not None:
            found = found[np.concatenate(list(judged))]
        if not len(found):
            return Usual(np.full((len(SCALES), parts[0].shape[1]), NEVER_UNUSUAL))
        blocks = [block.mean(axis=0) for block in np.array_split(found, BLOCKS) if len(block)]
        squares.append(np.sqrt(np.mean(np.square(blocks), axis=0)))
    return Usual(np.array(squares))


def averaged(surprise: NDArray[Any], smoothing: int, *, causal: bool) -> NDArray[np.float64]:
    """The score of a stretch: the mean over channels, averaged over rows.

    Rounded to what is more than rounding, so that rows which are alike tie.
    """
    return np.round(moving_mean(surprise.mean(axis=1), smoothing, causal=causal), DECIMALS)


def unusual(parts: Sequence[NDArray[Any]], smoothing: int, *, causal: bool) -> NDArray[np.float64]:
    """Surprise of stretches, averaged, as squares in units of the usual one: for explanations."""
    averaged = [moving_mean(part, smoothing, causal=causal) for part in parts]
    return np.asarray(SOFTNESS * np.expm1(np.concatenate(averaged)))


def moving_mean(values: NDArray[Any], length: int, *, causal: bool) -> NDArray[np.float64]:
    """Mean over ``length`` rows around each row, or up to it when ``causal``; fewer at the ends."""
    values = np.asarray(values, dtype=np.float64)
    if length == 1:
        return values
    n = len(values)
    ahead = 0 if causal else (length - 1) // 2
    rows = np.arange(n)
    first = np.clip(rows + ahead + 1 - length, 0, n)
    last = np.clip(rows + ahead + 1, 0, n)
    total = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    counts = (last - first).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((total[last] - total[first]) / counts)
