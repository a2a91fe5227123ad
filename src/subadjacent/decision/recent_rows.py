"""The latest rows of a series and their assessment: all that an explanation needs.

Shapes: T rows that are kept, B rows that come together, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.times import from_json, to_json
from subadjacent.decision.silence_stream import SilentRows

ROWS_KEPT = 1_000
"""Rows that are kept: the 300 before an alarm and the 300 within it that explanations look at, and
several cycles of what comes round every hundred rows."""

FIRST_CAPACITY = 128
"""Rows that there is room for at first: a series of few rows costs little to begin."""


class RecentRows(NamedTuple):
    """Rows in order, with their assessment."""

    values: NDArray[Any]  # (T, C), filled
    by_channel: NDArray[Any]  # (T, C)
    missing: NDArray[Any]  # (T, C), for long
    silent: NDArray[Any]  # (T, C), missing for long or stuck
    anomalous: NDArray[Any]  # (T,)
    starts: NDArray[Any]  # (T,), of segments
    ranges: NDArray[Any]  # (T, 3, C), expected, low and high as told when the row came

    @property
    def segment_starts(self) -> tuple[int, ...]:
        """First rows of unbroken segments, of which the first row is one."""
        return (0, *(np.flatnonzero(self.starts[1:]) + 1).tolist())


class RecentBuffer:
    """A buffer of the latest rows, ``ROWS_KEPT`` or more; adding one takes constant time.

    Parameters
    ----------
    channels
        C.
    wait
        Rows for which an event may have to wait until it is explained: as many more are kept.
    keeps_ranges
        Whether expected ranges are kept; else ``ranges`` is of shape (T, 0, C).
    """

    def __init__(self, channels: int, wait: int = 0, *, keeps_ranges: bool = False) -> None:
        self._kept, self._keeps_ranges = ROWS_KEPT + wait, keeps_ranges
        self._room = _room(FIRST_CAPACITY, channels, keeps_ranges=keeps_ranges)
        self._times: list[Any] = []
        self._end = 0  # rows of the room that are in use; the last of them count
        self.count = 0  # rows of the series so far

    def add(self, rows: RecentRows, times: Sequence[Any] | None) -> None:
        """Add rows, at most as many as are kept."""
        new = len(rows.anomalous)
        if self._end + new > len(self._room.anomalous):
            self._make_room(new)
        for column, added in zip(self._room, rows, strict=True):
            column[self._end : self._end + new] = added
        if times is not None:
            self._times.extend(times)
        self._end += new
        self.count += new

    def _make_room(self, new: int) -> None:
        """For as many rows again as there will be, so that it is seldom done."""
        kept = min(self._end, self._kept)
        rows, channels = min(2 * (kept + new), 2 * self._kept), self._room.values.shape[1]
        room = _room(rows, channels, keeps_ranges=self._keeps_ranges)
        for column, old in zip(room, self._room, strict=True):
            column[:kept] = old[self._end - kept : self._end]
        self._room, self._end = room, kept
        self._times = self._times[-kept:] if self._times else []

    def mark(self, row: int, channel: int, since: int, *, missing: bool) -> None:
        """Note that a channel that is silent at a row has been so for some rows before it."""
        stop = self._end - (self.count - 1 - row)
        rows = slice(max(stop - 1 - since, 0), stop)
        self._room.silent[rows, channel] = True
        if missing:
            self._room.missing[rows, channel] = True

    def mark_since(self, first: int, silent: SilentRows) -> None:
        """Note since when channels have been silent at the rows from ``first`` on."""
        for place, channel in np.argwhere(silent.since > 0).tolist():
            since = int(silent.since[place, channel])
            missing = bool(silent.missing[place, channel])
            self.mark(first + place, channel, since, missing=missing)

    def put(self, channel: int, value: float) -> None:
        """Give a channel that had no value yet one in all rows: the first that came."""
        self._room.values[: self._end, channel] = value

    def until(self, row: int) -> RecentRows:
        """The rows up to one of the series, it included, at most as many as are kept."""
        stop = self._end - (self.count - 1 - row)
        start = max(stop - ROWS_KEPT, self._end - self._kept, 0)
        return RecentRows(*(column[start:stop] for column in self._room))

    def labels(self, row: int, count: int) -> list[Any]:
        """Times, or else numbers, of the last ``count`` rows up to and including one row."""
        if not self._times:
            return list(range(row + 1 - count, row + 1))
        stop = len(self._times) - (self.count - 1 - row)
        return self._times[stop - count : stop]

    def label(self, row: int) -> Any:
        """Time or number of a row; of the oldest one that is kept where it is older."""
        oldest = self.count - min(self._end, self._kept)
        return self.labels(max(row, oldest), 1)[0]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        kept = min(self._end, self._kept)
        rows = RecentRows(*(column[self._end - kept : self._end] for column in self._room))
        times = [to_json(time) for time in self._times[-kept:]] if kept else []
        return dict(zip(rows._fields, (column.copy() for column in rows), strict=True)), {
            "count": self.count,
            "times": times,
        }

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]], facts: dict[str, Any], wait: int = 0) -> Self:
        """The inverse of ``state``, for the same ``wait``."""
        rows = RecentRows(*(arrays[name] for name in RecentRows._fields))
        recent = cls(rows.values.shape[1], wait, keeps_ranges=rows.ranges.shape[1] > 0)
        times = [from_json(time) for time in facts["times"]]
        recent.add(rows, times or None)
        recent.count = int(facts["count"])
        return recent


def _room(rows: int, channels: int, *, keeps_ranges: bool) -> RecentRows:
    wide = (rows, channels)
    return RecentRows(
        np.zeros(wide),
        np.zeros(wide),
        np.zeros(wide, dtype=bool),
        np.zeros(wide, dtype=bool),
        np.zeros(rows, dtype=bool),
        np.zeros(rows, dtype=bool),
        np.zeros((rows, 3 * keeps_ranges, channels)),
    )
