"""What each channel usually does: what the explanation of an alarm compares with.

A channel that has a cycle is compared with the same time of other cycles, one that has none with
what it did just before. What is left is its irregular part, and how far that usually goes is
learned from training rows, whatever the detector.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.ridge.period import channel_periods

# rows that say enough of what is usual: the last ones of the longest stretch
ENOUGH = 20_000
# cycles before and after a row that it is compared with
CYCLES = 3
# a cycle must explain so much of a channel's variance to be a rhythm
RHYTHMIC = 0.5
# a cycle of several is one if values are this much closer to each other then
CLOSER = 0.9
LONGER_CYCLES = (2, 3, 4, 5, 6, 7)
# rows in a block: the level before a row is the median of the blocks up to 6 before it, but for the
# one next to it
BLOCK = 20
BLOCKS_BEFORE = (2, 3, 4, 5, 6)
# the share of training rows, at either end, that lies outside what is usual
OUTSIDE = 0.025
RANGE_OUTSIDE = 0.01
# a channel goes with another if their irregular parts correlate at least so much
TOGETHER = 0.5
# channels compared with all others at a time
AT_A_TIME = 512


class Habit(NamedTuple):
    """What is usual of one channel, in the data's own units.

    Parameters
    ----------
    middle, low, high
        Median of its values, and bounds of nearly all of them.
    least, most
        The smallest and the largest value.
    cycle
        Rows in a cycle; 0 without one.
    below, above
        Where the irregular part usually lies: ``below`` is negative.
    error
        Its usual size.
    calm, moving, lively
        The mean step of the irregular part from row to row, over some rows: rarely below
        ``calm``, rarely above ``lively``.
    still, repeats
        The longest run of equal values, in rows, and the share of rows that equal the one before.
    partner
        Number of the channel whose irregular part goes with it most; -1 where none does.
    slope, apart
        How its irregular part follows the partner's, and the usual size of what is left.
    """

    middle: float
    low: float
    high: float
    least: float
    most: float
    cycle: float
    below: float
    above: float
    error: float
    calm: float
    moving: float
    lively: float
    still: float
    repeats: float
    partner: float
    slope: float
    apart: float


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """What is usual of each channel: ``table`` has one row a field of ``Habit``, (17, C)."""

    table: NDArray[np.float64]

    def of(self, channel: int) -> Habit:
        """What is usual of one channel."""
        return Habit(*self.table[:, channel].tolist())

    def each(self, name: str) -> NDArray[np.float64]:
        """One field of every channel, (C,)."""
        return np.asarray(self.table[Habit._fields.index(name)])


def learn_habits(series: TrainSeries) -> Habits:
    """What the channels of a training series usually do."""
    start, stop = max(series.stretches, key=lambda bounds: bounds[1] - bounds[0])
    values = series.values[max(start, stop - ENOUGH) : stop].astype(np.float64)
    low, middle, high = np.quantile(values, [RANGE_OUTSIDE, 0.5, 1 - RANGE_OUTSIDE], axis=0)
    cycle, irregular = _irregular(values)
    below, q16, q84, above = np.quantile(irregular, [OUTSIDE, 0.16, 0.84, 1 - OUTSIDE], axis=0)
    error = _positive((q84 - q16) / 2, irregular)
    steps = np.abs(np.diff(irregular, axis=0, prepend=irregular[:1]))
    calm, moving, lively = np.quantile(_block_means(steps), [0.005, 0.5, 0.995], axis=0)
    partner, slope, apart = _partners(irregular)
    repeats = (values[1:] == values[:-1]).mean(axis=0) if len(values) > 1 else np.ones_like(low)
    found = Habit(
        middle, low, high, values.min(axis=0), values.max(axis=0), cycle, below, above, error,
        calm, moving, lively, _longest_still(values), repeats, partner, slope, apart,
    )  # fmt: skip
    return Habits(np.stack(found))


def _positive(size: NDArray[np.float64], irregular: NDArray[np.float64]) -> NDArray[np.float64]:
    """A size that is not 0 where a channel moves at all."""
    rms = np.sqrt(np.mean(np.square(irregular), axis=0))
    return np.where(size > 0, size, rms)


def _irregular(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows in each channel's cycle, and what a cycle or the level before leaves, (T', C)."""
    rows, channels = values.shape
    against_level = values - _level_before(values)
    cycle = np.zeros(channels)
    irregular = against_level
    variance = np.var(values, axis=0)
    for channel, period in enumerate(channel_periods(values)):
        if not period:
            continue
        own = values[:, channel]
        best = period
        left = _left_of(own, best)
        for times in LONGER_CYCLES:
            if times * period > rows // 4:
                break
            longer = _left_of(own, times * period)
            if np.mean(np.square(longer)) < CLOSER**2 * np.mean(np.square(left)):
                best, left = times * period, longer
        if np.mean(np.square(left)) < (1 - RHYTHMIC) * variance[channel]:
            cycle[channel] = best
            irregular[:, channel] = left
    return cycle, irregular


