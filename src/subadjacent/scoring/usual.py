"""Units for residuals: how surprising they are, channel by channel and for a row as a whole.

A residual is looked at on several scales: as it is, and averaged over more and more rows, so that
a small error that lasts counts as much as a large one that does not. On each scale it is compared
with the same average of residuals on held-out rows; those of rows a model learned from are far too
small. How much residuals vary, whatever their sign, counts besides.

Shapes: T rows of a stretch, C channels, S scales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.moving import WindowSums, around, row_counts, rows_ahead

# rows that a residual is averaged over
SCALES = (1, 10, 40)
# added to usual squares, in squared standard deviations: a channel that never moved may move a
# little. A third or three times as much changes little, a hundred times costs much
# (docs/log.md, "Floor and softness")
FLOOR = 1e-3
# a square so many times the usual one counts as log 2, so that noise counts for next to nothing.
# A third or three times as much changes little, a hundredth costs much
# (docs/log.md, "Floor and softness")
SOFTNESS = 100.0
# a mean over channels is steadier than one channel: less of it counts as much
JOINT_SOFTNESS = 30.0
# residuals beyond this are cut for the joint scale: one channel that is far out is not all there is
JOINT_CLIP = 4.0
# rows whose squares are averaged to tell how much a channel varies
SPREAD = 40
# weight of that, beside 1 for all scales together (docs/log.md, "The default detector")
SPREAD_WEIGHT = 0.1
# squares beyond this are cut there: one row does not make a channel vary for long
LARGEST_SQUARE = 1e4
# larger than any square of a residual
NEVER_UNUSUAL = 1e30
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
    """What is usual of each channel's residuals.

    Parameters
    ----------
    squares
        The square of the averaged residual on every scale, (S, C).
    spread
        The mean square over ``SPREAD`` rows that training rows hardly ever exceeded, (C,).
    floor
        A square that does not matter, however small the usual ones are: one for all channels, or
        one each.
    """

    squares: NDArray[np.float64]
    spread: NDArray[np.float64]
    floor: float | NDArray[np.float64] = FLOOR

    def surprise(self, measured: Squares) -> Surprise:
        """``log(1 + z/100)``, the mean over scales, and a little for more spread, (rows, C).

        z is the square over the usual one. The logarithm lets no single channel or moment
        drown the others.
        """
        usual = self.squares + self.floor
        units = 1 / (usual * SOFTNESS)
        product = measured.scales[0] * units[0]
        product += 1
        for number, there in enumerate(measured.there, start=1):
            factor = measured.scales[number] * units[number]
            hold_back(factor, usual, number, there)
            factor += 1
            product *= factor
        surprise: Surprise = np.log(product, out=product)
        surprise /= len(SCALES)
        excess = measured.spread / np.maximum(self.spread, self.floor)
        beyond = excess > 1
        if beyond.any():
            surprise[beyond] += SPREAD_WEIGHT * np.log(excess[beyond])
        return surprise

    def indifferent_to_spread(self) -> ChannelScale:
        """The same, to which more spread than usual is no surprise."""
        return replace(self, spread=np.full_like(self.spread, NEVER_UNUSUAL))


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Squares of averaged residuals at some rows, on every scale, and their spread; (rows, C).

    ``there`` says how many rows each average was of, (rows,) for every scale but the first.
    """

    scales: list[NDArray[np.float64]]
    spread: NDArray[np.float64]
    there: list[NDArray[np.int64]]

    def within(self, rows: slice) -> Squares:
        """At some of these rows."""
        return Squares(
            [square[rows] for square in self.scales],
            self.spread[rows],
            [count[rows] for count in self.there],
        )

    @classmethod
    def of(cls, residuals: Residuals, first: int, last: int, lookahead: int | None) -> Squares:
        """Of the rows from ``first`` to ``last`` of a stretch.

        Near the ends of a stretch fewer rows are there, and their mean strays more: it is held
        back by as much as that of noise would, for a start; for the spread, rows beyond an end
        count as calm.
        """
        n = len(residuals)
        values, begin = around(residuals, first, last, MARGIN)
        sums = WindowSums(values, begin)
        scales = [np.square(values[first - begin : last - begin])]
        counts = [row_counts(n, scale, lookahead, first, last) for scale in SCALES[1:]]
        for scale, there in zip(SCALES[1:], counts, strict=True):
            square = np.square(sums.over(first, last, scale, rows_ahead(scale, lookahead)))
            square *= (1 / (there * scale))[:, None]
            scales.append(square)
        squares = np.minimum(np.square(values), LARGEST_SQUARE)
        spread = WindowSums(squares, begin)
        ahead = rows_ahead(SPREAD, lookahead)
        return cls(scales, spread.over(first, last, SPREAD, ahead) / SPREAD, counts)


