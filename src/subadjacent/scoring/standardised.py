"""How surprising residuals are, channel by channel, against residuals that are usual.

A residual is looked at on several scales: as it is, and averaged over more and more rows, so that
a small error that lasts counts as much as a large one that does not. On each scale it is compared
with the same average of residuals on rows that the model did not learn from; those of rows it did
learn from are far too small. How restless residuals are, whatever their sign, counts besides.

Shapes: T rows of a stretch, C channels, S scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
# parts of them that are held against the others
FOLDS = 5
# rows whose squares are averaged to tell how restless a channel is
SPREAD = 40
# and more than this share of training rows had is more than usual
CALM = 0.99
# how much restlessness counts beside a scale
SPREAD_WEIGHT = 0.1
# rows that are enough to say what hardly any exceeds
ENOUGH = 10_000
# squares beyond this are cut: one row does not make a channel restless for long
LARGEST_SQUARE = 1e4

# decimals of a score that mean something
DECIMALS = 6
# larger than any square of a residual
NEVER_UNUSUAL = 1e30

Residuals = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """What is usual of each channel's residuals.

    Parameters
    ----------
    squares
        The square of the averaged residual on every scale, (S, C).
    spread
        The mean square over some rows that training rows hardly ever exceeded, (C).
    """

    squares: NDArray[np.float64]
    spread: NDArray[np.float64]

    def surprise(self, residuals: Residuals, *, causal: bool) -> NDArray[np.float64]:
        """``log(1 + z/100)``, the mean over scales, and a little for restlessness, (T, C).

        z is the square over the usual one. The logarithm lets no single channel or moment
        drown the others.
        """
        total = restlessness(spread(residuals, causal=causal), self.spread)
        for scale, usual in zip(SCALES, self.squares, strict=True):
            total += unlikeliness(averages(residuals, scale, causal=causal) ** 2, usual)
        return total

    def indifferent_to_spread(self) -> Usual:
        """The same, to which restlessness is no surprise."""
        return Usual(self.squares, np.full_like(self.spread, NEVER_UNUSUAL))

    def array(self) -> NDArray[np.float64]:
        """All of it in one array, (S + 1, C)."""
        return np.concatenate([self.squares, self.spread[None]])

    @classmethod
    def from_array(cls, array: NDArray[np.float64]) -> Usual:
        """The inverse of ``array``."""
        return cls(array[:-1], array[-1])


class Learned(NamedTuple):
    """What is usual, and the surprise of each stretch to what is usual in other rows."""

    usual: Usual
    surprise: list[NDArray[np.float64]]


def learn_usual(
    parts: Sequence[Residuals],
    *,
    causal: bool,
    judged: Sequence[NDArray[np.bool_]] | None = None,
) -> Learned:
    """What is usual, from residuals of unbroken stretches that the model did not learn from.

    ``judged`` says which rows have a residual at all; where none has, nothing is ever unusual.
    The rows are cut into contiguous folds, and each is held against what is usual in the others:
    rows that help to say what is usual surprise less than others will.
    """
    ends = np.cumsum([len(part) for part in parts])
    kept = np.ones(ends[-1], dtype=bool) if judged is None else np.concatenate(list(judged))
    folds = Folds.of(kept)
    total = np.zeros((ends[-1], parts[0].shape[1]))

    def compare(measured: NDArray[np.float64], learn: Any, judge: Any) -> NDArray[np.float64]:
        for mine, others in folds.pairs:
            total[mine] += judge(measured[mine], learn(measured[others]))
        return np.asarray(learn(measured[kept]))

    squares = []
    for scale in SCALES:
        found = np.concatenate([averages(part, scale, causal=causal) for part in parts])
        squares.append(compare(found**2, block_mean, unlikeliness))
    # short stretches have less to add up than longer ones to come
    there = min(max(1, *map(len, parts)), SPREAD) / SPREAD
    spreads = np.concatenate([spread(part, causal=causal) for part in parts])
    calm = compare(spreads, lambda some: calm_spread(some) / there, restlessness)
    return Learned(Usual(np.array(squares), calm), np.split(total, ends[:-1]))


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Contiguous parts of the rows that count, each with the rows to hold it against."""

    pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]]

    @classmethod
    def of(cls, kept: NDArray[np.bool_]) -> Folds:
        """Of the rows that count; a single one is held against itself."""
        rows = np.flatnonzero(kept)
        parts = np.array_split(rows, min(FOLDS, max(len(rows), 1)))
        if len(parts) == 1:
            return cls([(rows, rows)])
        return cls([(part, np.setdiff1d(rows, part, assume_unique=True)) for part in parts])


