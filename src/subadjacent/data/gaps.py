"""Gaps in channels: one rule to fill them, in whole columns and row by row.

A gap takes the value before it; at the start of a segment, the first value after it. A gap of more
than ``fill_limit`` rows is long, and so is a segment without any value: what stands in such a gap
carries no information.

Shapes: B rows that arrive together, C channels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def fill(values: NDArray[Any], missing: Mask, starts: tuple[int, ...] = (0,)) -> None:
    """Fill the missing values of one column, in place; with 0 where all are missing."""
    values[missing] = 0 if missing.all() else values[_sources(missing, np.array(starts))]


def long_gaps(missing: Mask, fill_limit: int, starts: tuple[int, ...] = (0,)) -> Mask:
    """Which missing values of one column belong to a long gap."""
    # a gap ends with its segment, and one after it begins another
    begins = np.array(starts)
    ends = np.append(begins[1:], len(missing))
    first, last = missing.copy(), missing.copy()
    first[1:] &= ~missing[:-1]
    last[:-1] &= ~missing[1:]
    first[begins] = missing[begins]
    last[ends - 1] = missing[ends - 1]
    begin, end = np.flatnonzero(first), np.flatnonzero(last) + 1
    whole_segment = np.isin(begin, begins) & np.isin(end, ends)
    long = missing.copy()
    long[missing] = np.repeat((end - begin > fill_limit) | whole_segment, end - begin)
    return long


def _sources(missing: Mask, starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """For every missing row, the row whose value it takes."""
    gaps, known = np.flatnonzero(missing), np.flatnonzero(~missing)
    # with a row before all and one after all, for gaps that have no known row on that side
    n = len(missing)
    after = np.searchsorted(known, gaps)
    last_before = np.append(-1, known)[after]
    first_after = np.append(known, n)[after]
    segment = np.searchsorted(starts, gaps, side="right")
    begin, end = starts[segment - 1], np.append(starts, n)[segment]
    within = first_after < end
    return np.where(
        (last_before >= begin) | ((last_before >= 0) & ~within), last_before, first_after
    )


class FilledRows(NamedTuple):
    """Rows without NaN, and the rows each value has been missing for, (B, C) each."""

    values: Array
    gaps: NDArray[np.int64]

    def part(self, rows: slice) -> FilledRows:
        """Some of the rows."""
        return FilledRows(self.values[rows], self.gaps[rows])


class ForwardFill:
    """Fills gaps as rows arrive, from the past alone.

    Parameters
    ----------
    typical
        Stands in for a channel that has had no value yet, (C,).
    """

    def __init__(self, typical: Array) -> None:
        self.last = np.array(typical, dtype=np.float64)
        self.seen = np.zeros(len(typical), dtype=bool)
        self.gap = np.zeros(len(typical), dtype=np.int64)

    def step(self, rows: Array) -> FilledRows:
        """Fill the next rows, at least one; NaN for what is missing."""
        unknown = np.isnan(rows)
        if not unknown.any():
            gaps = np.zeros(rows.shape, dtype=np.int64)
            self.last, self.gap = rows[-1].copy(), gaps[-1]
            self.seen[:] = True
            return FilledRows(rows, gaps)
        places = np.arange(len(rows))[:, None]
        # the last row with a value; -1: one before these
        source = np.maximum.accumulate(np.where(unknown, -1, places), axis=0)
        values = np.where(source < 0, self.last, np.take_along_axis(rows, source, axis=0))
        gaps = places - source + np.where(source < 0, self.gap, 0)
        self.last, self.gap = values[-1].copy(), gaps[-1].copy()
        self.seen |= ~unknown.all(axis=0)
        return FilledRows(values, gaps)

    def first_values(self, rows: Array) -> dict[int, list[int]]:
        """Row → the channels whose first value ever it holds."""
        if self.seen.all():
            return {}
        known = ~np.isnan(rows)
        places: dict[int, list[int]] = {}
        for channel in np.flatnonzero(~self.seen & known.any(axis=0)).tolist():
            places.setdefault(int(known[:, channel].argmax()), []).append(channel)
        return dict(sorted(places.items()))

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is carried from row to row."""
        return {name: np.array(getattr(self, name)) for name in ("last", "seen", "gap")}

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """The inverse of ``state``."""
        self.last, self.seen, self.gap = saved["last"], saved["seen"], saved["gap"]


