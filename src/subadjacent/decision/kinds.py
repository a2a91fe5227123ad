"""Kinds of departure: how a channel's values in an event differ from its expected range.

Simple models are fitted to what a person sees on a chart of the channel: its values over its
expected range. The kind is that of the simplest model that explains most of the departure, whatever
view raised the alarm. The sizes were chosen on generated plants (reproduce/log.md, "Kinds of
departure").

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import (
    ChannelProfile,
    ExpectedRange,
    decimals_of,
    longest_run,
)
from subadjacent.decision.references import BLOCK_ROWS

Array = NDArray[np.float64]

SPIKE = "spike"
OUT_OF_RANGE = "out of range"
LEVEL_SHIFT = "level shift (permanent)"
RETURN = "return"
DRIFT = "drift"
STUCK = "stuck"
HIGHER_VARIANCE = "higher variance"
LOWER_VARIANCE = "lower variance"
UNUSUAL_SHAPE = "unusual shape"
DECOUPLED = "decoupled"
MISSING = "missing"
# none of these: only the view that raised the alarm describes it
UNUSUAL = "unusual"
KINDS = (
    SPIKE, OUT_OF_RANGE, LEVEL_SHIFT, RETURN, DRIFT, STUCK, HIGHER_VARIANCE, LOWER_VARIANCE,
    UNUSUAL_SHAPE, DECOUPLED, MISSING, UNUSUAL,
)  # fmt: skip
# kinds of which a departure to one side and then to the other is told in order
TOLD_IN_ORDER = (SPIKE, OUT_OF_RANGE)

# kinds whose rows are those in which the channel is out of range
MOVES = (SPIKE, OUT_OF_RANGE, LEVEL_SHIFT, RETURN, DRIFT)

# rows before and after an event that are examined, at most: a drift begins long before it is found
ROWS_BEFORE, ROWS_AFTER = 300, 100
# rows beside an event that may belong to it, for scores are averages over rows
ROWS_BESIDE = 30
# a channel that is missing in this share of an event's rows is said to be, whatever else it did
MIN_SILENT_SHARE = 0.3
# share of the departure that a model must explain: one that is wrong explains less of it
MIN_EXPLAINED = 0.5
# the same where another kind would do as well
CLEARLY = 0.8
# share of it that the second of two levels must explain by itself
MIN_SECOND = 0.15
# a level explains eight ninths of a ramp: a ramp must explain this many times as much
MIN_RAMP_GAIN = 1.01
# least share of new in a row where a channel varies more: noise of which a row keeps four fifths
MIN_QUICK = 0.2
# the spread of the mean step of many rows, at least, in that of a block
MIN_SPREAD = 0.5
# places between which steps and ramps are sought
PLACES = 64
# rows that a spike lasts at most, and its least distance from the rows around it, in median steps
MAX_SPIKE_ROWS, MIN_SPIKE_STEPS = 6, 5.0
# rows to either side whose median is where a row without a spike would be
SPIKE_MEDIAN_ROWS = 10
# share of the departure that a spike makes up, or else
MIN_SPIKE_SHARE = 0.9
# a row beside a spike is no further away than this many typical sizes
MAX_BESIDE_SPIKE = 3.0
# the longest run of equal values of a channel that never flatlines, and the run by which it is
# stuck. Of the normal rows of four data sets 86 of 700,000 are in such runs; of channels that have
# flatlined before, a tenth (reproduce/log.md, "Kinds of departure")
MAX_NORMAL_RUN, MIN_STUCK_ROWS = 5, 20
# the level departs if this share of the event's rows is beyond the training range
MIN_PAST_SHARE = 0.3
# rows that are out, or beyond the training range, to rule out chance
MIN_OUT_ROWS = 5
# share of the width of its range by which a row is far out of it
MIN_FAR = 0.25
# a departure begins where this many of this many rows in a row are out: a single one is chance
ONSET_ROWS, ONSET_WITHIN = 3, 5
# fewest rows of a ramp
MIN_RAMP_ROWS = 20
# share of the move that remains after a permanent level shift
MIN_STAY_SHARE = 0.5
# parts of the rows after an event that must all tell that the level stays
QUARTERS = 4
# share of the largest move that is the unit of a channel that never moved
MIN_UNIT_SHARE = 1e-3
# how many times as far the relation departs as the channel itself where two channels decouple
MIN_RELATION_RATIO = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class ChannelEvent:
    """One channel in an event of a segment.

    Parameters
    ----------
    column, left_out
        Values of the whole segment, and its rows that are not normal.
    profile
        The channel's profile, learned from training rows.
    first, last
        The event, half-open.
    missing
        Rows of the segment where it is missing for long, if there are any.
    permanent
        Whether the series is known not to come back from the event.
    """

    column: NDArray[Any]
    left_out: NDArray[np.bool_]
    profile: ChannelProfile
    first: int
    last: int
    missing: NDArray[np.bool_] | None = None
    permanent: bool = False

    @property
    def rows(self) -> slice:
        """The examined rows: as many before the event as it has."""
        before = min(max(self.last - self.first, ROWS_BESIDE), ROWS_BEFORE)
        return slice(max(self.first - before, 0), min(self.last + ROWS_AFTER, len(self.column)))

    @property
    def here(self) -> slice:
        """The event, among the examined rows."""
        return slice(self.first - self.rows.start, self.last - self.rows.start)

    @property
    def beside(self) -> slice:
        """The event and the rows beside it, among the examined rows."""
        return slice(max(self.here.start - ROWS_BESIDE, 0), self.here.stop + ROWS_BESIDE)

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the examined rows."""
        return np.asarray(self.column[self.rows], dtype=np.float64)

    def expected_range(self) -> ExpectedRange:
        """Expected values at the examined rows, and the range around them."""
        return self.profile.expected_range(self.column, self.left_out, self.rows)


