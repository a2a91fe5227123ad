"""Baseline profiles: what each channel does in normal rows, for the explanation of alarms.

A channel with a cycle is compared with the same time of other cycles, one without with its level
before. The difference is its irregular part; its normal range is learned from training rows,
whatever the detector. The expected range of a row is the same in sentences and in charts.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.decision.references import (
    BLOCK_ROWS,
    CYCLES,
    LONG_MEMORY,
    MIN_CYCLES,
    SHORT_MEMORY,
    level_before,
    phase_levels,
    phase_of,
    rows_since,
    same_time,
)
from subadjacent.errors import InputError

# values beyond the training range by this share of it are no reference for later rows, unless an
# alarm has told that they went there
STRAY_SHARE = 0.5
# a range that widens reaches this share of the training range to either side
MAX_WIDENED = 0.5
# a channel whose values reach down to this share of the largest is measured from 0
MAX_ZERO = 0.1
# a period may be off by this many rows, or by the period divided by this, at a flat maximum
PERIOD_MARGIN, PERIOD_MARGIN_DIVISOR = 2, 50
# decimals that are looked for, and those to which a sum of them is exact; a flag has none
MAX_DECIMALS, EXACT, FLAG = 6, 6, -2.0
# phases of a cycle at which training values are kept: the hours of a week
PHASES = 168
# rows within which changes of values are compared
CHANGE_ROWS = (1, 2, 4, 8, 16)
# values of a channel without a limit
NO_LIMIT = float(np.finfo(np.float64).max)


Rows = NDArray[np.float64]


class ExpectedRange(NamedTuple):
    """The expected values of rows, and the range around them, of one shape each."""

    expected: Rows
    low: Rows
    high: Rows


class ChannelProfile(NamedTuple):
    """The baseline profile of one channel, in the data's own units.

    Parameters
    ----------
    median, low, high
        Median of its values, and bounds of nearly all of them.
    minimum, maximum
        The smallest and the largest value.
    floor, ceiling
        Limits that its values cannot pass: 0 for one that was never negative, 100 or 1 for a share.
    decimals
        Decimals of its values; -1 if it has more than a person would read, -2 for a flag, which has
        two values.
    cycle
        Rows in a cycle; 0 without one.
    memory
        ``SHORT_MEMORY`` for a channel that wanders: its level is that of the blocks before a row.
        ``LONG_MEMORY`` for one at the median of training, and 0 for one at the level of its cycle.
    below, above
        The normal range of the irregular part: ``below`` is negative.
    below_drift, above_drift
        By how much that range widens with every row since the last normal one, whose level is the
        last that is known: ``below_drift`` is not positive.
    error
        Its typical size.
    min_step, median_step, max_step
        The mean step of the irregular part from row to row, over some rows: rarely below
        ``min_step``, rarely above ``max_step``.
    max_run
        The longest run of equal values, in rows.
    partner
        Number of the channel whose irregular part correlates with it most; -1 without one.
    slope, partner_error, partner_below, partner_above
        Slope of its irregular part on the partner's, and the typical size and the normal range of
        the residual.
    max_changes
        The largest normal change of its values within each of ``CHANGE_ROWS``.
    template
        Its values in a cycle, at ``PHASES`` phases; zeros without one.
    """

    median: float
    low: float
    high: float
    minimum: float
    maximum: float
    floor: float
    ceiling: float
    decimals: float
    cycle: float
    memory: float
    below: float
    above: float
    below_drift: float
    above_drift: float
    error: float
    min_step: float
    median_step: float
    max_step: float
    max_run: float
    partner: float
    slope: float
    partner_error: float
    partner_below: float
    partner_above: float
    max_changes: tuple[float, ...]
    template: tuple[float, ...] = ()

    def expected_range(
        self,
        column: NDArray[Any],
        left_out: NDArray[np.bool_],
        rows: slice,
        *,
        follows_shifts: bool = True,
    ) -> ExpectedRange:
        """Expected values and the range around them at some rows of a segment.

        Parameters
        ----------
        column
            The channel's values in the whole segment.
        left_out
            Rows of the segment that are not normal.
        rows
            The rows wanted.
        follows_shifts
            Whether a level that has lasted since an alarm is expected, of a channel that does not
            wander.
        """
        column = np.asarray(column, dtype=np.float64)
        left_out = left_out | self._strays(column, left_out)
        age = rows_since(~left_out, rows)
        most = MAX_WIDENED * (self.maximum - self.minimum)
        below = np.maximum(self.below + age * self.below_drift, min(-most, self.below))
        above = np.minimum(self.above + age * self.above_drift, max(most, self.above))
        if self.cycle:
            expected, lowest, highest = self._in_cycle(column, left_out, rows, follows_shifts)
            # what was so in the latest cycles is expected as well
            low = np.fmin(expected + below, lowest)
            high = np.fmax(expected + above, highest)
        else:
            expected = level_before(column, left_out, rows, SHORT_MEMORY)
            if self.memory == LONG_MEMORY:
                # the level of training, unless the channel has left its range
                is_known = (expected >= self.low) & (expected <= self.high) | (not follows_shifts)
                expected = np.where(is_known | np.isnan(expected), self.median, expected)
            low, high = expected + below, expected + above
        # without any row to compare with, the training values must do
        unknown = np.isnan(expected)
        expected[unknown], low[unknown], high[unknown] = self.median, self.low, self.high
        # what normal rows have passed is no limit
        normal = ~left_out[: rows.stop]
        below_floor, above_ceiling = (
            np.logical_or.accumulate(passed[: rows.stop] & normal)[rows]
            for passed in (column < self.floor, column > self.ceiling)
        )
        return self.within_limits(
            ExpectedRange(expected, low, high),
            np.where(below_floor, -NO_LIMIT, self.floor),
            np.where(above_ceiling, NO_LIMIT, self.ceiling),
        )

    def _in_cycle(
        self,
        column: NDArray[Any],
        left_out: NDArray[np.bool_],
        rows: slice,
        follows_shifts: bool,
    ) -> Rows:
        """Expected value, lowest and highest at the same time of other cycles, (3, R).

        Of training where the segment has none before. All follow the level of the irregular part.
        """
        # whole blocks, as many as the level is the median of, before the latest normal row
        normal = np.flatnonzero(~left_out[: rows.start + 1])
        latest = int(normal[-1]) if len(normal) else 0
        begin = BLOCK_ROWS * max(latest // BLOCK_ROWS - SHORT_MEMORY - 1, 0)
        seen = slice(begin, rows.stop)
        wanted = slice(rows.start - begin, rows.stop - begin)
        own = same_time(column, left_out, int(self.cycle), seen)
        found = self._at_level(own, column, left_out, begin, wanted, follows_shifts)
        unknown = np.isnan(found[0])
        if unknown.any() and self.template:
            # in their cycles, and in those just before, of which the level is
            cycle = int(self.cycle)
            before = np.arange(0, BLOCK_ROWS * (SHORT_MEMORY + 2) + cycle, cycle)
            needed = np.flatnonzero(np.isnan(own[0])) + begin - before[:, None]
            cycles = np.unique(np.maximum(needed, begin) // cycle).tolist()
            likely = self._of_training(column, left_out, seen, cycles)
            moved = self._at_level(likely, column, left_out, begin, wanted, follows_shifts)
            # without a level before, that of training
            likely = np.where(np.isnan(moved), likely[:, wanted], moved)
            found[:, unknown] = likely[:, unknown]
        return found

    def _at_level(
        self,
        found: Rows,
        column: NDArray[Any],
        left_out: NDArray[np.bool_],
        begin: int,
        rows: slice,
        follows_shifts: bool,
    ) -> Rows:
        """Reference values from row ``begin`` on, moved by the level of what they leave.

        Where that has none in training, only if it has left its range.
        """
        if not (self.memory or follows_shifts):
            return found[:, rows]
        stop = begin + found.shape[1]
        irregular, left_out = column[begin:stop] - found[0], left_out[begin:stop]
        if not self.memory:
            beyond = (irregular < self.below) | (irregular > self.above)
            left_out = left_out | _untold(beyond, left_out)
        level = level_before(irregular, left_out, rows, SHORT_MEMORY)
        if not self.memory:
            is_known = (level >= self.below) & (level <= self.above)
            level = np.where(is_known | np.isnan(level), 0.0, level)
        return np.asarray(found[:, rows] + level)

    def _of_training(
        self, column: NDArray[Any], left_out: NDArray[np.bool_], rows: slice, cycles: list[int]
    ) -> Rows:
        """Likely value, lowest and highest in training in some cycles of rows, (3, R), else NaN.

        The phase of a cycle is that of the latest ones before it, of the first ones their own.
        """
        cycle = int(self.cycle)
        template = np.interp(
            np.arange(cycle) * (PHASES / cycle), np.arange(PHASES), self.template, period=PHASES
        )
        # a cycle need not be of whole rows: nor are the rows beside it known to the row
        beside = np.arange(-PERIOD_MARGIN, PERIOD_MARGIN + 1)[:, None]
        found = np.full((3, rows.stop - rows.start), np.nan)
        phase = None
        for number in cycles:
            for latest in range(number, -1, -1):
                near = slice(max(latest - CYCLES, 0) * cycle, max(latest, MIN_CYCLES) * cycle)
                levels = phase_levels(column[near], left_out[near], cycle)
                found_phase = phase_of(levels, template)
                phase = phase if found_phase is None else found_phase
                if phase is not None:
                    break
            if phase is not None:
                own = slice(max(number * cycle, rows.start), min((number + 1) * cycle, rows.stop))
                likely = template[(np.arange(own.start, own.stop) + phase + beside) % cycle]
                found[:, own.start - rows.start : own.stop - rows.start] = [
                    likely[PERIOD_MARGIN],
                    likely.min(axis=0) + self.below,
                    likely.max(axis=0) + self.above,
                ]
        return found

    @property
    def has_ratios(self) -> bool:
        """Whether its values reach down to 0, so that twice the value is twice as much."""
        return self.floor == 0 and self.minimum <= MAX_ZERO * self.maximum

    def within_limits(
        self, expected: ExpectedRange, floor: Rows | None = None, ceiling: Rows | None = None
    ) -> ExpectedRange:
        """A range of values that the channel can have, no narrower where values are on a grid.

        The limits of each row are those of the profile unless given.
        """
        floor = np.asarray(self.floor) if floor is None else floor
        ceiling = np.asarray(self.ceiling) if ceiling is None else ceiling
        low, high = expected.low, expected.high
        if self.decimals == FLAG:
            low = np.where(low < self.maximum, self.minimum, self.maximum)
            high = np.where(high > self.minimum, self.maximum, self.minimum)
        elif self.decimals >= 0:
            # as the file writes them: a value on the edge is within
            unit = 10.0**self.decimals
            low = np.floor(np.round(low * unit, EXACT)) / unit
            high = np.ceil(np.round(high * unit, EXACT)) / unit
        return ExpectedRange(
            *(np.clip(part, floor, ceiling) for part in (expected.expected, low, high))
        )

    def _strays(self, column: NDArray[Any], left_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows beyond the training range, far if it wanders, since when no alarm was raised."""
        if not self.cycle and self.memory == LONG_MEMORY:
            return _untold((column < self.low) | (column > self.high), left_out)
        margin = STRAY_SHARE * (self.maximum - self.minimum)
        beyond = (column < self.minimum - margin) | (column > self.maximum + margin)
        return _untold(beyond, left_out)


