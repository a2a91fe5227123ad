"""A view of shapes: how far a window of a channel is from every shape seen in training.

A beat may be of another form though its level, its size and its spectrum are as always. Windows
are brought to mean 0 and deviation 1, so that the form is all that counts, and compared with
windows of the same channel at every phase. The smaller deviation of a channel that stands still
is not blown up: noise on a flat line is no shape.

Shapes: T rows of a segment, C channels, W windows, R references, POINTS points of a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.nearest import References, nearest, spread_out
from subadjacent.methods.views.novelty import (
    Novelty,
    Scores,
    folds,
    nearer,
    outside,
    surprise,
    usual_distance,
)
from subadjacent.ridge.axes import Rows, cut
from subadjacent.scoring.usual import chunks

# a window is so many means of a few rows each. 10 or 32 change little
# (reproduce/log.md, "States and shapes")
POINTS = 16
# a long window is a whole cycle, a short one a quarter of it. A cycle of so many rows decides how
# long they are; where there is none, or another, they are as long as for one of 200 rows. Half or
# twice of that costs one to two points (same entry)
SHORTER = 4
CYCLES, NO_CYCLE = (32, 400), 200
# deviation of a window below which it has no shape, in standard deviations of its channel. A third
# of it costs up to four points where channels are mostly at rest, twice of it ten on SMD (same
# entry)
FLAT = 0.3
# windows of all phases that others are compared with. A third costs up to eight points where a
# shape is what is new, three times as many gain up to two (same entry)
MOST_REFERENCES = 1_000
# a length takes part if so many windows of it follow each other in the training rows
FEWEST_WINDOWS = 10
# a channel with no more different values than this is a flag, and has no shape
FLAG_VALUES = 8
# values that are looked at to tell
ENOUGH_VALUES = 5_000
# a channel takes part if this share of its windows is not flat. A quarter or three quarters change
# up to two points, either way (same entry)
LEAST_MOVING = 0.5


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ShapesOfLength:
    """Shapes of one length seen in training.

    Parameters
    ----------
    grain
        Rows that each point of a window is the mean of; windows begin at multiples of it.
    channels
        Numbers of the channels that have shapes of this length, (P,).
    references
        Windows of each of these channels, (P, R, POINTS); half precision is enough for them.
    usual
        The usual squared distance of a window of each channel, (P,).
    """

    grain: int
    channels: NDArray[np.int64]
    references: NDArray[np.float16]
    usual: NDArray[np.float32]

    @property
    def rows(self) -> int:
        """Rows of a window."""
        return POINTS * self.grain

    def ahead(self, lookahead: int | None) -> int:
        """Rows after a row that its window takes in, if it may look so far ahead."""
        half = self.rows // 2
        return half if lookahead is None else min(half, lookahead)

    def windows_of(
        self, rows: int, lookahead: int | None, start: int = 0, stop: int | None = None
    ) -> NDArray[np.int64]:
        """The window of a segment that each of its rows is judged by: the nth to begin.

        Of all rows, or of those from ``start`` to ``stop``.

        It is the last that ends no later than the row may look ahead; near the end of the segment
        the last there is. Before the first whole window the first one serves a view that may look
        as far ahead as it likes; otherwise, and if there is no window at all, it is -1 for none.
        """
        last = (rows - self.rows) // self.grain
        here = np.arange(start, rows if stop is None else stop)
        window = (here + self.ahead(lookahead) + 1 - self.rows) // self.grain
        first = -1 if lookahead is not None or last < 0 else 0
        return np.asarray(window.clip(first, max(last, -1)))

    def add_to(self, values: NDArray[np.float32], rows: Rows, lookahead: int | None) -> Scores:
        """Add how surprising each value's window is to ``values``; return the rows' means."""
        window = self.windows_of(len(rows), lookahead)
        total = np.zeros(len(rows))
        for channel, references, usual in zip(
            self.channels, self.references, self.usual, strict=True
        ):
            points = z_normalised(rows[:, channel], self.grain, self.grain).points
            squares = nearest(points, references).squares
            # the last, number -1, is for rows that have no window
            own = np.append(surprise(squares, usual), 0)[window]
            values[:, channel] += own
            total += own
        return total / len(self.channels)

    def surprises(self, rows: Rows, references: References) -> Scores:
        """How surprising each of a few windows of some rows is, (W, P).

        ``references`` are those of all channels, prepared.
        """
        values = cut(rows[:, self.channels]).astype(np.float64)
        means = values.reshape(-1, self.grain, len(self.channels)).sum(axis=1) / self.grain
        row, item = means.strides
        shape = (len(means) - POINTS + 1, len(self.channels), POINTS)
        # as `as_strided`, whose checks take longer than all the rest for one window
        windows = np.ndarray(shape, means.dtype, means, strides=(row, item, row))
        points = _normalised(windows)[0].astype(np.float32).swapaxes(0, 1)
        return surprise(references.nearest_in_groups(points).T, self.usual)


@dataclass(frozen=True, slots=True, eq=False)
class ShapeView:
    """Shapes of few lengths seen in training, and the usual distance to the nearest of them.

    Parameters
    ----------
    lengths
        At least one.
    lookahead
        Rows after a row that its windows may take in; None for as many as they need.
    """

    lengths: tuple[ShapesOfLength, ...]
    lookahead: int | None

    @property
    def reach(self) -> tuple[int, int]:
        """Rows before and after a row that its windows take in."""
        longest = max(length.rows for length in self.lengths)
        # windows begin every few rows: the last may end that much earlier
        before = max(length.rows + length.grain for length in self.lengths) - 2
        if self.lookahead is None:
            # the first rows of a segment share its first window
            return before, longest - 1
        return before, max(length.ahead(self.lookahead) for length in self.lengths)

    @property
    def every(self) -> int:
        """Pieces of a segment are judged as the whole if they begin at multiples of so many."""
        return int(np.lcm.reduce([length.grain for length in self.lengths]))

    def novelty(self, rows: Rows) -> Novelty:
        """Of a segment: the mean over lengths, of rows over the channels that have shapes."""
        values = np.zeros(rows.shape, dtype=np.float32)
        within = cut(rows)
        means = [length.add_to(values, within, self.lookahead) for length in self.lengths]
        values /= len(self.lengths)
        return Novelty(np.mean(means, axis=0), values)


class ShapeFit(NamedTuple):
    """A fitted view of shapes, and how surprising rows are to references far from them.

    ``unseen`` holds the mean over channels, (T,) a segment.
    """

    view: ShapeView
    unseen: list[Scores]


class Windows(NamedTuple):
    """Windows of one channel: points, (W, POINTS), and deviations, (W,)."""

    points: NDArray[np.float32]
    deviations: NDArray[np.float64]


def z_normalised(values: NDArray[Any], grain: int, step: int = 1) -> Windows:
    """Windows of a channel's values, (T,), as points of mean 0 and mean square below 1.

    The squared distance of two of them is about twice 1 less their correlation. A window begins
    every ``step`` rows: at each, or at multiples of ``grain``.
    """
    if len(values) < POINTS * grain:
        return Windows(np.zeros((0, POINTS), np.float32), np.zeros(0))
    if step == grain:
        # the mean of the same rows, wherever the values begin, to the last digit
        whole = np.ascontiguousarray(values[: len(values) // grain * grain], dtype=np.float64)
        means = whole.reshape(-1, grain).sum(axis=1) / grain
    else:
        up_to = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
        means = (up_to[grain::step] - up_to[:-grain:step]) / grain
    apart = grain // step
    points = np.lib.stride_tricks.sliding_window_view(means, (POINTS - 1) * apart + 1)[:, ::apart]
    found = Windows(np.empty(points.shape, np.float32), np.empty(len(points)))
    # some at a time: in float64, the windows of a channel take more than 30 channels do
    for first, last in chunks(len(points)):
        centred, variance = _normalised(points[first:last])
        found.points[first:last] = centred
        found.deviations[first:last] = np.sqrt(variance)
    return found


def _normalised(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Windows, (…, POINTS), as points of mean 0 and mean square below 1; and their variances."""
    centred = points - np.add.reduce(points, axis=-1, keepdims=True) / POINTS
    variance = np.add.reduce(np.square(centred), axis=-1) / POINTS
    centred /= np.sqrt(POINTS * (variance + FLAT**2))[..., None]
    return centred, variance