@dataclass(frozen=True, slots=True)
class Departure:
    """How a channel departed in an event.

    ``row`` is the row of the segment where it was furthest out of its range, or else from
    ``expected``; ``low`` and ``high`` are the expected range there. ``turns`` are the rows where it
    went furthest to either side, in order: ``row`` is among them. ``onset`` and ``end`` are the
    first and the last row where it was out, if it ``is_out`` in any. ``lasted`` counts the rows in
    which it was out or, where it was stuck or missing, those. ``size`` is the measure of kinds
    without a value: the mean step from row to row or the departure, in units of the normal one, or
    the distance of a spike from the rows around it.
    """

    kind: str
    row: int
    expected: float
    low: float
    high: float
    turns: tuple[int, ...]
    onset: int
    end: int
    is_out: bool
    lasted: int
    size: float

    def later(self, rows: int) -> Departure:
        """The departure in rows of the series, whose segment begins at a later row."""
        return replace(
            self,
            row=self.row + rows,
            turns=tuple(turn + rows for turn in self.turns),
            onset=self.onset + rows,
            end=self.end + rows,
        )


def depart(event: ChannelEvent, partner: ChannelEvent | None = None) -> Departure:
    """How a channel departed in an event; ``partner`` is its partner channel."""
    chart = _Chart.of(event, event.expected_range(), event.profile.error)
    given = None if partner is None else chart.given(event, partner)
    signs = _Signs.of(event, chart, given)
    kind = _kind(event, chart, signs, given)
    if kind == DECOUPLED and given is not None:
        chart = given
    turns = chart.turns(event.here, kind)
    if kind == STUCK:
        turns = [max(event.beside.start + signs.run_row, event.here.start)]
    elif kind == SPIKE and signs.spike is not None:
        rows = slice(
            max(signs.spike.start, event.here.start), min(signs.spike.stop, event.here.stop)
        )
        turns = chart.turns(rows, kind)
    row = max(turns, key=chart.distance)
    out = event.beside.start + chart.out(event.beside, kind)
    if kind == SPIKE and signs.spike is not None:
        onset, end = signs.spike.start, signs.spike.stop - 1
    elif len(out):
        onset, end = _onset(out), -_onset(-out[::-1])
    else:
        onset, end = event.here.start, event.here.stop - 1
    lasted = {STUCK: signs.run, MISSING: signs.missing}.get(kind, end + 1 - onset)
    size = signs.steps
    if kind == UNUSUAL_SHAPE:
        size = _rms(chart.sizes[event.here])
    elif kind == SPIKE:
        size = float(signs.jumps[row])
    start = event.rows.start
    return Departure(
        kind,
        start + row,
        float(chart.range.expected[row]),
        float(chart.range.low[row]),
        float(chart.range.high[row]),
        tuple(start + turn for turn in turns),
        start + onset,
        start + end,
        len(out) > 0,
        lasted,
        size,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Chart:
    """A channel over its expected range: values, (R,), and how far they are out of it.

    ``sizes`` are in typical sizes of the irregular part; ``beyond`` is 0 within the range.
    """

    values: Array
    range: ExpectedRange
    sizes: Array
    beyond: Array

    @classmethod
    def of(cls, event: ChannelEvent, expected: ExpectedRange, unit: float) -> _Chart:
        values, (middle, low, high) = event.values, expected
        if event.missing is not None:
            # what stands in for a missing value was not seen
            values = np.where(event.missing[event.rows], middle, values)
        beyond = np.maximum(values - high, 0) + np.minimum(values - low, 0)
        return cls(values, expected, (values - middle) / _unit(unit, values - middle), beyond)

    def given(self, event: ChannelEvent, partner: ChannelEvent) -> _Chart | None:
        """The chart over what the partner's values lead to expect; None if they depart."""
        profile, own = event.profile, partner.expected_range()
        moves = profile.slope * (partner.values - own.expected)
        outside = (partner.values < own.low) | (partner.values > own.high)
        if np.mean(outside[event.here]) > MIN_PAST_SHARE:
            return None
        # a range as wide as the relation normally varies
        share = profile.partner_error / _unit(profile.error, self.values - self.range.expected)
        center = self.range.expected + moves
        edges = center + share * profile.below, center + share * profile.above
        expected = profile.within_limits(ExpectedRange(center, *edges))
        return _Chart.of(event, expected, profile.partner_error)

    def distance(self, row: int) -> tuple[float, float]:
        """How far out of its range a row is, and how far from what was expected."""
        return abs(float(self.beyond[row])), abs(float(self.sizes[row]))

    def out(self, rows: slice, kind: str) -> NDArray[np.intp]:
        """Which rows are out of range or, of a kind that is no move, far out of it."""
        least = 0.0 if kind in MOVES else MIN_FAR * (self.range.high - self.range.low)[rows]
        return np.flatnonzero(np.abs(self.beyond[rows]) > least)

    def turns(self, rows: slice, kind: str) -> list[int]:
        """Rows furthest out of range on either side, in order; else that furthest from expected.

        Both sides are told if each makes up a share of what is out of range.
        """
        beyond = self.beyond[rows]
        squares = [
            float(np.sum(np.square(side)))
            for side in (np.minimum(beyond, 0), np.maximum(beyond, 0))
        ]
        if not any(squares):
            return [rows.start + int(np.abs(self.sizes[rows]).argmax())]
        sides = [beyond.argmin(), beyond.argmax()]
        weaker = MIN_SECOND if kind in TOLD_IN_ORDER else 1.0
        return sorted(
            rows.start + int(row)
            for row, square in zip(sides, squares, strict=True)
            if square > weaker * sum(squares) or square == max(squares)
        )


@dataclass(frozen=True, slots=True)
class _Signs:
    """Measures of an event that tell kinds apart; rows are those of the event and beside it."""

    missing: int
    run: int  # the longest run of equal values
    run_row: int  # the first of them
    out: int  # rows out of the expected range
    side: float  # 1 or -1 if they are all on one side
    past: int  # rows beyond all that was seen in training
    spike: slice | None  # the few rows that make up the departure
    is_quick: bool  # whether it comes and goes from row to row
    jumps: Array  # how far each row stands from the median of the rows around it
    steps: float  # the mean step from row to row, in units of the median one

    @classmethod
    def of(cls, event: ChannelEvent, chart: _Chart, given: _Chart | None) -> _Signs:
        profile, here, beside = event.profile, event.here, event.beside
        irregular = chart.values - chart.range.expected
        step = _unit(profile.median_step, np.diff(irregular))
        values, beyond = chart.values[beside], chart.beyond[beside]
        jumps = _from_around(irregular)
        spike = _spike(event, jumps, step, chart, given)
        moves = np.diff(irregular[max(here.start - 1, 0) : here.stop])
        run_row, run = longest_run(values)
        sides = np.sign(beyond[beyond != 0])
        return cls(
            missing=0
            if event.missing is None
            else int(event.missing[event.first : event.last].sum()),
            run=run,
            run_row=run_row,
            out=len(sides),
            side=float(sides.mean()) if len(sides) else 0.0,
            past=int(((values < profile.minimum) | (values > profile.maximum)).sum()),
            spike=spike,
            is_quick=bool(np.mean(np.square(moves)) > 2 * MIN_QUICK * np.var(irregular[here]))
            if len(moves)
            else False,
            jumps=jumps,
            steps=float(np.abs(moves).mean() / step) if len(moves) else 1.0,
        )


def _spike(
    event: ChannelEvent, jumps: Array, step: float, chart: _Chart, given: _Chart | None
) -> slice | None:
    """The few rows that a departure is made up of, if it is; among them are some that jumped."""
    rows, jumped = event.beside, np.abs(jumps) > MIN_SPIKE_STEPS * step
    places = rows.start + np.flatnonzero(jumped[rows])
    if not len(places):
        return None
    first, last = int(places[0]), int(places[-1]) + 1
    if last - first > MAX_SPIKE_ROWS:
        # others jump as well: what counts is how much of all jumps a few rows are
        squares = np.append(0.0, np.cumsum(np.square(jumps[rows])))
        few = squares[MAX_SPIKE_ROWS:] - squares[:-MAX_SPIKE_ROWS]
        if few.max() < MIN_SPIKE_SHARE * squares[-1]:
            return None
        first = rows.start + int(few.argmax())
        last = first + MAX_SPIKE_ROWS
    among = first + np.flatnonzero(jumped[first:last])
    if not len(among) or among[-1] < event.here.start or among[0] >= event.here.stop:
        return None
    spike = slice(int(among[0]), int(among[-1]) + 1)
    for sizes in (chart.sizes, chart.sizes if given is None else given.sizes):
        beside = np.append(sizes[rows.start : spike.start], sizes[spike.stop : rows.stop])
        most = float(np.quantile(np.abs(beside), 0.9)) if len(beside) else 0.0
        share = np.sum(np.square(sizes[spike])) / max(np.sum(np.square(sizes[rows])), 1.0)
        if most > MAX_BESIDE_SPIKE and share < MIN_SPIKE_SHARE:
            return None
    return spike


def _kind(event: ChannelEvent, chart: _Chart, signs: _Signs, given: _Chart | None) -> str:
    profile, lasted = event.profile, event.last - event.first
    if signs.missing > MIN_SILENT_SHARE * lasted:
        return MISSING
    if signs.run >= max(lasted / 2, min_stuck_rows(profile, event.column)):
        return STUCK
    if signs.spike is not None:
        return SPIKE
    # the mean step of fewer rows varies more, that of more rows less
    spread = np.sqrt(BLOCK_ROWS / lasted)
    varies_more = signs.is_quick and (signs.steps - 1) * profile.median_step > max(spread, 1) * (
        profile.max_step - profile.median_step
    )
    # half a cycle is on one side as well, and stays within the training range
    within = profile.cycle > 0 and signs.past < MIN_OUT_ROWS
    is_past = signs.past > MIN_PAST_SHARE * lasted and abs(signs.side) > MIN_EXPLAINED
    least = CLEARLY if varies_more or within else MIN_EXPLAINED
    fit = _Fit.of(event, chart)
    moved = signs.out >= MIN_OUT_ROWS and (is_past or fit.explained > least)
    if given is not None and not is_past and _is_decoupled(event, chart, given):
        # what the relation leaves is a move of this channel alone if it is a plain one
        moved &= signs.out > MIN_PAST_SHARE * lasted and _Fit.of(event, given).explained > CLEARLY
        if not moved:
            return DECOUPLED
    if moved and not (within and fit.rows < profile.cycle):
        return _move(event, fit)
    if varies_more:
        return HIGHER_VARIANCE
    least = max(spread, MIN_SPREAD) * (profile.median_step - profile.min_step)
    if (1 - signs.steps) * profile.median_step > least:
        return LOWER_VARIANCE
    return UNUSUAL_SHAPE if signs.out >= MIN_OUT_ROWS else UNUSUAL


def _move(event: ChannelEvent, fit: _Fit) -> str:
    """The kind of a departure that is a level or a ramp."""
    profile = event.profile
    if _is_return(event):
        return RETURN
    # within a cycle, the cycle itself rises and falls little by little
    is_long = fit.rows >= profile.cycle or fit.explained > CLEARLY
    if fit.is_ramp and fit.rows >= MIN_RAMP_ROWS and is_long:
        return DRIFT
    return LEVEL_SHIFT if _stays(event, fit.height) else OUT_OF_RANGE


@dataclass(frozen=True, slots=True)
class _Fit:
    """The best fit of a level, a ramp or two levels to an event and the rows beside it.

    ``explained`` is the share of the departure that it explains, ``height`` the level.
    """

    explained: float
    is_ramp: bool
    rows: int
    height: float

    @classmethod
    def of(cls, event: ChannelEvent, chart: _Chart) -> _Fit:
        window = slice(0, event.here.stop + ROWS_BESIDE)
        others = event.left_out[event.rows][window].copy()
        others[event.beside] = False
        sizes = np.where(others, 0, chart.sizes[window])
        # normal rows have a square of 1
        total = max(float(np.sum(np.square(sizes))) - len(sizes), 1.0)
        level, ramp = _best(sizes, is_ramp=False), _best(sizes, is_ramp=True)
        second = _best(sizes - level.line(len(sizes)), is_ramp=False)
        both = level.gain
        if level.height * second.height < 0 and second.gain > MIN_SECOND * total:
            both += second.gain
        is_ramp = ramp.gain > MIN_RAMP_GAIN * both
        best = ramp if is_ramp else level
        return cls(max(ramp.gain, both) / total, is_ramp, best.stop - best.start, level.height)


class _Line(NamedTuple):
    """A level or a ramp from one row to another, and by how much it makes squares smaller."""

    gain: float
    start: int
    stop: int
    height: float

    def line(self, rows: int) -> Array:
        """The level at each row, (R,)."""
        places = np.arange(rows)
        return np.where((self.start <= places) & (places < self.stop), self.height, 0.0)


def _best(sizes: Array, *, is_ramp: bool) -> _Line:
    """The level, or the ramp from 0, that leaves the smallest squares."""
    places = np.unique(np.linspace(0, len(sizes), PLACES + 1).astype(np.intp))
    lengths = np.maximum(places - places[:, None], 0)
    products, squares = _sums_between(sizes, places), lengths
    if is_ramp:
        weighted = _sums_between(sizes * np.arange(len(sizes)), places)
        products = weighted - places[:, None] * products
        squares = lengths * (lengths - 1) * (2 * lengths - 1) // 6
    gains = np.where(squares > 0, products**2 / np.maximum(squares, 1), 0)
    start, stop = np.unravel_index(gains.argmax(), gains.shape)
    height = products[start, stop] / max(squares[start, stop], 1)
    return _Line(float(gains[start, stop]), int(places[start]), int(places[stop]), float(height))


def _sums_between(values: Array, places: NDArray[np.intp]) -> Array:
    sums = np.append(0.0, np.cumsum(values))[places]
    return np.asarray(sums - sums[:, None])


def _is_return(event: ChannelEvent) -> bool:
    """Whether a channel that shifted its level in an earlier alarm is back at its former level."""
    known = slice(max(event.first - ROWS_BESIDE, 0))
    normal = np.flatnonzero(~event.left_out[known])
    # normal rows before the last alarm, and those since
    ends = np.flatnonzero(np.diff(normal) > 1)
    if not len(ends) or event.first - normal[ends[-1] + 1] < ROWS_AFTER:
        return False
    levels = [
        float(np.median(event.column[rows]))
        for rows in (
            normal[max(int(ends[-1]) - ROWS_BEFORE, 0) : ends[-1] + 1],
            normal[ends[-1] + 1 :],
            slice(event.first, event.last),
        )
    ]
    former, since, now = levels
    width = event.profile.above - event.profile.below
    moved = abs(since - former)
    return abs(now - former) < MIN_STAY_SHARE * moved and moved > width / 2


def _stays(event: ChannelEvent, height: float) -> bool:
    """Whether a level lasts until the end of the segment."""
    after = event.column[event.last :]
    if len(after) < ROWS_BESIDE or len(event.column) - event.first < ROWS_AFTER:
        return event.permanent
    before = event.column[event.rows.start : event.first]
    if not len(before):
        return False
    moved = height * _unit(event.profile.error, event.values)
    parts = [after, *np.array_split(after, QUARTERS)]
    shares = [(np.median(part) - np.median(before)) / moved for part in parts]
    return bool(shares[0] > MIN_STAY_SHARE and min(shares) > MIN_STAY_SHARE / 2)


def _is_decoupled(event: ChannelEvent, chart: _Chart, given: _Chart) -> bool:
    """Whether what the partner leads to expect is wrong, though the channel by itself is not."""
    rows = event.here
    moves = chart.values - chart.range.expected
    led = given.range.expected - chart.range.expected
    together = 2 * float(np.sum((moves * led)[rows]))
    squares = float(np.sum(np.square(moves)[rows]) + np.sum(np.square(led)[rows]))
    further = _rms(given.sizes[rows]) / max(_rms(chart.sizes[rows]), 1.0)
    return (
        further > MIN_RELATION_RATIO
        and together < MIN_EXPLAINED * squares
        and bool(given.beyond[rows].any())
    )


def _onset(out: NDArray[np.intp]) -> int:
    """The first of the rows that are out that is followed by others, or else the first."""
    followed = out[: -ONSET_ROWS + 1][out[ONSET_ROWS - 1 :] - out[: -ONSET_ROWS + 1] < ONSET_WITHIN]
    return int(followed[0] if len(followed) else out[0])


def min_stuck_rows(profile: ChannelProfile, column: NDArray[Any]) -> float:
    """Rows for which a channel must stand still to be stuck; infinite for one that often does.

    Values that are rounded more coarsely than in training stay the same for longer: as many rows
    as a random walk takes to move by one unit of the last decimal.
    """
    if profile.max_run > MAX_NORMAL_RUN:
        return np.inf
    (decimals,) = decimals_of(np.asarray(column)[:, None])
    if decimals < 0 or decimals >= profile.decimals >= 0 or profile.median_step <= 0:
        return MIN_STUCK_ROWS
    return float(MIN_STUCK_ROWS * max(10.0**-decimals / profile.median_step, 1.0) ** 2)


def _from_around(irregular: Array) -> Array:
    """How far each row stands from the median of the rows around it."""
    # mirrored at the ends, without the end itself
    padded = np.pad(irregular, SPIKE_MEDIAN_ROWS, mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * SPIKE_MEDIAN_ROWS + 1)
    return np.asarray(irregular - np.median(around, axis=1))


def _unit(size: float, values: Array) -> float:
    """A size to divide by; for a channel that never moved, small, so that any move is large."""
    if size > 0:
        return size
    largest = float(np.abs(values).max(initial=0.0))
    return MIN_UNIT_SHARE * largest if largest > 0 else 1.0


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
