"""Learn the baseline profiles of channels from training rows.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import (
    CHANGE_ROWS,
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

# a level is that of the rows just before if a steady one has a range this many times as wide
MAX_STEADY_WIDTH = 1.1

# rows without a normal one after which ranges are measured once more
AGED_ROWS = 100


# least correlation of the irregular parts of a channel and its partner
MIN_CORRELATION = 0.6

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
    references = _references(values, np.clip(values, low, high), series.interval)
    irregular, aged = (
        np.column_stack([getattr(one, name) for one in references])
        for name in ("irregular", "aged")
    )
    below, above = _normal_range(irregular)
    # a range is no narrower where the last known rows are further away
    old = max(min(AGED_ROWS, len(values) // 4), 1)
    below_aged, above_aged = _normal_range(aged)
    below_drift = np.minimum(below_aged - below, 0) / old
    above_drift = np.maximum(above_aged - above, 0) / old
    q16, q84 = np.quantile(irregular, [0.16, 0.84], axis=0)
    error = _positive((q84 - q16) / 2, irregular)
    steps = np.abs(np.diff(irregular, axis=0, prepend=irregular[:1]))
    min_step, median_step, max_step = np.quantile(_block_means(steps), [0.005, 0.5, 0.995], axis=0)
    partner, slope, partner_error = _partners(irregular)
    led = irregular[:, np.maximum(partner, 0).astype(np.intp)]
    partner_below, partner_above = _normal_range(irregular - slope * led)
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
        "cycle": np.array([one.cycle for one in references]),
        "memory": np.array([one.memory for one in references]),
        "below": below,
        "above": above,
        "below_drift": below_drift,
        "above_drift": above_drift,
        "error": error,
        "min_step": min_step,
        "median_step": median_step,
        "max_step": max_step,
        "max_run": _longest_runs(values),
        "partner": partner,
        "slope": slope,
        "partner_error": partner_error,
        "partner_below": partner_below,
        "partner_above": partner_above,
    }
    templates = np.column_stack([one.template for one in references])
    numbers = [fields[name] for name in FIELDS]
    return BaselineProfiles(np.concatenate([numbers, _max_changes(values), templates]))


def _references(values: Rows, clipped: Rows, interval: float | None) -> list[_Reference]:
    """The reference of each channel; ``clipped`` are the values without their extremes."""
    detrended = _without_trend(clipped)
    periods = channel_periods(detrended)
    columns = zip(values.T, detrended.T, periods, strict=True)
    return [_reference(raw, column, period, interval) for raw, column, period in columns]


def _normal_range(irregular: Rows) -> tuple[Rows, Rows]:
    """The range of nearly all rows, (C,) each, whatever happened in two of ten parts."""
    parts = np.array_split(irregular, min(PARTS, len(irregular)))
    lows, highs = np.sort(
        [np.quantile(part, [OUTSIDE_SHARE, 1 - OUTSIDE_SHARE], axis=0) for part in parts], axis=0
    ).swapaxes(0, 1)
    place = min(WIDEST_PARTS, len(parts) - 1)
    # a trend leaves rows on one side of what is expected, and may turn
    trend = np.median(irregular, axis=0)
    low, high = lows[place] - 2 * np.maximum(trend, 0), highs[-1 - place] - 2 * np.minimum(trend, 0)
    # no range is without what was expected
    return np.minimum(low, 0), np.maximum(high, 0)


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


class _Reference(NamedTuple):
    """What a channel is compared with, and what that leaves of it: its irregular part.

    ``aged`` is what is left where no row of the last ``AGED_ROWS`` is known.
    """

    cycle: int
    memory: int
    irregular: Rows
    aged: Rows
    template: Rows


def _reference(raw: Rows, clipped: Rows, period: int | None, interval: float | None) -> _Reference:
    """The reference of a channel; ``clipped`` are its values without extremes and trend."""
    rows, none = len(raw), np.zeros(len(raw), dtype=bool)
    everything, old = slice(0, rows), max(min(AGED_ROWS, rows // 4), 1)
    cycle, template, left, aged = _cycle(clipped, period, interval), np.zeros(PHASES), raw, raw
    if cycle:
        few = CYCLES * cycle
        levels = phase_levels(raw[-few:], none[-few:], cycle)
        places = np.arange(PHASES) * (cycle / PHASES)
        template = np.interp(places, np.arange(cycle), levels, period=cycle)
        expected = same_time(raw, none, cycle, everything)[0]
        early = np.flatnonzero(np.isnan(expected))
        expected[early] = phase_levels(raw[:few], none[:few], cycle)[early % cycle]
        left = raw - expected
        aged = _aged(raw, expected, -(-old // cycle) * cycle)
    # around what a cycle leaves there is no level, or that of the rows just before
    middle = 0.0 if cycle else float(np.median(raw))
    level = level_before(left, none, everything, SHORT_MEMORY)
    if _width(left - middle) <= MAX_STEADY_WIDTH * _width(left - level):
        memory = 0 if cycle else LONG_MEMORY
        return _Reference(cycle, memory, left - middle, aged - middle, template)
    if cycle:
        # at the level of the latest cycle
        phases = np.arange(min(few, rows) - cycle, min(few, rows)) % cycle
        template += float(np.median(raw[-cycle:] - levels[phases]))
    return _Reference(cycle, SHORT_MEMORY, left - level, _aged(aged, level, old), template)


def _aged(values: Rows, expected: Rows, rows: int) -> Rows:
    """What is left of values over what was expected some rows before, at the first rows then."""
    return np.append(values[:rows] - expected[:rows], values[rows:] - expected[:-rows])


def _cycle(column: Rows, period: int | None, interval: float | None) -> int:
    """Rows in the cycle of a channel, 0 without one."""
    rows, none = len(column), np.zeros(len(column), dtype=bool)
    cycle, best = 0, MAX_LEFT_SHARE * float(np.var(column))
    for length in _possible_cycles(column, period, interval):
        left = column - same_time(column, none, length, slice(0, rows))[0]
        square = float(np.nanmean(np.square(left)))
        if square < best:
            cycle, best = length, MAX_LONGER_SHARE**2 * square
    return cycle


def _without_trend(values: Rows) -> Rows:
    """Values without the straight line that fits each channel best."""
    times = np.arange(len(values)) - (len(values) - 1) / 2
    squares = max(float(times @ times), 1.0)
    return np.asarray(values - times[:, None] * (times @ values / squares))


def _width(left: Rows) -> float:
    """The width of the normal range of what a reference leaves."""
    below, above = _normal_range(left[:, None])
    return float(above[0] - below[0])


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


def _max_changes(values: Rows) -> Rows:
    """The largest changes within ``CHANGE_ROWS``, (5, C), but for those of one of ten parts.

    Hardly any is larger than these, wherever it was.
    """
    return np.stack([_max_change(values, min(rows, len(values) - 1)) for rows in CHANGE_ROWS])


def _max_change(values: Rows, rows: int) -> Rows:
    changes = np.abs(values[rows:] - values[: len(values) - rows])
    parts = np.array_split(changes, min(PARTS, len(changes)))
    largest = np.sort([part.max(axis=0) for part in parts], axis=0)
    rare = np.quantile(changes, 1 - OUTSIDE_SHARE, axis=0)
    return np.asarray(np.maximum(largest[-1 - min(WIDEST_PARTS, len(parts) - 1)], rare))


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