def grains(cycle: int | None) -> tuple[int, int]:
    """Rows that each point of a short and of a long window is the mean of."""
    shortest, longest = CYCLES
    rows = cycle if cycle is not None and shortest <= cycle <= longest else NO_CYCLE
    short = max(round(rows / (SHORTER * POINTS)), 1)
    return short, SHORTER * short


def fit_shapes(parts: Sequence[Rows], cycle: int | None, lookahead: int | None) -> ShapeFit | None:
    """From segments of standardised rows; None where no channel has shapes."""
    return shapes_of(fit_lengths(parts, cycle), list(map(len, parts)), lookahead)


def fit_lengths(parts: Sequence[Rows], cycle: int | None) -> list[LengthFit]:
    """Shapes of every length that there are any of, however far ahead rows may look."""
    values = [cut(part) for part in parts]
    moving = [channel for channel in range(values[0].shape[1]) if not _is_flag(values, channel)]
    return [
        fit for grain in grains(cycle) if (fit := _fit_length(values, moving, grain)) is not None
    ]


def shapes_of(
    fits: Sequence[LengthFit], lengths: Sequence[int], lookahead: int | None
) -> ShapeFit | None:
    """A view of fitted shapes whose rows look so far ahead, given how long segments are."""
    if not fits:
        return None
    view = ShapeView(tuple(fit.shapes for fit in fits), lookahead)
    unseen = []
    for number, rows in enumerate(lengths):
        by_length = [
            np.append(fit.unseen[number], 0)[fit.shapes.windows_of(rows, lookahead)] for fit in fits
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
    if total < (FEWEST_WINDOWS - 1) * length:
        return None
    chosen = spread_out(total, min(MOST_REFERENCES, -(-total // grain)))
    # windows that are judged: every few rows, from the first row of each segment on
    starts = np.cumsum([0, *counts])[:-1]
    judged = np.concatenate(
        [start + np.arange(0, count, grain) for start, count in zip(starts, counts, strict=True)]
    )
    # a window has one dimension less than points: their mean is 0
    closer = np.mean(
        [
            nearer(int(_far(chosen, judged, fold, length).sum()), len(chosen), POINTS - 1)
            for fold in folds(len(judged))
        ]
    )
    channels, references, usual = [], [], []
    unseen = np.zeros(len(judged))
    for channel in moving:
        points, deviations = _joined([z_normalised(part[:, channel], grain) for part in values])
        if np.mean(deviations > FLAT / 2) < LEAST_MOVING:
            continue
        own = points[chosen].astype(np.float16)
        squares = _held_out_squares(points[judged], judged, own, chosen, length)
        channels.append(channel)
        references.append(own)
        usual.append(closer * usual_distance(squares))
        for fold in folds(len(judged)):
            others = np.delete(squares, fold)
            unseen[fold] += surprise(squares[fold], usual_distance(others))
    if not channels:
        return None
    shapes = ShapesOfLength(
        grain, np.array(channels), np.array(references), np.array(usual, dtype=np.float32)
    )
    ends = np.cumsum([-(-count // grain) for count in counts])[:-1]
    return LengthFit(shapes, np.split(unseen / len(channels), ends))


def _joined(windows: Sequence[Windows]) -> Windows:
    """The windows of all segments; those of a single one are not copied."""
    if len(windows) == 1:
        return windows[0]
    points, deviations = (np.concatenate(parts) for parts in zip(*windows, strict=True))
    return Windows(points, deviations)


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
    return len(np.unique(some[spread_out(len(some), ENOUGH_VALUES)])) <= FLAG_VALUES