def _untold(beyond: NDArray[np.bool_], left_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows beyond some range since when no alarm was raised."""
    if not beyond.any():
        return beyond
    rows = np.arange(len(beyond))
    alarmed, within = (
        np.maximum.accumulate(np.where(flags, rows, -1)) for flags in (left_out, ~beyond)
    )
    return np.asarray(beyond & (alarmed < within))


FIELDS = ChannelProfile._fields[:-2]
"""Fields of a profile that are one number."""
NUMBERS = len(FIELDS) + len(CHANGE_ROWS)
"""Numbers of a profile without its template."""


@dataclass(frozen=True, slots=True, eq=False)
class BaselineProfiles:
    """The profile of each channel; ``table`` has a row for each number of a ``ChannelProfile``."""

    table: Rows

    def of(self, channel: int) -> ChannelProfile:
        """The profile of one channel."""
        values = self.table[:, channel].tolist()
        changes, template = tuple(values[len(FIELDS) : NUMBERS]), tuple(values[NUMBERS:])
        return ChannelProfile._make([*values[: len(FIELDS)], changes, template])

    def each(self, name: str) -> Rows:
        """One field of every channel, (C,)."""
        return np.asarray(self.table[FIELDS.index(name)])


def restore_profiles(
    tables: NDArray[Any], channels: int, entities: Sequence[str]
) -> PerEntity[BaselineProfiles]:
    """Restore profiles from saved tables: that of all entities together, then one an entity."""
    shape = (1 + len(entities), NUMBERS + PHASES, channels)
    if tables.shape != shape or not np.isfinite(tables).all():
        raise InputError(f"profiles must be finite and of shape {shape}; got {tables.shape}")
    pooled, *per_entity = map(BaselineProfiles, tables.astype(np.float64))
    partners = tables[:, FIELDS.index("partner")]
    if ((partners < -1) | (partners >= channels)).any():
        raise InputError(f"profiles must name partners from -1 to {channels - 1}")
    return PerEntity(pooled, dict(zip(entities, per_entity, strict=True)))