@dataclass(frozen=True, slots=True, eq=False)
class JointScale:
    """The usual mean square over channels: of averaged residuals, and averaged, (2 S,).

    Channel by channel a small departure counts for nothing, however many channels share it. Here
    squares are added over channels before they are compared with what is usual.
    """

    squares: NDArray[np.float64]
    floor: float = FLOOR

    def surprise(self, measured: JointSquares) -> Surprise:
        """Of each row as a whole, laid on its channels by their share in it, (rows, C).

        The mean over channels is the row's. A single channel has been judged by itself already.
        """
        usual = self.squares + self.floor
        ratios = measured.squares / (usual * JOINT_SOFTNESS)
        for number, there in enumerate(measured.there, start=1):
            hold_back(ratios[:, number : number + 1], usual[: len(SCALES), None], number, there)
        each = np.log1p(ratios).sum(axis=1) / len(self.squares)
        return np.asarray(each[:, None] * measured.shares)


@dataclass(frozen=True, slots=True, eq=False)
class JointSquares:
    """Mean squares over channels at some rows, (rows, 2 S), and each channel's share, (rows, C).

    ``there`` is as in ``Squares``.
    """

    squares: NDArray[np.float64]
    shares: NDArray[np.float64]
    there: list[NDArray[np.int64]]

    def within(self, rows: slice) -> JointSquares:
        """At some of these rows."""
        there = [count[rows] for count in self.there]
        return JointSquares(self.squares[rows], self.shares[rows], there)

    @classmethod
    def of(cls, residuals: Residuals, first: int, last: int, lookahead: int | None) -> JointSquares:
        """Of the rows from ``first`` to ``last`` of a stretch."""
        n = len(residuals)
        values, begin = around(residuals, first, last, MARGIN)
        values.clip(-JOINT_CLIP, JOINT_CLIP, out=values)
        here = slice(first - begin, last - begin)
        squares = np.square(values)
        means = squares.sum(axis=1) / values.shape[1]
        sums, of_squares = WindowSums(values, begin), WindowSums(means, begin)
        found = np.empty((last - first, 2 * len(SCALES)))
        found[:, 0] = found[:, len(SCALES)] = means[here]
        counts = [row_counts(n, scale, lookahead, first, last) for scale in SCALES[1:]]
        for number, (scale, there) in enumerate(zip(SCALES[1:], counts, strict=True), start=1):
            ahead = rows_ahead(scale, lookahead)
            sum_ = sums.over(first, last, scale, ahead)
            square = np.einsum("tc,tc->t", sum_, sum_)
            found[:, number] = square / (there * scale * values.shape[1])
            found[:, len(SCALES) + number] = of_squares.over(first, last, scale, ahead) / there
        shares = _shares(squares[here], means[here])
        return cls(found, shares, counts)


def hold_back(
    ratios: NDArray[np.float64],
    usual: NDArray[np.float64],
    number: int,
    there: NDArray[np.int64],
) -> None:
    """Hold averages of fewer rows than a scale has back, in place, where noise's law is too lax.

    The mean of half a cycle is far from that of a whole one, and no less usual. What is usual of a
    mean of so many rows lies between what is usual on the scales around it, along a line if both
    are logarithms; of noise that is what its law says. ``ratios`` are (rows, C), ``usual`` what is
    usual on every scale, (S, C).
    """
    (fewer,) = (there < SCALES[number]).nonzero()
    if not len(fewer):
        return
    counts, at = np.unique(there[fewer], return_inverse=True)
    knots, levels = np.log(SCALES[: number + 1]), np.log(usual[: number + 1])
    where = np.log(counts)
    after = np.clip(np.searchsorted(knots, where), 1, number)
    share = ((where - knots[after - 1]) / (knots[after] - knots[after - 1]))[:, None]
    between = (1 - share) * levels[after - 1] + share * levels[after]
    # squares were held back by noise's law already
    law = levels[number] + (knots[number] - where)[:, None]
    ratios[fewer] *= np.exp(np.minimum(law - between, 0))[at]


def _shares(squares: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    """What part of a row's surprise is each channel's, (rows, C); 1 on average, or 0 if alone."""
    if squares.shape[1] == 1:
        return np.zeros(squares.shape)
    mean = means[:, None]
    return np.divide(squares, mean, out=np.ones_like(squares), where=mean > TINY)


def chunks(n: int) -> list[tuple[int, int]]:
    """Row bounds of chunks that cover ``n`` rows."""
    return [(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]
