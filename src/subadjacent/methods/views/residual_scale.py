"""Scales of residuals: how surprising they are, channel by channel and for a row as a whole.

A residual is assessed on several scales: as it is, and averaged over more and more rows, so that a
small error that lasts counts as much as a large one that does not. On each scale it is compared
with the same average of residuals on held-out rows; residuals of rows that a model was fitted to
are far too small. The spread of residuals, whatever their sign, counts as well.

Shapes: T rows of a segment, C channels, S scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.moving import WindowSums, around, row_counts, rows_ahead

# rows that a residual is averaged over
SCALES = (1, 10, 40)
# added to baseline squares, in squared standard deviations: a channel that never moved may move a
# little. A third or three times as much changes little, a hundred times costs much
# (reproduce/log.md, "Floor and softness")
FLOOR = 1e-3
# a square this many times the baseline counts as log 2, so that noise counts for next to nothing. A
# third or three times as much changes little, a hundredth costs much
# (reproduce/log.md, "Floor and softness")
SOFTNESS = 100.0
# smaller than SOFTNESS: a mean over channels varies less than one channel
JOINT_SOFTNESS = 30.0
# residuals are clipped to this for the joint scale, so that no single channel dominates it
JOINT_CLIP = 4.0
# rows whose squares are averaged to tell how much a channel varies
SPREAD = 40
# weight of the spread, relative to 1 for all scales together (the log, "The default detector")
SPREAD_WEIGHT = 0.1
# squares are clipped to this for the spread, so that a single row does not dominate it
MAX_SQUARE = 1e4
# larger than any square of a residual
UNREACHABLE_SQUARE = 1e30
# mean squares below this have no channel to blame
TINY = 1e-12
# rows around a row that its averages may take in
MARGIN = max(*SCALES, SPREAD)
# rows handled at a time: few enough to stay in the processor's cache
CHUNK = 4096

Residuals = NDArray[Any]
Surprise = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ChannelScale:
    """The baseline squares of each channel's residuals, on every scale, and their normal spread.

    Parameters
    ----------
    squares
        The square of the averaged residual on every scale, (S, C).
    spread
        The mean square over ``SPREAD`` rows that training rows hardly ever exceeded, (C,).
    floor
        A square that does not matter, however small the baseline ones are: one for all channels, or
        one each.
    """

    squares: NDArray[np.float64]
    spread: NDArray[np.float64]
    floor: float | NDArray[np.float64] = FLOOR

    def surprise(self, measured: Squares) -> Surprise:
        """``log(1 + z/100)``, the mean over scales, plus a term for a large spread, (rows, C).

        z is the square divided by the baseline one. The logarithm lets no single channel or moment
        dominate the others.
        """
        baseline = self.squares + self.floor
        units = 1 / (baseline * SOFTNESS)
        product = measured.scales[0] * units[0]
        product += 1
        for number, present in enumerate(measured.present, start=1):
            factor = measured.scales[number] * units[number]
            hold_back(factor, baseline, number, present)
            factor += 1
            product *= factor
        surprise: Surprise = np.log(product, out=product)
        surprise /= len(SCALES)
        excess = measured.spread / np.maximum(self.spread, self.floor)
        beyond = excess > 1
        if beyond.any():
            surprise[beyond] += SPREAD_WEIGHT * np.log(excess[beyond])
        return surprise


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Squares of averaged residuals at some rows, on every scale, and their spread; (rows, C).

    ``present`` is how many rows each average was over, (rows,) for every scale but the first.
    """

    scales: list[NDArray[np.float64]]
    spread: NDArray[np.float64]
    present: list[NDArray[np.int64]]

    def within(self, rows: slice) -> Squares:
        """The part for some of these rows."""
        return Squares(
            [square[rows] for square in self.scales],
            self.spread[rows],
            [count[rows] for count in self.present],
        )

    @classmethod
    def of(cls, residuals: Residuals, first: int, last: int, lookahead: int | None) -> Squares:
        """Squared averaged residuals of rows ``first`` to ``last`` of a segment.

        Near the ends of a segment averages are over fewer rows, and vary more: they are reduced
        by as much as those of white noise would vary more. For the spread, rows beyond an end
        count as 0.
        """
        n = len(residuals)
        values, begin = around(residuals, first, last, MARGIN)
        sums = WindowSums(values, begin)
        scales = [np.square(values[first - begin : last - begin])]
        counts = [row_counts(n, scale, lookahead, first, last) for scale in SCALES[1:]]
        for scale, present in zip(SCALES[1:], counts, strict=True):
            square = np.square(sums.over(first, last, scale, rows_ahead(scale, lookahead)))
            square *= (1 / (present * scale))[:, None]
            scales.append(square)
        squares = np.minimum(np.square(values), MAX_SQUARE)
        spread = WindowSums(squares, begin)
        ahead = rows_ahead(SPREAD, lookahead)
        return cls(scales, spread.over(first, last, SPREAD, ahead) / SPREAD, counts)


