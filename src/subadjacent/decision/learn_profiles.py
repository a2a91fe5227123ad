"""Learn the baseline profiles of channels from training rows.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import (
    FIELDS,
    FLAG,
    MAX_DECIMALS,
    NO_LIMIT,
    PERIOD_MARGIN,
    PERIOD_MARGIN_DIVISOR,
    PHASES,
    BaselineProfiles,
    Rows,
)
from subadjacent.decision.references import (
    BLOCK_ROWS,
    CYCLES,
    LONG_MEMORY,
    SHORT_MEMORY,
    level_before,
    phase_levels,
    same_time,
)
from subadjacent.ridge.period import SHORTEST_CHANNEL_PERIOD, channel_periods

# rows that profiles are learned from: the last ones of the longest segment
MAX_ROWS = 20_000

# a cycle must leave no more than this share of a channel's variance to be a rhythm
MAX_LEFT_SHARE = 0.5

# two or seven cycles are the cycle if the error falls to this share: a week of days
LONGER_CYCLES, MAX_LONGER_SHARE = (2, 7), 0.9


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


# least correlation of the irregular parts of a channel and its partner
MIN_CORRELATION = 0.5

# channels compared with all others at a time
CHANNELS_AT_ONCE = 512


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