def unlikeliness(squares: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """What squares on one scale add to a surprise."""
    return np.asarray(np.log1p(squares / ((usual + FLOOR) * SOFTNESS)) / len(SCALES))


def restlessness(spreads: NDArray[np.float64], calm: NDArray[np.float64]) -> NDArray[np.float64]:
    """What spreads beyond the calm ones add to a surprise."""
    excess = spreads / np.maximum(calm, FLOOR) - 1
    return np.asarray(SPREAD_WEIGHT * np.log1p(np.maximum(excess, 0)))


def calm_spread(spreads: NDArray[np.float64]) -> NDArray[np.float64]:
    """What hardly any spread exceeds; without any, more than one will ever come to."""
    if not len(spreads):
        return np.full(spreads.shape[1:], NEVER_UNUSUAL)
    # neighbours are alike: some of many say as much as all
    return np.asarray(np.quantile(spreads[:: max(len(spreads) // ENOUGH, 1)], CALM, axis=0))


def block_mean(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The root mean square over ten blocks of rows of each block's mean.

    A channel that was at ease for most of the time and restless for some of it will be restless
    again. Without rows, more than anything will ever come to.
    """
    if not len(squares):
        return np.full(squares.shape[1:], NEVER_UNUSUAL)
    blocks = [block.mean(axis=0) for block in np.array_split(squares, BLOCKS) if len(block)]
    return np.asarray(np.sqrt(np.mean(np.square(blocks), axis=0)))


def spread(residuals: Residuals, *, causal: bool) -> NDArray[np.float64]:
    """The mean square of residuals over some rows, (T, C); rows beyond an end count as calm."""
    squares = np.minimum(np.square(residuals, dtype=np.float64), LARGEST_SQUARE)
    there = row_counts(len(squares), SPREAD, causal=causal)
    return np.asarray(moving_mean(squares, SPREAD, causal=causal) * (there / SPREAD)[:, None])


def averages(residuals: Residuals, scale: int, *, causal: bool) -> NDArray[np.float64]:
    """Residuals averaged over ``scale`` rows, (T, C).

    Near the ends fewer rows are there, and their mean strays more: it is held back by as much as
    that of noise would.
    """
    found = moving_mean(residuals, scale, causal=causal)
    there = row_counts(len(found), scale, causal=causal)
    return np.asarray(found * np.sqrt(there / scale)[:, None])


def averaged(surprise: NDArray[Any], smoothing: int, *, causal: bool) -> NDArray[np.float64]:
    """The score of a stretch: the mean over channels, averaged over rows.

    Anomalies last a row or a hundred: the mean of what the row itself, ``smoothing`` rows and three
    times as many come to. Rounded to what is more than rounding, so that rows which are alike tie.
    """
    each = surprise.mean(axis=1)
    found = [moving_mean(each, length, causal=causal) for length in smoothing_lengths(smoothing)]
    return np.asarray(np.round(np.mean(found, axis=0), DECIMALS))


def smoothing_lengths(smoothing: int) -> tuple[int, ...]:
    """Rows that scores are averaged over; with 1 they are left as they are."""
    return (1,) if smoothing == 1 else (1, smoothing, 3 * smoothing)


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
    ahead = 0 if causal else min((length - 1) // 2, n)
    total = np.zeros((n + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=total[1:])
    # sums up to the last row that counts, less those up to the first
    found = np.empty_like(values)
    found[: n - ahead] = total[ahead + 1 :]
    found[n - ahead :] = total[n]
    behind = length - ahead
    found[behind:] -= total[1 : max(n - behind + 1, 1)]
    counts = row_counts(n, length, causal=causal)
    found /= counts.reshape(-1, *[1] * (values.ndim - 1))
    return found


def row_counts(n: int, length: int, *, causal: bool) -> NDArray[np.int64]:
    """How many of ``length`` rows around each of ``n`` rows are there."""
    ahead = 0 if causal else (length - 1) // 2
    rows = np.arange(n)
    return np.minimum(rows + ahead + 1, n) - np.maximum(rows + ahead + 1 - length, 0)