@dataclass(frozen=True, slots=True, eq=False)
class JointScale:
    """The baseline mean square over channels: of averaged residuals, and averaged, (2 S,).

    Channel by channel a small departure counts for nothing, however many channels share it. Here
    squares are added over channels before they are compared with their baseline sum.
    """

    squares: NDArray[np.float64]
    floor: float = FLOOR

    def surprise(self, measured: JointSquares) -> Surprise:
        """The joint surprise of each row, divided among its channels, (rows, C).

        The mean over channels is the row's. It is 0 for a single channel, which has its own scale.
        """
        baseline = self.squares + self.floor
        ratios = measured.squares / (baseline * JOINT_SOFTNESS)
        for number, present in enumerate(measured.present, start=1):
            hold_back(
                ratios[:, number : number + 1], baseline[: len(SCALES), None], number, present
            )
        row_surprise = np.log1p(ratios).sum(axis=1) / len(self.squares)
        return np.asarray(row_surprise[:, None] * measured.shares)


@dataclass(frozen=True, slots=True, eq=False)
class JointSquares:
    """Mean squares over channels at some rows, (rows, 2 S), and each channel's share, (rows, C).

    ``present`` is as in ``Squares``.
    """

    squares: NDArray[np.float64]
    shares: NDArray[np.float64]
    present: list[NDArray[np.int64]]

    def within(self, rows: slice) -> JointSquares:
        """The part for some of these rows."""
        present = [count[rows] for count in self.present]
        return JointSquares(self.squares[rows], self.shares[rows], present)

    @classmethod
    def of(cls, residuals: Residuals, first: int, last: int, lookahead: int | None) -> JointSquares:
        """Residual mean squares over channels of rows ``first`` to ``last`` of a segment."""
        n = len(residuals)
        values, begin = around(residuals, first, last, MARGIN)
        values.clip(-JOINT_CLIP, JOINT_CLIP, out=values)
        target = slice(first - begin, last - begin)
        squares = np.square(values)
        means = squares.sum(axis=1) / values.shape[1]
        sums, of_squares = WindowSums(values, begin), WindowSums(means, begin)
        mean_squares = np.empty((last - first, 2 * len(SCALES)))
        mean_squares[:, 0] = mean_squares[:, len(SCALES)] = means[target]
        counts = [row_counts(n, scale, lookahead, first, last) for scale in SCALES[1:]]
        for number, (scale, present) in enumerate(zip(SCALES[1:], counts, strict=True), start=1):
            ahead = rows_ahead(scale, lookahead)
            sum_ = sums.over(first, last, scale, ahead)
            square = np.einsum("tc,tc->t", sum_, sum_)
            mean_squares[:, number] = square / (present * scale * values.shape[1])
            mean_squares[:, len(SCALES) + number] = (
                of_squares.over(first, last, scale, ahead) / present
            )
        shares = _shares(squares[target], means[target])
        return cls(mean_squares, shares, counts)


def hold_back(
    ratios: NDArray[np.float64],
    baseline: NDArray[np.float64],
    number: int,
    present: NDArray[np.int64],
) -> None:
    """Reduce the ratios of averages over fewer rows than a scale has, in place.

    The mean of half a cycle differs from that of a whole one, and is as normal. The baseline
    square of a mean over fewer rows is interpolated between the neighbouring scales, linearly in
    logarithms; for white noise this changes nothing. ``ratios`` are (rows, C), ``baseline`` the
    baseline squares on every scale, (S, C).
    """
    (fewer,) = (present < SCALES[number]).nonzero()
    if not len(fewer):
        return
    counts, at = np.unique(present[fewer], return_inverse=True)
    knots, levels = np.log(SCALES[: number + 1]), np.log(baseline[: number + 1])
    wanted = np.log(counts)
    after = np.clip(np.searchsorted(knots, wanted), 1, number)
    share = ((wanted - knots[after - 1]) / (knots[after] - knots[after - 1]))[:, None]
    between = (1 - share) * levels[after - 1] + share * levels[after]
    # squares were already reduced as for white noise
    law = levels[number] + (knots[number] - wanted)[:, None]
    ratios[fewer] *= np.exp(np.minimum(law - between, 0))[at]


def _shares(squares: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each channel's share in a row's surprise, (rows, C); 1 on average, 0 for a single channel."""
    if squares.shape[1] == 1:
        return np.zeros(squares.shape)
    mean = means[:, None]
    return np.divide(squares, mean, out=np.ones_like(squares), where=mean > TINY)


def chunks(n: int) -> list[tuple[int, int]]:
    """Row bounds of chunks that cover ``n`` rows."""
    return [(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]
