"""The rows of a file as a reader of its chart sees them: levels, cycles, steps, runs, relations.

Nothing here is the detector's: these are plain definitions of what "usual before the event" means,
so that what an alarm says can be held against the data.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DAY, WEEK = 86_400.0, 604_800.0
# rows just before an event that are its level
NEAR_ROWS = 200
# rows that a rolling level is the median of, and how far before the row they end
LEVEL_ROWS, LEVEL_GAP = 60, 5
# the latest cycles that a row is compared with, and the most
FEW_CYCLES, MANY_CYCLES = 6, 40
# least autocorrelation of a cycle that no clock tells
MIN_CYCLE = 0.3
# decimals beyond which a channel counts as not rounded
MAX_DECIMALS = 6


@dataclass(eq=False)
class Rows:
    """Rows of one series, and those that were fitted on.

    Parameters
    ----------
    values
        (T, C) as in the file; NaN where empty.
    channels
        One name a column.
    labels
        One label a row, times as a rule; row numbers if left out.
    training
        (T0, C) rows that were fitted on, before ``values``; none if they are its first rows, or
        nothing was fitted.
    events
        Rows (first, last) of all alarms, which are not compared with.
    """

    values: Floats
    channels: tuple[str, ...]
    labels: Sequence[Any] | None = None
    training: Floats | None = None
    events: Sequence[tuple[int, int]] = ()
    _cycles: dict[int, list[int]] = field(default_factory=dict)
    _expected: dict[tuple[Any, ...], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.training is None:
            self.training = self.values[:0]

    @cached_property
    def all(self) -> Floats:
        """Training rows, then those of the file."""
        return np.concatenate([self.training, self.values]).astype(np.float64)

    @cached_property
    def normal(self) -> NDArray[np.bool_]:
        """Rows of ``all`` outside every alarm."""
        normal = np.ones(len(self.all), dtype=bool)
        for first, last in self.events:
            normal[self.offset + first : self.offset + last + 1] = False
        return normal

    @property
    def offset(self) -> int:
        """The place of row 0 in ``all``."""
        return len(self.training)

    @cached_property
    def interval(self) -> float | None:
        """Seconds from row to row, where labels are times."""
        if self.labels is None or len(self.labels) < 2 or not isinstance(self.labels[0], datetime):
            return None
        times = np.array([label.timestamp() for label in self.labels])
        return float(np.median(np.diff(times)))

    def row_of(self, label: Any) -> int | None:
        """The row with this label."""
        if self.labels is None:
            return int(label) if 0 <= int(label) < len(self.values) else None
        if not hasattr(self, "_places"):
            self._places = {one: row for row, one in enumerate(self.labels)}
        return self._places.get(label)

    def column(self, channel: str) -> Floats:
        """All values of a channel, training rows first."""
        return self.all[:, self.channels.index(channel)]

    def before(self, channel: str, first: int) -> Floats:
        """Values of a channel in normal rows before an event, training included."""
        past = slice(0, self.offset + first)
        values = self.column(channel)[past][self.normal[past]]
        return values[np.isfinite(values)]

    def event(self, channel: str, first: int, last: int) -> Floats:
        """Values of a channel in an event, both ends included."""
        return self.column(channel)[self.offset + first : self.offset + last + 1]

    def decimals(self, channel: str) -> int:
        """Decimals of a channel in the file; more than MAX_DECIMALS if it is not rounded."""
        values = self.column(channel)
        values = values[np.isfinite(values)]
        # a few values tell
        for decimals in range(MAX_DECIMALS + 1):
            if np.all(
                np.abs(values - np.round(values, decimals)) <= 1e-9 * np.maximum(1, np.abs(values))
            ):
                return decimals
        return MAX_DECIMALS + 1

    # levels and cycles

    def cycles(self, channel: str) -> list[int]:
        """Rows of the cycles that the channel may have: those of the clock, and by likeness."""
        number = self.channels.index(channel)
        if number not in self._cycles:
            found = []
            if self.interval:
                found = [round(length / self.interval) for length in (DAY, WEEK)]
            values = self.column(channel)
            found += likely_cycles(values)
            self._cycles[number] = sorted(
                {cycle for cycle in found if 3 < cycle <= len(values) // 2}
            )
        return self._cycles[number]

    def same_time(self, channel: str, row: int, cycle: int, many: int, first: int) -> Floats:
        """Values at the same time of up to ``many`` cycles before an event, the latest first."""
        column, place = self.column(channel), self.offset + row
        places = place - cycle * np.arange(1, len(column) // cycle + 1)
        places = places[(places >= 0) & (places < self.offset + first)]
        places = places[self.normal[places]][:many]
        values = column[places]
        return values[np.isfinite(values)]

    def comparable(self, channel: str, row: int, first: int, *, at_this_time: bool) -> list[Floats]:
        """Sets of values that a reader may compare a row with; one that agrees is enough."""
        if at_this_time:
            return [
                values
                for cycle in self.cycles(channel)
                for many in (FEW_CYCLES, MANY_CYCLES)
                if len(values := self.same_time(channel, row, cycle, many, first)) >= 3
            ]
        past = self.before(channel, first)
        sets = [past[-NEAR_ROWS:], past]
        return [values for values in sets if len(values)]

    def expectations(self, channel: str, first: int, last: int) -> list[tuple[Floats, Floats]]:
        """Departures from what was expected: in rows before an event, and in it.

        One pair for each way to expect: the level just before, the same time of each cycle, and the
        same moved by the level of what it leaves, as by a trend. Levels are frozen when the event
        begins.
        """
        column = self.column(channel)
        start, stop = self.offset + first, self.offset + last + 1
        low = max(0, start - 5_000)
        normal = self.normal[low:start]
        cycles = self.cycles(channel)
        expected = [self.expected(channel, low, start, stop, cycle) for cycle in (0, *cycles)]
        expected += [
            level + self._level(column[low:stop] - level, low, start) for level in expected[1:]
        ]
        pairs = []
        for number, level in enumerate(expected):
            left = column[low:stop] - level
            past = left[: start - low][normal]
            past = past[np.isfinite(past)]
            if len(past) >= 50 or (number == 0 and len(past)):
                pairs.append((past, left[start - low :]))
        return pairs

    def _level(self, values: Floats, low: int, start: int) -> Floats:
        """The level before each of the rows from ``low`` on, frozen from row ``start`` on."""
        count = start - low
        past = np.where(self.normal[low:start], values[:count], np.nan)
        near = past[np.isfinite(past)][-LEVEL_ROWS:]
        frozen = np.median(near) if len(near) else np.nan
        return np.concatenate([rolling_level(past), np.full(len(values) - count, frozen)])

    def expected(self, channel: str, low: int, start: int, stop: int, cycle: int) -> Floats:
        """What a channel was expected to be in rows ``low`` to ``stop`` of ``all``, half-open.

        Of cycle 0 it is the level before each row, frozen from row ``start`` on; else the median at
        the same time of the latest cycles before that row.
        """
        key = channel, low, start, stop, cycle
        if key not in self._expected:
            column = self.column(channel)
            if cycle:
                self._expected[key] = self._cycle_level(column, low, stop, cycle, start)
            else:
                self._expected[key] = self._level(column[low:stop], low, start)
        return self._expected[key]

    def _cycle_level(self, column: Floats, low: int, stop: int, cycle: int, frozen: int) -> Floats:
        rows = np.arange(low, stop)
        places = rows - cycle * np.arange(1, 2 * FEW_CYCLES)[:, None]
        # within a long event only cycles before it
        usable = (places >= 0) & (places < frozen)
        clipped = np.clip(places, 0, len(column) - 1)
        usable &= self.normal[clipped]
        values = np.where(usable, column[clipped], np.nan)
        known = np.isfinite(values).any(axis=0)
        level = np.full(len(rows), np.nan)
        level[known] = np.nanmedian(values[:, known], axis=0)
        return level


def likely_cycles(values: Floats, most: int = 3) -> list[int]:
    """Lags at which a series is most like itself."""
    finite = np.isfinite(values)
    if finite.sum() < 30:
        return []
    filled = np.interp(np.arange(len(values)), np.flatnonzero(finite), values[finite])[-20_000:]
    low, high = np.quantile(filled, [0.01, 0.99])
    filled = np.clip(filled, low, high)
    filled = filled - np.median(filled)
    found: list[tuple[float, int]] = []
    # as it is, and without what is slow
    for window in (0, len(filled) // 8):
        left = filled - moving_mean(filled, window) if window > 10 else filled - filled.mean()
        size = 2 * len(left)
        spectrum = np.fft.rfft(left, size)
        products = np.fft.irfft(spectrum * spectrum.conj(), size)[: len(left) // 2 + 1]
        if products[0] <= 0:
            continue
        alike = products / products[0] * len(left) / (len(left) - np.arange(len(products)))
        inner = alike[1:-1]
        peaks = 1 + np.flatnonzero(
            (inner >= alike[:-2]) & (inner > alike[2:]) & (inner > MIN_CYCLE)
        )
        # beyond the first dip, or what is smooth is taken for a cycle
        dips = np.flatnonzero(alike < MIN_CYCLE / 2)
        peaks = peaks[peaks > (dips[0] if len(dips) else len(alike))]
        found += [(float(alike[peak]), int(peak)) for peak in peaks]
    found.sort(reverse=True)
    # the shortest of about the best is the cycle itself
    chosen: list[int] = []
    if found:
        good = sorted(lag for likeness, lag in found if likeness >= 0.9 * found[0][0])
        chosen = [good[0], *(lag for _, lag in found[: most - 1])]
    return chosen


def moving_mean(values: Floats, window: int) -> Floats:
    """The mean of the rows around each row."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    rows = np.arange(len(values))
    low, high = np.maximum(rows - window // 2, 0), np.minimum(rows + window // 2 + 1, len(values))
    return (sums[high] - sums[low]) / (high - low)


def rolling_level(values: Floats) -> Floats:
    """The median of rows before each row, not those next to it; of the first rows their own."""
    padded = np.concatenate([np.full(LEVEL_ROWS + LEVEL_GAP, np.nan), values])
    windows = np.lib.stride_tricks.sliding_window_view(padded, LEVEL_ROWS)[: len(values)]
    known = np.isfinite(windows).sum(axis=1) >= 10
    level = np.full(len(values), np.nanmedian(values) if np.isfinite(values).any() else 0.0)
    level[known] = np.nanmedian(windows[known], axis=1)
    return level


def longest_runs(values: Floats) -> NDArray[np.int64]:
    """Lengths of all runs of equal values, the longest first."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    changes = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    lengths = np.diff(np.append(changes, len(values)))
    # what is missing is no run
    lengths = lengths[np.isfinite(values[changes])]
    return np.sort(lengths)[::-1]


def explained(departures: Floats, usual: float) -> dict[str, float]:
    """Shares of an event's departures that simple models explain: a few rows, levels, a ramp.

    ``usual`` is the mean square of departures before, which none need explain.
    """
    left = departures[np.isfinite(departures)]
    rows = len(left)
    whole = float(np.sum(left**2)) - rows * usual
    if rows < 2 or whole <= 0:
        return {}

    def share(remains: float, used: int) -> float:
        return 1.0 - max(0.0, remains - (rows - used) * usual) / whole

    squares = np.sort(left**2)
    few = min(6, max(1, rows // 10))
    shares = {"spike": share(float(squares[:-few].sum()), few)}
    shares["level"] = share(float(np.sum((left - left.mean()) ** 2)), 1)
    if rows >= 12:
        sums = np.concatenate([[0.0], np.cumsum(left)])
        cut = np.arange(3, rows - 2)
        between = sums[cut] ** 2 / cut + (sums[-1] - sums[cut]) ** 2 / (rows - cut)
        shares["two levels"] = share(float(np.sum(left**2) - between.max()), 3)
        line = np.polyval(np.polyfit(np.arange(rows), left, 1), np.arange(rows))
        shares["ramp"] = share(float(np.sum((left - line) ** 2)), 2)
    return shares
