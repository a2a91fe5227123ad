"""How a channel departed in an event: the simplest model that explains most of it.

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ChannelProfile
from subadjacent.decision.jumps import Jump
from subadjacent.decision.kinds import (
    ABRUPT_CHANGE,
    DECOUPLED,
    DRIFT,
    HIGHER_VARIANCE,
    LEVEL_SHIFT,
    LOWER_VARIANCE,
    MAX_NORMAL_RUN,
    MIN_PAST_SHARE,
    MIN_SILENT_SHARE,
    MIN_STUCK_ROWS,
    MISSING,
    OUT_OF_RANGE,
    RETURN,
    ROWS_AFTER,
    ROWS_BEFORE,
    ROWS_BESIDE,
    SPIKE,
    STUCK,
    UNUSUAL,
    UNUSUAL_SHAPE,
    Array,
    ChannelChart,
    ChannelEvent,
    unit_of,
)
from subadjacent.decision.learn_profiles import decimals_of, longest_run
from subadjacent.decision.level_fit import LevelFit
from subadjacent.decision.references import BLOCK_ROWS

# share of the departure that a model must explain: one that is wrong explains less of it
MIN_EXPLAINED = 0.5

# the same where another kind would do as well
CLEARLY = 0.8

# least share of new in a row where a channel varies more: noise of which a row keeps four fifths
MIN_QUICK = 0.2

# the spread of the mean step of many rows, at least, in that of a block
MIN_SPREAD = 0.5

# rows that are out, or beyond the training range, to rule out chance
MIN_OUT_ROWS = 5

# a row departs if it is out of range by this share of the most
MIN_OUT_SHARE = 0.1

# and far out by this share of the width of its range
MIN_FAR = 0.05

# a departure begins where this many of this many rows in a row are out: a single one is chance
ONSET_ROWS, ONSET_WITHIN = 3, 5

# fewest rows whose steps tell that a channel varies more or less
MIN_VARIANCE_ROWS = 10

# fewest rows of a ramp
MIN_RAMP_ROWS = 20

# share of the move that remains after a permanent level shift
MIN_STAY_SHARE = 0.5

# parts of the rows after an event that must all tell that the level stays, and these rows at most
QUARTERS, MAX_AFTER = 4, 4_000

# earlier alarms, the latest ones, from which a channel may come back
MAX_FORMER = 5

# fewest rows of an unusual shape: of fewer, a person sees how far they went
MIN_SHAPE_ROWS = 12

# how many times as far the relation departs as the channel itself where two channels decouple
MIN_RELATION_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class Departure:
    """How a channel departed in an event.

    ``row`` is the row of the segment where it was furthest out of its range, or else from
    ``expected``; ``low`` and ``high`` are the expected range there. ``turns`` are the rows where it
    went furthest to either side, in order: ``row`` is among them. ``onset`` and ``end`` are the
    first and the last row that depart, if the departure ``is_visible`` in a chart of the channel.
    ``lasted`` counts these rows, of a channel that was stuck or missing as far as it was. ``size``
    is the measure of kinds
    without a value: the mean step from row to row or the departure, in units of the normal one, or
    the change of a spike or an abrupt change, within ``within`` rows, where ``most`` is normal.
    """

    kind: str
    row: int
    expected: float
    low: float
    high: float
    turns: tuple[int, ...]
    onset: int
    end: int
    is_visible: bool
    lasted: int
    size: float
    within: int
    most: float

    def later(self, rows: int) -> Departure:
        """The departure in rows of the series, whose segment begins at a later row."""
        return replace(
            self,
            row=self.row + rows,
            turns=tuple(turn + rows for turn in self.turns),
            onset=self.onset + rows,
            end=self.end + rows,
        )


def depart(
    event: ChannelEvent, partner: ChannelEvent | None = None, *, narrows: bool = True
) -> Departure:
    """How a channel departed in an event; ``partner`` is its partner channel.

    Its rows are those of the event if it does not narrow, else those where the channel departs.
    """
    chart = ChannelChart.of(event, event.expected_range(), event.profile.error)
    signs = _Signs.of(event, chart)
    given, jump, kind = None, None, _silent_kind(event, signs)
    if kind is None:
        # a ramp begins before it is out of range
        fit = LevelFit.of(event, chart)
        if narrows:
            event = _narrowed(event, chart)
            chart = ChannelChart.of(event, event.expected_range(), event.profile.error)
            signs = _Signs.of(event, chart)
        if partner is not None:
            given = chart.given(
                event, replace(partner, first=event.first, last=event.last, before=event.before)
            )
        jump = Jump.of(event, chart, given)
        kind = _kind(event, chart, signs, given, jump, fit)
    if kind == DECOUPLED and given is not None:
        chart = given
    jump = jump if kind in (SPIKE, ABRUPT_CHANGE) else None
    turns = chart.turns(event.here, kind)
    if kind == STUCK:
        turns = [max(signs.run_row - event.rows.start, event.here.start)]
    elif jump is not None and kind == ABRUPT_CHANGE:
        turns = [jump.row]
    elif jump is not None:
        turns = chart.turns(slice(jump.start, jump.stop), kind)
    if not narrows and not all(event.here.start <= turn < event.here.stop for turn in turns):
        turns = chart.turns(event.here, kind)
    row = max(turns, key=chart.distance)
    rows = _rows(event, chart, signs, kind) if jump is None else slice(jump.start, jump.stop)
    is_visible = rows is not None
    rows = event.here if rows is None else rows
    lasted = {STUCK: signs.run, MISSING: signs.missing}.get(kind, rows.stop - rows.start)
    size = signs.varied_steps
    if kind == UNUSUAL_SHAPE:
        size = _rms(chart.sizes[event.here])
    elif jump is not None:
        size = jump.size
    start = event.rows.start
    return Departure(
        kind,
        start + row,
        float(chart.range.expected[row]),
        float(chart.range.low[row]),
        float(chart.range.high[row]),
        tuple(start + turn for turn in turns),
        start + rows.start,
        start + rows.stop - 1,
        is_visible,
        lasted,
        size,
        within=1 if jump is None else jump.within,
        most=0.0 if jump is None else jump.most,
    )


def _narrowed(event: ChannelEvent, chart: ChannelChart) -> ChannelEvent:
    """The event where the channel is out of its range, if it is in many of those rows.

    Scores are averages over rows, and stand out in more of them.
    """
    rows = _out(event, chart)
    if rows is None:
        return event
    beyond = chart.beyond[rows]
    if np.count_nonzero(beyond) < max(MIN_OUT_ROWS, MIN_PAST_SHARE * len(beyond)):
        return event
    first = event.rows.start + rows.start
    # rows after it tell whether it lasts
    last = max(min(event.rows.start + rows.stop, event.last), first + 1)
    return replace(event, first=first, last=last, before=rows.start)


def _rows(event: ChannelEvent, chart: ChannelChart, signs: _Signs, kind: str) -> slice | None:
    """The rows of a departure, among the examined ones; None if a chart does not show it."""
    if kind == MISSING and event.missing is not None:
        rows = np.flatnonzero(event.missing[event.rows][event.here]) + event.here.start
        return slice(int(rows[0]), int(rows[-1]) + 1)
    if kind == STUCK:
        first = signs.run_row - event.rows.start
        return slice(first, first + signs.run)
    if kind in (HIGHER_VARIANCE, LOWER_VARIANCE):
        return signs.varied
    return None if kind == UNUSUAL else _out(event, chart)


def _out(event: ChannelEvent, chart: ChannelChart) -> slice | None:
    """From the first to the last row that is out of range by a share of the most; None if none is.

    Among the event and the rows beside it, and as long before as it has been out.
    """
    beyond, begin = np.abs(chart.beyond), event.beside.start
    out = beyond > MIN_OUT_SHARE * beyond[event.beside].max()
    places = begin + np.flatnonzero(out[event.beside])
    if not len(places):
        return None
    first, last = _onset(places), -_onset(-places[::-1])
    while first == begin > 0 and out[begin - ONSET_WITHIN : begin].sum() >= ONSET_ROWS:
        begin -= 1
        first = begin if out[begin] else first
    return slice(first, last + 1)


def _densest(values: Array, rows: slice) -> slice:
    """The part of some rows whose values have the largest sum."""
    sums = np.append(0.0, np.cumsum(values[rows]))
    lowest = np.minimum.accumulate(sums)
    stop = int((sums - lowest).argmax())
    start = int(np.flatnonzero(sums[: stop + 1] == lowest[stop])[-1])
    return slice(rows.start + start, rows.start + max(stop, start + 1))


@dataclass(frozen=True, slots=True)
class _Signs:
    """Measures of an event that tell kinds apart; rows are those of the event and beside it."""

    missing: int
    run: int  # the longest run of equal values, as far as it goes
    run_row: int  # its first row, of the segment
    out: int  # rows out of the expected range
    side: float  # 1 or -1 if they are all on one side
    past: int  # rows beyond all that was seen in training
    is_quick: bool  # whether it comes and goes from row to row
    steps: float  # the mean step from row to row, in units of the median one
    varied: slice  # rows whose steps are nearer to that than to the median one
    varied_steps: float  # their mean step

    @classmethod
    def of(cls, event: ChannelEvent, chart: ChannelChart) -> _Signs:
        profile, here, beside = event.profile, event.here, event.beside
        irregular = chart.values - chart.range.expected
        step = unit_of(profile.median_step, np.diff(irregular))
        values, beyond = chart.values[beside], chart.beyond[beside]
        moves = np.diff(irregular[max(here.start - 1, 0) : here.stop])
        sizes = np.abs(np.diff(irregular, prepend=irregular[:1])) / step
        mean = float(sizes[here].mean())
        varied = _densest((sizes - (1 + mean) / 2) * (1 if mean > 1 else -1), beside)
        run_row, run = _whole_run(event, *longest_run(values))
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
            is_quick=bool(np.mean(np.square(moves)) > 2 * MIN_QUICK * np.var(irregular[here]))
            if len(moves)
            else False,
            steps=mean,
            varied=varied,
            varied_steps=float(sizes[varied].mean()),
        )


def _silent_kind(event: ChannelEvent, signs: _Signs) -> str | None:
    """The kind of a channel without values, or without new ones."""
    lasted = event.last - event.first
    if signs.missing > MIN_SILENT_SHARE * lasted:
        return MISSING
    if signs.run >= max(lasted / 2, min_stuck_rows(event.profile, event.column)):
        return STUCK
    return None


def _kind(
    event: ChannelEvent,
    chart: ChannelChart,
    signs: _Signs,
    given: ChannelChart | None,
    jump: Jump | None,
    fit: LevelFit,
) -> str:
    profile, lasted = event.profile, event.last - event.first
    if jump is not None and jump.is_spike:
        return SPIKE
    # the mean step of fewer rows varies more, that of more rows less
    spread = np.sqrt(BLOCK_ROWS / lasted)
    varied = signs.varied.stop - signs.varied.start
    is_long = min(varied, lasted) >= MIN_VARIANCE_ROWS
    varies_more = (
        is_long
        and signs.is_quick
        and (signs.steps - 1) * profile.median_step
        > max(spread, 1) * (profile.max_step - profile.median_step)
    )
    # part of a cycle that is broken is on one side as well, and stays within the training range
    within = profile.cycle > 0 and signs.past < MIN_OUT_ROWS
    is_past = signs.past > MIN_PAST_SHARE * lasted and abs(signs.side) > MIN_EXPLAINED
    least = CLEARLY if varies_more or within else MIN_EXPLAINED
    is_out = bool(chart.beyond[event.here].any())
    # noise, too, may be beyond all that was seen, and mostly on one side
    is_move = fit.explained > least or (is_past and not varies_more)
    moved = is_out and signs.out >= MIN_OUT_ROWS and is_move
    if given is not None and not is_past and _is_decoupled(event, chart, given):
        # what the relation leaves is a move of this channel alone if it is a plain one
        moved &= (
            signs.out > MIN_PAST_SHARE * lasted and LevelFit.of(event, given).explained > CLEARLY
        )
        if not moved:
            return DECOUPLED
    if moved:
        return _move(event, signs, fit)
    if varies_more:
        return HIGHER_VARIANCE
    least = max(spread, MIN_SPREAD) * (profile.median_step - profile.min_step)
    if is_long and (1 - signs.steps) * profile.median_step > least:
        return LOWER_VARIANCE
    if lasted >= MIN_SHAPE_ROWS and signs.out >= MIN_OUT_ROWS and fit.explained <= CLEARLY:
        return UNUSUAL_SHAPE
    if is_out and _is_far(event, chart):
        return OUT_OF_RANGE
    return UNUSUAL if jump is None else ABRUPT_CHANGE


def _is_far(event: ChannelEvent, chart: ChannelChart) -> bool:
    """Whether a row of the event is out of its range by more than an eye overlooks."""
    beyond = np.abs(chart.beyond[event.here])
    width = (chart.range.high - chart.range.low)[event.here]
    return bool((beyond > MIN_FAR * width).any())


def _move(event: ChannelEvent, signs: _Signs, fit: LevelFit) -> str:
    """The kind of a departure that is a level or a ramp."""
    profile = event.profile
    if _is_return(event):
        return RETURN
    # within a cycle, the cycle itself rises and falls little by little
    is_long = fit.rows >= profile.cycle or fit.explained > CLEARLY
    if fit.is_ramp and fit.rows >= MIN_RAMP_ROWS and is_long:
        return DRIFT
    is_away = signs.out > MIN_PAST_SHARE * (event.last - event.first)
    return LEVEL_SHIFT if is_away and _stays(event) else OUT_OF_RANGE


def _is_return(event: ChannelEvent) -> bool:
    """Whether a channel that shifted its level in an earlier alarm is back at its former level."""
    normal = np.flatnonzero(~event.left_out[: max(event.first - ROWS_BESIDE, 0)])
    # the first row of each earlier alarm
    begins = normal[:-1][np.diff(normal) > 1] + 1
    width = event.profile.above - event.profile.below
    for begin in begins[-MAX_FORMER:].tolist():
        now = float(np.median(_moved(event, begin, slice(event.first, event.last))))
        recent = slice(max(event.first - ROWS_BEFORE, begin), event.first)
        since = float(np.median(_moved(event, begin, recent)))
        if abs(now) < MIN_STAY_SHARE * abs(since) > MIN_STAY_SHARE * width / 2:
            return True
    return False


def _stays(event: ChannelEvent) -> bool:
    """Whether a level lasts until the end of the segment."""
    after = slice(event.last, min(event.last + MAX_AFTER, len(event.column)))
    few = min(event.first, after.stop - after.start) < ROWS_BESIDE
    if few or len(event.column) - event.first < ROWS_AFTER:
        return event.permanent
    height = float(np.median(_moved(event, event.first, slice(event.first, event.last))))
    left = _moved(event, event.first, after)
    shares = [float(np.median(part)) / height for part in np.array_split(left, QUARTERS)]
    return height != 0 and min(shares) > MIN_STAY_SHARE


def _moved(event: ChannelEvent, since: int, rows: slice) -> Array:
    """How far rows of the segment are from what was expected before row ``since``."""
    normal = np.flatnonzero(~event.left_out[:since])
    left_out = event.left_out.copy()
    # in those of the alarm before it the channel has not departed
    left_out[int(normal[-1]) + 1 if len(normal) else 0 : since] = False
    left_out[since:] = True
    expected = event.profile.expected_range(event.column, left_out, rows).expected
    return np.asarray(event.column[rows] - expected, dtype=np.float64)


def _is_decoupled(event: ChannelEvent, chart: ChannelChart, given: ChannelChart) -> bool:
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
        and float(np.mean(given.beyond[rows] != 0)) > MIN_PAST_SHARE
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


def _whole_run(event: ChannelEvent, row: int, rows: int) -> tuple[int, int]:
    """The first row of the segment and the length of a run that is known in part.

    ``row`` is the first known row, among the event and the rows beside it.
    """
    first = event.rows.start + event.beside.start + row
    changed = np.flatnonzero(event.column != event.column[first])
    before, after = changed[changed < first], changed[changed >= first + rows]
    first = int(before[-1]) + 1 if len(before) else 0
    last = int(after[0]) if len(after) else len(event.column)
    return first, last - first


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
