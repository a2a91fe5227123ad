"""A view of shapes: how far a window of a channel is from every shape seen in training.

A beat may be of another form though its level, its size and its spectrum are as always. Windows
are brought to mean 0 and deviation 1, so that the form is all that counts, and compared with
windows of the same channel at every phase. The smaller deviation of a channel that stands still
is not blown up: noise on a flat line is no shape.

Shapes: T rows of a segment, C channels, W windows, R references, POINTS points of a window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.forecasts import in_threads
from subadjacent.methods.views.nearest import TABLE, prepared
from subadjacent.methods.views.novelty import Novelty, Scores, surprise
from subadjacent.methods.views.row_buffer import RowBuffer
from subadjacent.ridge.axes import Rows, cut

# a window is this many means of a few rows each. 10 or 32 change little
# (reproduce/log.md, "States and shapes")
POINTS = 16
# deviation of a window below which it has no shape, in standard deviations of its channel. A third
# of it costs up to four points where channels are mostly at rest, twice of it ten on SMD (same
# entry)
FLAT = 0.3


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
        The baseline squared distance of a window of each channel, (P,).
    """

    grain: int
    channels: NDArray[np.int64]
    references: NDArray[np.float16]
    usual: NDArray[np.float32]

    @property
    def rows(self) -> int:
        """Rows of a window."""
        return POINTS * self.grain

    def complete(self, rows: int) -> int:
        """How many windows the first ``rows`` rows of a segment hold."""
        return max(rows - self.rows + self.grain, 0) // self.grain

    def ahead(self, lookahead: int | None) -> int:
        """Rows after a row that its window takes in, if it may look so far ahead."""
        half = self.rows // 2
        return half if lookahead is None else min(half, lookahead)

    def windows_of(
        self, rows: int, lookahead: int | None, start: int = 0, stop: int | None = None
    ) -> NDArray[np.int64]:
        """The number of the window that assesses each row of a segment, or of some of its rows.

        It is the last that ends no later than the row may look ahead; near the end of the segment
        the last there is. Before the first whole window the first one serves a view that may look
        as far ahead as it likes; otherwise, and if there is no window at all, it is -1 for none.
        """
        last = (rows - self.rows) // self.grain
        here = np.arange(start, rows if stop is None else stop)
        window = (here + self.ahead(lookahead) + 1 - self.rows) // self.grain
        first = -1 if lookahead is not None or last < 0 else 0
        return np.asarray(window.clip(first, max(last, -1)))

    def surprises(self, rows: Rows) -> Scores:
        """The surprise of every window of some rows, (W, P)."""
        values = cut(rows[:, self.channels]).astype(np.float64)
        means = values.reshape(-1, self.grain, len(self.channels)).sum(axis=1) / self.grain
        row, item = means.strides
        shape = (len(means) - POINTS + 1, len(self.channels), POINTS)
        # as `as_strided`, whose checks take longer than all the rest for one window
        windows = np.ndarray(shape, means.dtype, means, strides=(row, item, row))
        references = prepared(self)
        step = max(TABLE // references.size, 1)

        def of_some(first: int) -> Scores:
            points = normalised(windows[first : first + step])[0].astype(np.float32)
            return surprise(references.nearest_in_groups(points.swapaxes(0, 1)).T, self.usual)

        firsts = range(0, len(windows), step)
        return np.concatenate(in_threads(of_some, firsts, rows.size))


@dataclass(frozen=True, slots=True, eq=False)
class ShapeView:
    """Shapes of few lengths seen in training, and the baseline distance to the nearest of them.

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
        # windows begin every few rows: the last may end that much earlier
        before = max(length.rows + length.grain for length in self.lengths) - 2
        # the first rows of a segment share its first window
        return before, self._shared - 1 if self.lookahead is None else self._farthest

    @property
    def every(self) -> int:
        """Segments are assessed in parts as at once if parts begin at multiples of it."""
        return int(np.lcm.reduce([length.grain for length in self.lengths]))

    @property
    def _farthest(self) -> int:
        return max(length.ahead(self.lookahead) for length in self.lengths)

    @property
    def _shared(self) -> int:
        """Rows that the first window of the longest length assesses."""
        return max(length.rows for length in self.lengths)

    def no_windows(self) -> list[RowBuffer]:
        """The surprises of no windows: a tail of them for every length, (W, P)."""
        return [RowBuffer(np.zeros((0, len(length.channels)))) for length in self.lengths]

    def settled(self, rows: int) -> int:
        """How many of the first ``rows`` rows are assessed by windows that will not change."""
        shared = self._shared if self.lookahead is None else 0
        return 0 if rows < shared else rows - self._farthest

    def needed_rows(self, rows: int) -> int:
        """The first row of the windows that are not complete after ``rows`` rows."""
        return min(length.complete(rows) * length.grain for length in self.lengths)

    def needed_windows(self, row: int, rows: int) -> list[int]:
        """The first window of each length that rows from ``row`` on need, of ``rows`` rows."""
        firsts = []
        for length in self.lengths:
            window = (row + length.ahead(self.lookahead) + 1 - length.rows) // length.grain
            # near the end of a segment the last window serves
            firsts.append(min(max(window, 0), max(length.complete(rows) - 1, 0)))
        return firsts

    def add_windows(self, windows: list[RowBuffer], rows: RowBuffer) -> None:
        """Assess the windows that have become complete, given the last standardised rows."""
        for length, tail in zip(self.lengths, windows, strict=True):
            count = length.complete(rows.end)
            if count > tail.end:
                first = tail.end * length.grain
                last = (count - 1) * length.grain + length.rows
                tail.push(length.surprises(rows.between(first, last)))

    def novelty(
        self, windows: list[RowBuffer], rows: int, first: int, last: int, channels: int
    ) -> Novelty:
        """The novelty of rows ``first`` to ``last`` of a segment that has ``rows`` rows by now.

        The mean over lengths; that of a row is the mean over the channels that have shapes.
        """
        values = np.zeros((last - first, channels), dtype=np.float32)
        total = np.zeros(last - first)
        for length, tail in zip(self.lengths, windows, strict=True):
            window = length.windows_of(rows, self.lookahead, first, last)
            own = np.zeros((last - first, len(length.channels)))
            there = window >= 0
            own[there] = tail.rows[window[there] - tail.begin]
            values[:, length.channels] += own
            total += own.sum(axis=1) / len(length.channels)
        values /= len(self.lengths)
        return Novelty(total / len(self.lengths), values)


def normalised(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Windows, (…, POINTS), as points of mean 0 and mean square below 1; and their variances."""
    centred = points - np.add.reduce(points, axis=-1, keepdims=True) / POINTS
    variance = np.add.reduce(np.square(centred), axis=-1) / POINTS
    centred /= np.sqrt(POINTS * (variance + FLAT**2))[..., None]
    return centred, variance
