"""Fit the scales of residuals, with a cross-validated surprise of every row.

The assessed rows are cut into contiguous folds. A fold is compared with scales from rows outside
it, and not next to it: rows that count for the scales, or share averages with such rows, have a
smaller surprise than rows to come will have.

Shapes: T rows of a segment, C channels, S scales.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.residual_scale import (
    FLOOR,
    SPREAD,
    UNREACHABLE_SQUARE,
    ChannelScale,
    JointScale,
    JointSquares,
    Residuals,
    Squares,
    Surprise,
    chunks,
)
from subadjacent.ridge.folds import guarded

# folds of the cross-validation
FOLDS = 5
# blocks of rows whose mean squares are averaged
BLOCKS = 10
# share of training rows whose spread is normal
SPREAD_QUANTILE = 0.99
# rows that this quantile is taken from, about
MAX_SAMPLED_ROWS = 10_000

AssessedMasks = Sequence[NDArray[np.bool_]]


class _Measured(Protocol):
    def within(self, rows: slice) -> Self: ...


M = TypeVar("M", bound=_Measured)


class _Scale(Protocol):
    def surprise(self, measured: Any) -> Surprise: ...


S = TypeVar("S", bound=_Scale)


@dataclass(frozen=True, slots=True, eq=False)
class ScaleFit(Generic[S]):
    """The scale fitted on all rows, and one fitted outside each fold.

    ``bounds`` are row numbers, counted through all segments; a fold begins at each but the last.
    """

    scale: S
    by_fold: list[S]
    bounds: list[int]
    parts: Sequence[Residuals]
    measure: Callable[[Residuals, int, int], _Measured]

    def surprise(self, number: int, first: int, last: int) -> Surprise:
        """The cross-validated surprise of rows ``first`` to ``last`` of a segment."""
        measured = self.measure(self.parts[number], first, last)
        at = sum(len(residuals) for residuals in self.parts[:number]) + first
        surprises = []
        for scale, (start, stop) in zip(self.by_fold, pairwise(self.bounds), strict=True):
            rows = slice(max(start - at, 0), min(stop - at, last - first))
            if rows.start < rows.stop:
                surprises.append(scale.surprise(measured.within(rows)))
        return surprises[0] if len(surprises) == 1 else np.concatenate(surprises)


def fit_channel_scale(
    segments: Sequence[Residuals],
    rows: AssessedRows,
    lookahead: int | None,
    floor: float | NDArray[np.float64] = FLOOR,
) -> ScaleFit[ChannelScale]:
    """Fit the channel scale to held-out residuals; without assessed rows, none is unusual."""

    def measure(residuals: Residuals, first: int, last: int) -> Squares:
        return Squares.of(residuals, first, last, lookahead)

    sums, spreads = _Sums(rows), _Sample(rows)
    for number, first, last in _everything(segments):
        squares = measure(segments[number], first, last)
        sums.add(number, first, np.stack(squares.scales, axis=1))
        spreads.add(number, first, squares.spread)
    # short segments have less to add up than longer ones to come
    share = min(max(1, *map(len, segments)), SPREAD) / SPREAD

    def scale(fold: int | None) -> ChannelScale:
        return ChannelScale(sums.block_mean(fold), spreads.quantile(fold) / share, floor)

    by_fold = [scale(fold) for fold in range(len(rows.folds))]
    return ScaleFit(scale(None), by_fold, rows.bounds, segments, measure)


def fit_joint_scale(
    segments: Sequence[Residuals], rows: AssessedRows, lookahead: int | None, floor: float = FLOOR
) -> ScaleFit[JointScale]:
    """Fit the joint scale to held-out residuals; without assessed rows, none is unusual."""

    def measure(residuals: Residuals, first: int, last: int) -> JointSquares:
        return JointSquares.of(residuals, first, last, lookahead)

    sums = _Sums(rows)
    for number, first, last in _everything(segments):
        sums.add(number, first, measure(segments[number], first, last).squares)
    by_fold = [JointScale(sums.block_mean(fold), floor) for fold in range(len(rows.folds))]
    scale = JointScale(sums.block_mean(None), floor)
    return ScaleFit(scale, by_fold, rows.bounds, segments, measure)


def _everything(segments: Sequence[Residuals]) -> Iterator[tuple[int, int, int]]:
    for number, residuals in enumerate(segments):
        for first, last in chunks(len(residuals)):
            yield number, first, last


class AssessedRows:
    """The assessed rows of all segments, numbered consecutively, and their folds.

    Parameters
    ----------
    assessed
        One a segment: which of its rows have a residual at all.
    """

    def __init__(self, assessed: AssessedMasks) -> None:
        everywhere = np.concatenate(list(assessed))
        self.starts = np.cumsum([0, *map(len, assessed)])
        self.assessed = everywhere
        self.at = np.flatnonzero(everywhere)
        self.count = len(self.at)
        sizes = [len(fold) for fold in np.array_split(self.at, min(FOLDS, max(self.count, 1)))]
        self.folds = list(pairwise(np.cumsum([0, *sizes]).tolist()))
        inner = [int(self.at[first]) for first, _ in self.folds[1:]]
        self.bounds = [0, *inner, len(everywhere)]
        # of all rows and of those outside each fold, the blocks whose means are compared
        self.blocks = {
            fold: _cut(self.outside(fold), BLOCKS) for fold in (None, *range(len(self.folds)))
        }
        edges = {
            edge
            for blocks in self.blocks.values()
            for block in blocks
            for bounds in block
            for edge in bounds
        }
        self.edges = sorted(edges | {0, self.count})
        # where these assessed rows stand among all rows
        self.places = np.append(self.at, len(everywhere))[self.edges]
        self.places[0] = 0

    def outside(self, fold: int | None) -> list[tuple[int, int]]:
        """Bounds of the assessed rows outside a fold; all rows if there is one fold."""
        if fold is None or len(self.folds) == 1:
            return [(0, self.count)]
        first, last = guarded(self.folds[fold], self.count)
        return [(0, first), (last, self.count)]


class _Sums:
    """Sums of squares over blocks of assessed rows, added up as chunks come."""

    def __init__(self, rows: AssessedRows) -> None:
        self.rows = rows
        self.totals: NDArray[np.float64] | None = None

    def add(self, number: int, first: int, squares: NDArray[np.float64]) -> None:
        """Add squares of the rows of a segment from ``first`` on."""
        if self.totals is None:
            self.totals = np.zeros((len(self.rows.edges), *squares.shape[1:]))
        at = int(self.rows.starts[number]) + first
        assessed = self.rows.assessed[at : at + len(squares)]
        if not assessed.all():
            squares = squares * assessed.reshape(-1, *[1] * (squares.ndim - 1))
        low = int(np.searchsorted(self.rows.places, at, side="right")) - 1
        high = int(np.searchsorted(self.rows.places, at + len(squares), side="left"))
        # an edge at the very end begins a segment without rows
        starts = np.maximum(self.rows.places[low:high] - at, 0)
        self.totals[low:high] += np.add.reduceat(squares, starts, axis=0)

    def block_mean(self, fold: int | None) -> NDArray[np.float64]:
        """The root mean square of ten block means of the squares, outside a fold.

        Blocks with bursts count more than in a plain mean, as bursts will come again. Without rows,
        it is larger than any square.
        """
        assert self.totals is not None
        blocks = self.rows.blocks[fold]
        if not blocks:
            return np.full(self.totals.shape[1:], UNREACHABLE_SQUARE)
        up_to = np.concatenate(
            [np.zeros((1, *self.totals.shape[1:])), np.cumsum(self.totals, axis=0)]
        )
        place = {edge: number for number, edge in enumerate(self.rows.edges)}
        means = []
        for block in blocks:
            total = sum(up_to[place[last]] - up_to[place[first]] for first, last in block)
            means.append(total / sum(last - first for first, last in block))
        return np.asarray(np.sqrt(np.mean(np.square(means), axis=0)))


class _Sample:
    """The spreads of an evenly spaced sample of the assessed rows."""

    def __init__(self, rows: AssessedRows) -> None:
        self.rows = rows
        self.step = max(rows.count * (FOLDS - 1) // FOLDS // MAX_SAMPLED_ROWS, 1)
        self.picked = rows.at[:: self.step]
        self.found: list[NDArray[np.float64]] = []

    def add(self, number: int, first: int, spreads: NDArray[np.float64]) -> None:
        """Add the sampled rows of a segment from ``first`` on."""
        at = int(self.rows.starts[number]) + first
        low, high = np.searchsorted(self.picked, [at, at + len(spreads)])
        self.found.append(spreads[self.picked[low:high] - at])

    def quantile(self, fold: int | None) -> NDArray[np.float64]:
        """A high quantile of the spreads outside a fold; unreachable if there are none."""
        spreads = np.concatenate(self.found)
        kept = np.arange(len(spreads)) * self.step
        inside = np.zeros(len(spreads), dtype=bool)
        for first, last in self.rows.outside(fold):
            inside |= (first <= kept) & (kept < last)
        if not inside.any():
            return np.full(spreads.shape[1:], UNREACHABLE_SQUARE)
        return quantile(spreads[inside], SPREAD_QUANTILE)


def quantile(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """The quantile of each column; a faster ``numpy.quantile`` for finite values."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    ordered = np.partition(values, (low, high), axis=0)
    return np.asarray(ordered[low] + (place - low) * (ordered[high] - ordered[low]))


def _cut(ranges: list[tuple[int, int]], count: int) -> list[list[tuple[int, int]]]:
    """Cut the rows of some ranges into ``count`` blocks of equal length; none is empty."""
    total = sum(last - first for first, last in ranges)
    sizes = [len(block) for block in np.array_split(np.arange(total), count)]
    edges = np.cumsum([0, *sizes]).tolist()
    blocks = []
    for low, high in pairwise(edges):
        block, at = [], 0
        for first, last in ranges:
            start, stop = max(low - at, 0), min(high - at, last - first)
            if start < stop:
                block.append((first + start, first + stop))
            at += last - first
        if block:
            blocks.append(block)
    return blocks