def _left_of(values: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """What the same time of the cycles around leaves of each value, (T,)."""
    rows = len(values)
    most = min(CYCLES, (rows // period - 1) // 2) or 1
    shifts = [k * period for k in range(-most, most + 1) if k]
    # rows near an end are compared with cycles on the other side
    places = np.arange(rows) + np.array(shifts)[:, None]
    span = (2 * most + 1) * period
    places = np.where(places < 0, places + span, np.where(places >= rows, places - span, places))
    places = np.clip(places, 0, rows - 1)
    return np.asarray(values - np.median(values[places], axis=0))


def _level_before(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The median of the rows some way before each row, (T, C)."""
    rows = len(values)
    starts = np.arange(0, rows, BLOCK)
    blocks = np.stack([np.median(values[start : start + BLOCK], axis=0) for start in starts])
    before = np.arange(len(blocks))[:, None] - np.array(BLOCKS_BEFORE)
    # the first blocks have none before them: the ones after must do
    before = np.where(before < 0, np.arange(len(blocks))[:, None] + np.array(BLOCKS_BEFORE), before)
    level = np.median(blocks[np.clip(before, 0, len(blocks) - 1)], axis=1)
    return np.repeat(level, BLOCK, axis=0)[:rows]


def _block_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    blocks = max(len(values) // BLOCK, 1)
    size = min(BLOCK, len(values))
    return np.asarray(values[: blocks * size].reshape(blocks, size, -1).mean(axis=1))


def longest_run(values: NDArray[Any]) -> tuple[int, int]:
    """First row and length of the longest run of equal values."""
    changes = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    lengths = np.diff(np.append(changes, len(values)))
    longest = int(lengths.argmax())
    return int(changes[longest]), int(lengths[longest])


def _longest_still(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([longest_run(column)[1] for column in values.T], dtype=np.float64)


def _partners(
    irregular: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The channel that each goes with most, its slope, and what is left."""
    rows, channels = irregular.shape
    centred = irregular - irregular.mean(axis=0)
    size = np.sqrt(np.mean(np.square(centred), axis=0))
    units = centred / np.where(size > 0, size, 1)
    partner, slope, apart = np.full(channels, -1.0), np.zeros(channels), size.copy()
    for start in range(0, channels, AT_A_TIME):
        some = slice(start, min(start + AT_A_TIME, channels))
        likeness = units[:, some].T @ units / rows
        likeness[np.arange(some.stop - start), np.arange(start, some.stop)] = 0
        best = np.abs(likeness).argmax(axis=1)
        strength = likeness[np.arange(len(best)), best]
        together = np.abs(strength) >= TOGETHER
        partner[some] = np.where(together, best, -1)
        slope[some] = np.where(together, strength * size[some] / np.where(size[best] > 0, size[best], 1), 0)
        apart[some] *= np.where(together, np.sqrt(np.clip(1 - strength**2, 1e-6, None)), 1)
    return partner, slope, apart