class SettledRows(NamedTuple):
    """Rows whose gaps are known to be short or long, filled as in a batch."""

    values: Array  # (B, C)
    apart: Mask  # (B,), a channel is in a long gap


class GapFiller:
    """Fills gaps as a batch does while rows arrive; rows wait for their gap's end.

    Parameters
    ----------
    typical
        Stands in for the values of long gaps, (C,).
    fill_limit
        The longest gap, in rows, that is not long.
    """

    def __init__(self, typical: Array, fill_limit: int) -> None:
        self._typical = typical
        self._fill_limit = fill_limit
        self.begin()

    def begin(self) -> None:
        """Begin a segment: no channel has had a value yet."""
        channels = len(self._typical)
        self.held = np.zeros((0, channels))
        self.last = np.full(channels, np.nan)
        self.within = np.zeros(channels, dtype=bool)  # a long gap, whose first rows were returned

    def settle(self, rows: Array, *, ends: bool = False) -> SettledRows:
        """Accept rows, NaN for missing values; return those that are settled, in order.

        ``ends`` says that no more rows of the segment follow.
        """
        if not len(self.held) and len(rows) and not np.isnan(rows).any():
            # nothing is missing, as nearly always
            self.last, self.within = rows[-1].copy(), np.zeros(len(self.last), dtype=bool)
            return SettledRows(rows, np.zeros(len(rows), dtype=bool))
        held = np.concatenate([self.held, rows])
        unknown = np.isnan(held)
        long = np.zeros(held.shape, dtype=bool)
        settled = len(held)
        for channel in np.flatnonzero(unknown.any(axis=0)).tolist():
            settled = min(settled, self._fill(held, long, channel, ends=ends))
        self.held = held[settled:].copy()
        # what is filled is not known to the rows that still wait
        self.held[unknown[settled:]] = np.nan
        if settled:
            self.within = long[settled - 1]
            self.last = np.where(self.within, self.last, held[settled - 1])
            for channel in np.flatnonzero(~long[:settled].all(axis=0) & self.within).tolist():
                # the last value before the long gap
                self.last[channel] = held[:settled, channel][~long[:settled, channel]][-1]
        values = np.where(long, self._typical, held)[:settled]
        return SettledRows(values, np.asarray(long[:settled].any(axis=1)))

    def _fill(self, held: Array, long: Mask, channel: int, *, ends: bool) -> int:
        """Fill one channel in place and mark long gaps; return the number of settled rows."""
        before = [] if np.isnan(self.last[channel]) else [self.last[channel]]
        column = np.concatenate([before, held[:, channel]])
        missing = np.isnan(column)
        known = np.flatnonzero(~missing[len(before) :])
        fill(column, missing)
        held[:, channel] = column[len(before) :]
        long[:, channel] = long_gaps(missing, self._fill_limit)[len(before) :]
        if self.within[channel]:
            long[: known[0] if len(known) else len(held), channel] = True
        last_gap = int(known[-1]) + 1 if len(known) else 0
        is_long = len(held) - last_gap > self._fill_limit or (
            not last_gap and bool(self.within[channel])
        )
        return len(held) if ends or is_long else last_gap

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is carried, as arrays."""
        return {"held": self.held, "last": self.last, "within": self.within.astype(np.float64)}

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """The inverse of ``state``."""
        self.held, self.last = np.array(saved["held"]), np.array(saved["last"])
        self.within = saved["within"].astype(bool)
