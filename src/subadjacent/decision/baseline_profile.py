"""Baseline profiles: what each channel does in normal rows, for the explanation of alarms.

A channel with a cycle is compared with the same time of other cycles, one without with its level
just before. The difference is its irregular part; its normal range is learned from training rows,
whatever the detector.

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
from subadjacent.decision.references import BLOCK_ROWS, CYCLES, level_before, same_time
from subadjacent.errors import InputError
from subadjacent.ridge.period import channel_periods

# rows that profiles are learned from: the last ones of the longest segment
MAX_ROWS = 20_000
# a cycle must leave no more than this share of a channel's variance to be a rhythm
MAX_LEFT_SHARE = 0.5
# two or seven cycles are the cycle if the error falls to this share: a week of days
LONGER_CYCLES, MAX_LONGER_SHARE = (2, 7), 0.9
# a period may be off by this many rows, or by the period divided by this, at a flat maximum
PERIOD_MARGIN, PERIOD_MARGIN_DIVISOR = 2, 50
# share of training rows at either end that is outside the expected range, or the range of values
OUTSIDE_SHARE = 0.025
OUTSIDE_RANGE_SHARE = 0.01
# least correlation of the irregular parts of a channel and its partner
MIN_CORRELATION = 0.5
# channels compared with all others at a time
CHANNELS_AT_ONCE = 512


class ExpectedRange(NamedTuple):
    """The expected values of rows, and the range around them, of one shape each."""

    expected: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class ChannelProfile(NamedTuple):
    """The baseline profile of one channel, in the data's own units.

    Parameters
    ----------
    median, low, high
        Median of its values, and bounds of nearly all of them.
    minimum, maximum
        The smallest and the largest value.
    cycle
        Rows in a cycle; 0 without one.
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
    """

    median: float
    low: float
    high: float
    minimum: float
    maximum: float
    cycle: float
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
        if self.cycle:
            expected = same_time(column, left_out, int(self.cycle), rows)
        else:
            expected = level_before(column, left_out, rows)
        low, high = expected + self.below, expected + self.above
        # without any row to compare with, the training values must do
        unknown = np.isnan(expected)
        expected[unknown], low[unknown], high[unknown] = self.median, self.low, self.high
        return ExpectedRange(expected, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class BaselineProfiles:
    """The profile of each channel; ``table`` has a row for each field, (16, C)."""

    table: NDArray[np.float64]

    def of(self, channel: int) -> ChannelProfile:
        """The profile of one channel."""
        return ChannelProfile(*self.table[:, channel].tolist())

    def each(self, name: str) -> NDArray[np.float64]:
        """One field of every channel, (C,)."""
        return np.asarray(self.table[ChannelProfile._fields.index(name)])


def learn_entity_profiles(series: Sequence[TrainSeries]) -> PerEntity[BaselineProfiles]:
    """BaselineProfiles of every entity, and of all together for one that was never seen.

    For all together, the range of values is that of all entities; the rest is taken from the
    longest series.
    """
    all_habits = [learn_profiles(one_series) for one_series in series]
    longest = all_habits[max(range(len(all_habits)), key=lambda number: len(series[number]))]
    table = longest.table.copy()
    for name, widest in (
        ("low", np.min),
        ("minimum", np.min),
        ("high", np.max),
        ("maximum", np.max),
    ):
        table[ChannelProfile._fields.index(name)] = widest(
            [profiles.each(name) for profiles in all_habits], axis=0
        )
    names = [one_series.entity for one_series in series]
    return PerEntity(
        BaselineProfiles(table),
        {
            name: profiles
            for name, profiles in zip(names, all_habits, strict=True)
            if name is not None
        },
    )


def restore_profiles(
    tables: NDArray[Any], channels: int, entities: Sequence[str]
) -> PerEntity[BaselineProfiles]:
    """Restore profiles from saved tables: that of all entities together, then one an entity."""
    shape = (1 + len(entities), len(ChannelProfile._fields), channels)
    if tables.shape != shape or not np.isfinite(tables).all():
        raise InputError(f"profiles must be finite and of shape {shape}; got {tables.shape}")
    pooled, *per_entity = map(BaselineProfiles, tables.astype(np.float64))
    partners = tables[:, ChannelProfile._fields.index("partner")]
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
    cycle, irregular = _irregular(values)
    below, q16, q84, above = np.quantile(
        irregular, [OUTSIDE_SHARE, 0.16, 0.84, 1 - OUTSIDE_SHARE], axis=0
    )
    error = _positive((q84 - q16) / 2, irregular)
    steps = np.abs(np.diff(irregular, axis=0, prepend=irregular[:1]))
    min_step, median_step, max_step = np.quantile(_block_means(steps), [0.005, 0.5, 0.995], axis=0)
    partner, slope, partner_error = _partners(irregular)
    fields = {
        "median": median,
        "low": low,
        "high": high,
        "minimum": values.min(axis=0),
        "maximum": values.max(axis=0),
        "cycle": cycle,
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
    return BaselineProfiles(np.stack([fields[name] for name in ChannelProfile._fields]))


def _positive(size: NDArray[np.float64], irregular: NDArray[np.float64]) -> NDArray[np.float64]:
    """A size that is not 0 where a channel moves at all."""
    rms = np.sqrt(np.mean(np.square(irregular), axis=0))
    return np.where(size > 0, size, rms)


def _irregular(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows in each channel's cycle, 0 without one, and its irregular part."""
    rows, channels = values.shape
    everything, none = slice(0, rows), np.zeros(rows, dtype=bool)
    cycles, irregular = np.zeros(channels), np.empty_like(values)
    for channel, period in enumerate(channel_periods(values)):
        column = values[:, channel]
        if period is not None:
            period = _exact(column, period)
        left = column - level_before(column, none, everything)
        best = MAX_LEFT_SHARE * float(np.var(column))
        for times in (1, *LONGER_CYCLES):
            if period is None or times * period > rows // 4:
                break
            of_cycle = column - same_time(column, none, times * period, everything)
            square = float(np.mean(np.square(of_cycle)))
            if square < best:
                cycles[channel], left, best = times * period, of_cycle, MAX_LONGER_SHARE**2 * square
        irregular[:, channel] = left
    return cycles, irregular


def _exact(values: NDArray[np.float64], period: int) -> int:
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


def _block_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    blocks = max(len(values) // BLOCK_ROWS, 1)
    size = min(BLOCK_ROWS, len(values))
    return np.asarray(values[: blocks * size].reshape(blocks, size, -1).mean(axis=1))


def longest_run(values: NDArray[Any]) -> tuple[int, int]:
    """First row and length of the longest run of equal values."""
    changes = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    lengths = np.diff(np.append(changes, len(values)))
    longest = int(lengths.argmax())
    return int(changes[longest]), int(lengths[longest])


def _longest_runs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([longest_run(column)[1] for column in values.T], dtype=np.float64)


def _partners(
    irregular: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
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
