"""Fit the view of shapes, and assess the training rows by references far from them.

Shapes: T rows of a segment, W windows, R references, POINTS points of a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.nearest import nearest, spread_out
from subadjacent.methods.views.novelty import (
    Scores,
    folds,
    nearer,
    outside,
    surprise,
    usual_distance,
)
from subadjacent.methods.views.residual_scale import chunks
from subadjacent.methods.views.shapes import (
    FLAT,
    POINTS,
    ShapesOfLength,
    ShapeView,
    normalised,
)
from subadjacent.ridge.axes import Rows, cut

# a long window is a whole cycle, a short one a quarter of it. A cycle of this many rows decides how
# long they are; where there is none, or another, they are as long as for one of 200 rows. Half or
# twice of that costs one to two points (same entry)
SHORTER = 4
CYCLES, NO_CYCLE = (32, 400), 200
# windows of all phases that others are compared with. A third costs up to eight points where a
# shape is what is new, three times as many gain up to two (same entry)
MAX_REFERENCES = 1_000
# a length takes part if this many windows of it follow each other in the training rows
MIN_WINDOWS = 10
# a channel with no more different values than this is a flag, and has no shape
MAX_FLAG_VALUES = 8
# values that are looked at to tell
SAMPLED_VALUES = 5_000
# a channel takes part if this share of its windows is not flat. A quarter or three quarters change
# up to two points, either way (same entry)
MIN_MOVING_SHARE = 0.5


class ShapeFit(NamedTuple):
    """A fitted view of shapes, and how surprising rows are to references far from them.

    ``unseen`` holds the mean over channels, (T,) a segment.
    """

    view: ShapeView
    unseen: list[Scores]


class ChannelWindows(NamedTuple):
    """Windows of one channel: points, (W, POINTS), and deviations, (W,)."""

    points: NDArray[np.float32]
    deviations: NDArray[np.float64]


def z_normalised(values: NDArray[Any], grain: int) -> ChannelWindows:
    """Windows from each row of a channel (T,) on, as points of mean 0 and mean square below 1.

    The squared distance of two of them is about twice 1 less their correlation.
    """
    if len(values) < POINTS * grain:
        return ChannelWindows(np.zeros((0, POINTS), np.float32), np.zeros(0))
    up_to = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    means = (up_to[grain:] - up_to[:-grain]) / grain
    points = np.lib.stride_tricks.sliding_window_view(means, (POINTS - 1) * grain + 1)[:, ::grain]
    found = ChannelWindows(np.empty(points.shape, np.float32), np.empty(len(points)))
    # some at a time: in float64, the windows of a channel take more than 30 channels do
    for first, last in chunks(len(points)):
        centred, variance = normalised(points[first:last])
        found.points[first:last] = centred
        found.deviations[first:last] = np.sqrt(variance)
    return found


def grains(cycle: int | None) -> tuple[int, int]:
    """Rows that each point of a short and of a long window is the mean of."""
    shortest, longest = CYCLES
    rows = cycle if cycle is not None and shortest <= cycle <= longest else NO_CYCLE
    short = max(round(rows / (SHORTER * POINTS)), 1)
    return short, SHORTER * short


def fit_shapes(parts: Sequence[Rows], cycle: int | None, lookahead: int | None) -> ShapeFit | None:
    """From segments of standardised rows; None where no channel has shapes."""
    values = [cut(part) for part in parts]
    moving = [channel for channel in range(values[0].shape[1]) if not _is_flag(values, channel)]
    fits = [
        fit for grain in grains(cycle) if (fit := _fit_length(values, moving, grain)) is not None
    ]
    if not fits:
        return None
    view = ShapeView(tuple(fit.shapes for fit in fits), lookahead)
    unseen = []
    for number, part in enumerate(parts):
        by_length = [
            np.append(fit.unseen[number], 0)[fit.shapes.windows_of(len(part), lookahead)]
            for fit in fits
        ]
        unseen.append(np.mean(by_length, axis=0))
    return ShapeFit(view, unseen)


class LengthFit(NamedTuple):
    """Shapes of one length, and how surprising windows are to references far from them.

    ``unseen`` holds the mean over channels, one a window, for each segment.
    """

    shapes: ShapesOfLength
    unseen: list[Scores]


def _fit_length(values: Sequence[Rows], moving: Sequence[int], grain: int) -> LengthFit | None:
    """None where too few windows follow each other, or no channel moves in most of them."""
    length = POINTS * grain
    counts = [max(len(part) - length + 1, 0) for part in values]
    total = sum(counts)
    if total < (MIN_WINDOWS - 1) * length:
        return None
    chosen = spread_out(total, min(MAX_REFERENCES, -(-total // grain)))
    # windows that are assessed: every few rows, from the first row of each segment on
    starts = np.cumsum([0, *counts])[:-1]
    assessed = np.concatenate(
        [start + np.arange(0, count, grain) for start, count in zip(starts, counts, strict=True)]
    )
    # a window has one dimension less than points: their mean is 0
    closer = np.mean(
        [
            nearer(int(_far(chosen, assessed, fold, length).sum()), len(chosen), POINTS - 1)
            for fold in folds(len(assessed))
        ]
    )
    channels, references, usual = [], [], []
    unseen = np.zeros(len(assessed))
    for channel in moving:
        points, deviations = _joined([z_normalised(part[:, channel], grain) for part in values])
        if np.mean(deviations > FLAT / 2) < MIN_MOVING_SHARE:
            continue
        own = points[chosen].astype(np.float16)
        squares = _held_out_squares(points[assessed], assessed, own, chosen, length)
        channels.append(channel)
        references.append(own)
        usual.append(closer * usual_distance(squares))
        for fold in folds(len(assessed)):
            others = np.delete(squares, fold)
            unseen[fold] += surprise(squares[fold], usual_distance(others))
    if not channels:
        return None
    shapes = ShapesOfLength(
        grain, np.array(channels), np.array(references), np.array(usual, dtype=np.float32)
    )
    ends = np.cumsum([-(-count // grain) for count in counts])[:-1]
    return LengthFit(shapes, np.split(unseen / len(channels), ends))


def _joined(windows: Sequence[ChannelWindows]) -> ChannelWindows:
    """The windows of all segments; those of a single one are not copied."""
    if len(windows) == 1:
        return windows[0]
    points, deviations = (np.concatenate(parts) for parts in zip(*windows, strict=True))
    return ChannelWindows(points, deviations)


def _held_out_squares(
    points: NDArray[np.float32],
    at: NDArray[np.int64],
    references: NDArray[np.float16],
    references_at: NDArray[np.int64],
    length: int,
) -> NDArray[np.float32]:
    """Squared distances of windows to the nearest reference that shares no row with their fold."""
    squares = np.empty(len(points), dtype=np.float32)
    for fold in folds(len(points)):
        far = _far(references_at, at, fold, length)
        squares[fold] = nearest(points[fold], references[far].astype(np.float32)).squares
    return squares


def _far(
    references_at: NDArray[np.int64], at: NDArray[np.int64], fold: slice, length: int
) -> NDArray[np.bool_]:
    """Which references share no row with the windows of a fold."""
    covered = slice(int(at[fold][0]), int(at[fold][-1]) + 1)
    return outside(references_at, covered, length)


def _is_flag(values: Sequence[Rows], channel: int) -> bool:
    """Whether a channel has few different values."""
    some = np.concatenate([part[:, channel] for part in values])
    return len(np.unique(some[spread_out(len(some), SAMPLED_VALUES)])) <= MAX_FLAG_VALUES
