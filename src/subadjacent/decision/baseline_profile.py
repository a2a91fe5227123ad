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
from subadjacent.data.series import TrainSeries
from subadjacent.decision.references import (
    BLOCK_ROWS,
    CYCLES,
    LONG_MEMORY,
    MIN_CYCLES,
    SHORT_MEMORY,
    level_before,
    phase_levels,
    phase_of,
    same_time,
)
from subadjacent.errors import InputError
from subadjacent.ridge.period import SHORTEST_CHANNEL_PERIOD, channel_periods

# rows that profiles are learned from: the last ones of the longest segment
MAX_ROWS = 20_000
# a cycle must leave no more than this share of a channel's variance to be a rhythm
MAX_LEFT_SHARE = 0.5
# two or seven cycles are the cycle if the error falls to this share: a week of days
LONGER_CYCLES, MAX_LONGER_SHARE = (2, 7), 0.9
# a period may be off by this many rows, or by the period divided by this, at a flat maximum
PERIOD_MARGIN, PERIOD_MARGIN_DIVISOR = 2, 50
# a day and a week, in seconds: cycles that the clock tells
CLOCK_CYCLES = (86_400.0, 604_800.0)
# share of training rows at either end that is outside the expected range, or the range of values
OUTSIDE_SHARE = 0.005
OUTSIDE_RANGE_SHARE = 0.01
# the range is measured in this many parts of training; those of the widest are not counted, as
# anomalies of training may be there
PARTS, WIDEST_PARTS = 10, 1
# a channel has a short memory, its level being that of the rows just before, if a long one leaves
# this many times as much
MAX_LONG_ERROR = 1.1
# values beyond the training range by this share of it are no reference for later rows, unless an
# alarm has told that they went there
STRAY_SHARE = 0.5
# a channel whose values reach down to this share of the largest is measured from 0
MAX_ZERO = 0.1
# decimals that are looked for, and those to which a sum of them is exact; a flag has none
MAX_DECIMALS, EXACT, FLAG = 6, 6, -2.0
# phases of a cycle at which training values are kept: the hours of a week
PHASES = 168
# values of a channel without a limit
NO_LIMIT = float(np.finfo(np.float64).max)
# least correlation of the irregular parts of a channel and its partner
MIN_CORRELATION = 0.5
# channels compared with all others at a time
CHANNELS_AT_ONCE = 512


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
        Blocks before a row that its level is the median of, where it has no cycle.
    below, above
        The normal range of the irregular part: ``below`` is negative.
    error
        Its typical size.
    min_step, median_step, max_step
        The mean step of the irregular part from row to row, over some rows: rarely below
        ``min_step``, rarely above ``max_step``.
    max_run
        The longest run of equal values, in rows.
    partner
        Number of the channel whose irregular part correlates with it most; -1 without one.
    slope, partner_error
        Slope of its irregular part on the partner's, and the typical size of the residual.
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
    error: float
    min_step: float
    median_step: float
    max_step: float
    max_run: float
    partner: float
    slope: float
    partner_error: float
    template: tuple[float, ...] = ()

    def expected_range(
        self, column: NDArray[Any], left_out: NDArray[np.bool_], rows: slice
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
        """
        column = np.asarray(column, dtype=np.float64)
        left_out = left_out | self._strays(column, left_out)
        if self.cycle:
            expected, lowest, highest = self._same_time(column, left_out, rows)
            # what was so in the latest cycles is expected as well
            low = np.fmin(expected + self.below, lowest)
            high = np.fmax(expected + self.above, highest)
        else:
            expected = level_before(column, left_out, rows, int(self.memory))
            if self.memory == LONG_MEMORY:
                expected = self._steady(expected)
            low, high = expected + self.below, expected + self.above
        # without any row to compare with, the training values must do
        unknown = np.isnan(expected)
        expected[unknown], low[unknown], high[unknown] = self.median, self.low, self.high
        return self.within_limits(ExpectedRange(expected, low, high))

    def _same_time(self, column: NDArray[Any], left_out: NDArray[np.bool_], rows: slice) -> Rows:
        """Values at the same time of other cycles, (3, R); of training where there are none."""
        cycle = int(self.cycle)
        found = same_time(column, left_out, cycle, rows)
        unknown = np.flatnonzero(np.isnan(found[0]))
        if len(unknown) and self.template:
            near = slice(max(rows.stop - CYCLES * cycle, 0), max(rows.stop, MIN_CYCLES * cycle))
            levels = phase_levels(column[near], left_out[near], cycle)
            template = np.interp(
                np.arange(cycle) * (PHASES / cycle), np.arange(PHASES), self.template, period=PHASES
            )
            phase = phase_of(levels, template)
            if phase is not None:
                # a cycle need not be of whole rows: nor are the rows beside it known to the row
                beside = np.arange(-PERIOD_MARGIN, PERIOD_MARGIN + 1)[:, None]
                likely = template[(rows.start + unknown - near.start + phase + beside) % cycle]
                found[0, unknown] = likely[PERIOD_MARGIN]
                found[1:, unknown] = (
                    likely.min(axis=0) + self.below,
                    likely.max(axis=0) + self.above,
                )
        return found

    @property
    def has_ratios(self) -> bool:
        """Whether its values reach down to 0, so that twice the value is twice as much."""
        return self.floor == 0 and self.minimum <= MAX_ZERO * self.maximum

    def _steady(self, level: Rows) -> Rows:
        """The level of training, unless a channel has left its range."""
        return np.where((level >= self.low) & (level <= self.high), self.median, level)

    def within_limits(self, expected: ExpectedRange) -> ExpectedRange:
        """A range of values that the channel can have, no narrower where values are on a grid."""
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
            *(np.clip(part, self.floor, self.ceiling) for part in (expected.expected, low, high))
        )

    def _strays(self, column: NDArray[Any], left_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows far beyond the training range since when no alarm was raised."""
        margin = STRAY_SHARE * (self.maximum - self.minimum)
        beyond = (column < self.minimum - margin) | (column > self.maximum + margin)
        if not beyond.any():
            return beyond
        rows = np.arange(len(column))
        alarmed, within = (
            np.maximum.accumulate(np.where(flags, rows, -1)) for flags in (left_out, ~beyond)
        )
        return np.asarray(beyond & (alarmed < within))


FIELDS = ChannelProfile._fields[:-1]
"""Fields of a profile that are one number."""


@dataclass(frozen=True, slots=True, eq=False)
class BaselineProfiles:
    """The profile of each channel; ``table`` has a row for each field, then for each phase."""

    table: Rows

    def of(self, channel: int) -> ChannelProfile:
        """The profile of one channel."""
        values = self.table[:, channel].tolist()
        return ChannelProfile._make([*values[: len(FIELDS)], tuple(values[len(FIELDS) :])])

    def each(self, name: str) -> Rows:
        """One field of every channel, (C,)."""
        return np.asarray(self.table[FIELDS.index(name)])


def learn_entity_profiles(series: Sequence[TrainSeries]) -> PerEntity[BaselineProfiles]:
    """BaselineProfiles of every entity, and of all together for one that was never seen.

    For all together, the range of values is that of all entities; the rest is taken from the
    longest series.
    """
    own = [learn_profiles(one_series) for one_series in series]
    longest = own[max(range(len(own)), key=lambda number: len(series[number]))]
    table = longest.table.copy()
    widest = dict.fromkeys(("low", "minimum", "floor"), np.min)
    widest |= dict.fromkeys(("high", "maximum", "ceiling", "decimals"), np.max)
    for name, of_all in widest.items():
        table[FIELDS.index(name)] = of_all([profiles.each(name) for profiles in own], axis=0)
    names = [one_series.entity for one_series in series]
    named = {name: profiles for name, profiles in zip(names, own, strict=True) if name is not None}
    return PerEntity(BaselineProfiles(table), named)


def restore_profiles(
    tables: NDArray[Any], channels: int, entities: Sequence[str]
) -> PerEntity[BaselineProfiles]:
    """Restore profiles from saved tables: that of all entities together, then one an entity."""
    shape = (1 + len(entities), len(FIELDS) + PHASES, channels)
    if tables.shape != shape or not np.isfinite(tables).all():
        raise InputError(f"profiles must be finite and of shape {shape}; got {tables.shape}")
    pooled, *per_entity = map(BaselineProfiles, tables.astype(np.float64))
    partners = tables[:, FIELDS.index("partner")]
    if ((partners < -1) | (partners >= channels)).any():
        raise InputError(f"profiles must name partners from -1 to {channels - 1}")
    return PerEntity(pooled, dict(zip(entities, per_entity, strict=True)))


def learn_profiles(series: TrainSeries) -> BaselineProfiles:
    """Learn the profiles of the channels of a training series."""
    start, stop = max(series.segments, key=lambda bounds: bounds[1] - bounds[0])
    values = series.values[max(start, stop - MAX_ROWS) : stop].astype(np.float64)
    low, median, high = np.quantile(
        values, [OUTSIDE_RANGE_SHARE, 0.5, 1 - OUTSIDE_RANGE_SHARE], axis=0
    )
    cycle, memory, irregular, templates = _irregular(
        np.clip(values, low, high), values, series.interval
    )
    below, above = _normal_range(irregular)
    q16, q84 = np.quantile(irregular, [0.16, 0.84], axis=0)
    error = _positive((q84 - q16) / 2, irregular)
    steps = np.abs(np.diff(irregular, axis=0, prepend=irregular[:1]))
    min_step, median_step, max_step = np.quantile(_block_means(steps), [0.005, 0.5, 0.995], axis=0)
    partner, slope, partner_error = _partners(irregular)
    minimum, maximum = values.min(axis=0), values.max(axis=0)
    floor, ceiling, decimals = _limits(values, minimum, maximum)
    fields = {
        "median": median,
        "low": low,
        "high": high,
        "minimum": minimum,
        "maximum": maximum,
        "floor": floor,
        "ceiling": ceiling,
        "decimals": decimals,
        "cycle": cycle,
        "memory": memory,
        "below": below,
        "above": above,
        "error": error,
        "min_step": min_step,
        "median_step": median_step,
        "max_step": max_step,
        "max_run": _longest_runs(values),
        "partner": partner,
        "slope": slope,
        "partner_error": partner_error,
    }
    return BaselineProfiles(np.concatenate([[fields[name] for name in FIELDS], templates]))


def _normal_range(irregular: Rows) -> tuple[Rows, Rows]:
    """The range of nearly all rows, (C,) each, whatever happened in two of ten parts."""
    parts = np.array_split(irregular, min(PARTS, len(irregular)))
    lows, highs = np.sort(
        [np.quantile(part, [OUTSIDE_SHARE, 1 - OUTSIDE_SHARE], axis=0) for part in parts], axis=0
    ).swapaxes(0, 1)
    place = min(WIDEST_PARTS, len(parts) - 1)
    # no range is without what was expected
    return np.minimum(lows[place], 0), np.maximum(highs[-1 - place], 0)


def _limits(values: Rows, minimum: Rows, maximum: Rows) -> tuple[Rows, Rows, Rows]:
    """Floor, ceiling and decimals of each channel, (C,) each."""
    floor = np.where(minimum >= 0, 0.0, -NO_LIMIT)
    is_share = (minimum >= 0) & (maximum <= 100)
    ceiling = np.where(is_share, np.where(maximum <= 1, 1.0, 100.0), NO_LIMIT)
    is_flag = (maximum > minimum) & ((values == minimum) | (values == maximum)).all(axis=0)
    return (
        np.where(is_flag, minimum, floor),
        np.where(is_flag, maximum, ceiling),
        np.where(is_flag, FLAG, decimals_of(values)),
    )


def decimals_of(values: NDArray[Any]) -> Rows:
    """Decimals of each channel's values, (C,); -1 for more than ``MAX_DECIMALS``."""
    decimals = np.full(values.shape[1], -1.0)
    for count in range(MAX_DECIMALS, -1, -1):
        decimals[(values == np.round(values, count)).all(axis=0)] = count
    return decimals


def _positive(size: Rows, irregular: Rows) -> Rows:
    """A size that is not 0 where a channel moves at all."""
    rms = np.sqrt(np.mean(np.square(irregular), axis=0))
    return np.where(size > 0, size, rms)


def _irregular(
    clipped: Rows, values: Rows, interval: float | None
) -> tuple[Rows, Rows, Rows, Rows]:
    """Cycle, memory, irregular part and template of each channel.

    What is a cycle is told by ``clipped`` values, without the extremes.
    """
    rows, channels = values.shape
    everything, none = slice(0, rows), np.zeros(rows, dtype=bool)
    cycles, memories = np.zeros((2, channels))
    irregular, templates = np.empty_like(values), np.zeros((PHASES, channels))
    for channel, period in enumerate(channel_periods(clipped)):
        column = clipped[:, channel]
        best = MAX_LEFT_SHARE * float(np.var(column))
        for cycle in _possible_cycles(column, period, interval):
            left = column - same_time(column, none, cycle, everything)[0]
            square = float(np.nanmean(np.square(left)))
            if square < best:
                cycles[channel], best = cycle, MAX_LONGER_SHARE**2 * square
        raw, cycle = values[:, channel], int(cycles[channel])
        if cycle:
            # a cycle need not be of whole rows: only those next to each other are alike
            few = CYCLES * cycle
            levels = phase_levels(raw[-few:], none[-few:], cycle)
            places = np.arange(PHASES) * (cycle / PHASES)
            templates[:, channel] = np.interp(places, np.arange(cycle), levels, period=cycle)
            expected = same_time(raw, none, cycle, everything)[0]
            early = np.flatnonzero(np.isnan(expected))
            expected[early] = phase_levels(raw[:few], none[:few], cycle)[early % cycle]
            irregular[:, channel] = raw - expected
            continue
        short = raw - level_before(raw, none, everything, SHORT_MEMORY)
        long = raw - np.median(raw)
        is_long = _spread(long) <= MAX_LONG_ERROR * _spread(short)
        memories[channel] = LONG_MEMORY if is_long else SHORT_MEMORY
        irregular[:, channel] = long if is_long else short
    return cycles, memories, irregular, templates


def _spread(left: Rows) -> float:
    low, high = np.quantile(left, [0.16, 0.84])
    return float(high - low)


def _possible_cycles(column: Rows, period: int | None, interval: float | None) -> list[int]:
    """Cycles to test, in rows: those of the clock, and that of the data, twice and seven times."""
    most = len(column) // 4
    found = [round(seconds / interval) for seconds in CLOCK_CYCLES] if interval else []
    found = [cycle for cycle in found if cycle >= SHORTEST_CHANNEL_PERIOD]

    def is_near(cycle: int, period: int) -> bool:
        return abs(cycle - period) <= PERIOD_MARGIN + cycle // PERIOD_MARGIN_DIVISOR

    if period is not None and not any(is_near(cycle, period) for cycle in found):
        found += [times * _exact(column, period) for times in (1, *LONGER_CYCLES)]
    return sorted({cycle for cycle in found if cycle <= most})


def _exact(values: Rows, period: int) -> int:
    """The lag near a period after which values are most alike.

    A row too many or too few adds up from cycle to cycle, and no row is compared with the same
    time any more. Where only four cycles are known, the period itself was not tested.
    """
    off = max(PERIOD_MARGIN, period // PERIOD_MARGIN_DIVISOR)
    periods = range(max(period - off, 1), min(period + off, len(values) // 4) + 1)
    # as many cycles away as rows are compared with, or as there are two of
    cycles = range(1, max(min(CYCLES, len(values) // (2 * period)), 1) + 1)

    def distance(rows: int) -> float:
        lags = (rows * times for times in cycles)
        return float(np.mean([np.mean(np.square(values[lag:] - values[:-lag])) for lag in lags]))

    return min(periods, key=distance)


def _block_means(values: Rows) -> Rows:
    blocks = max(len(values) // BLOCK_ROWS, 1)
    size = min(BLOCK_ROWS, len(values))
    return np.asarray(values[: blocks * size].reshape(blocks, size, -1).mean(axis=1))


def longest_run(values: NDArray[Any]) -> tuple[int, int]:
    """First row and length of the longest run of equal values."""
    changes = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    lengths = np.diff(np.append(changes, len(values)))
    longest = int(lengths.argmax())
    return int(changes[longest]), int(lengths[longest])


def _longest_runs(values: Rows) -> Rows:
    return np.array([longest_run(column)[1] for column in values.T], dtype=np.float64)


def _partners(
    irregular: Rows,
) -> tuple[Rows, Rows, Rows]:
    """The partner of each channel, its slope, and the size of the residual."""
    rows, channels = irregular.shape
    centred = irregular - irregular.mean(axis=0)
    size = np.sqrt(np.mean(np.square(centred), axis=0))
    units = centred / np.where(size > 0, size, 1)
    partner, slope, error = np.full(channels, -1.0), np.zeros(channels), size.copy()
    for start in range(0, channels, CHANNELS_AT_ONCE):
        some = slice(start, min(start + CHANNELS_AT_ONCE, channels))
        likeness = units[:, some].T @ units / rows
        likeness[np.arange(some.stop - start), np.arange(start, some.stop)] = 0
        best = np.abs(likeness).argmax(axis=1)
        strength = likeness[np.arange(len(best)), best]
        together = np.abs(strength) >= MIN_CORRELATION
        partner[some] = np.where(together, best, -1)
        slope[some] = np.where(
            together, strength * size[some] / np.where(size[best] > 0, size[best], 1), 0
        )
        error[some] *= np.where(together, np.sqrt(np.clip(1 - strength**2, 1e-6, None)), 1)
    return partner, slope, error
