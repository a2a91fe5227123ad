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

# a departure begins where this many of this many rows in a row are out: a single one is chance
ONSET_ROWS, ONSET_WITHIN = 3, 5

# fewest rows whose steps tell that a channel varies more or less
MIN_VARIANCE_ROWS = 10

# fewest rows of a ramp
MIN_RAMP_ROWS = 20

# share of the move that remains after a permanent level shift
MIN_STAY_SHARE = 0.5

# parts of the rows after an event that must all tell that the level stays
QUARTERS = 4

# how many times as far the relation departs as the channel itself where two channels decouple
MIN_RELATION_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class Departure:
    """How a channel departed in an event.

    ``row`` is the row of the segment where it was furthest out of its range, or else from
    ``expected``; ``low`` and ``high`` are the expected range there. ``turns`` are the rows where it
    went furthest to either side, in order: ``row`` is among them. ``onset`` and ``end`` are the
    first and the last row where it was out, if it ``is_out`` in any. ``lasted`` counts the rows in
    which it was out or, where it was stuck or missing, those. ``size`` is the measure of kinds
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
    is_out: bool
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


def depart(event: ChannelEvent, partner: ChannelEvent | None = None) -> Departure:
    """How a channel departed in an event; ``partner`` is its partner channel."""
    chart = ChannelChart.of(event, event.expected_range(), event.profile.error)
    given = None if partner is None else chart.given(event, partner)
    jump = Jump.of(event, chart, given)
    signs = _Signs.of(event, chart)
    kind = _kind(event, chart, signs, given, jump)
    if kind == DECOUPLED and given is not None:
        chart = given
    jump = jump if kind in (SPIKE, ABRUPT_CHANGE) else None
    turns = chart.turns(event.here, kind)
    if kind == STUCK:
        turns = [max(event.beside.start + signs.run_row, event.here.start)]
    elif jump is not None and kind == ABRUPT_CHANGE:
        turns = [jump.row]
    elif jump is not None:
        turns = chart.turns(slice(jump.start, jump.stop), kind)
    row = max(turns, key=chart.distance)
    out = event.beside.start + chart.out(event.beside, kind)
    if jump is not None:
        onset, end = jump.start, jump.stop - 1
    elif len(out):
        onset, end = _onset(out), -_onset(-out[::-1])
    else:
        onset, end = event.here.start, event.here.stop - 1
    lasted = {STUCK: signs.run, MISSING: signs.missing}.get(kind, end + 1 - onset)
    size = signs.steps
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
        start + onset,
        start + end,
        len(out) > 0 or jump is not None,
        lasted,
        size,
        within=1 if jump is None else jump.within,
        most=0.0 if jump is None else jump.most,
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
    is_quick: bool  # whether it comes and goes from row to row
    steps: float  # the mean step from row to row, in units of the median one

    @classmethod
    def of(cls, event: ChannelEvent, chart: ChannelChart) -> _Signs:
        profile, here, beside = event.profile, event.here, event.beside
        irregular = chart.values - chart.range.expected
        step = unit_of(profile.median_step, np.diff(irregular))
        values, beyond = chart.values[beside], chart.beyond[beside]
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
            is_quick=bool(np.mean(np.square(moves)) > 2 * MIN_QUICK * np.var(irregular[here]))
            if len(moves)
            else False,
            steps=float(np.abs(moves).mean() / step) if len(moves) else 1.0,
        )


def _kind(
    event: ChannelEvent,
    chart: ChannelChart,
    signs: _Signs,
    given: ChannelChart | None,
    jump: Jump | None,
) -> str:
    profile, lasted = event.profile, event.last - event.first
    if signs.missing > MIN_SILENT_SHARE * lasted:
        return MISSING
    if signs.run >= max(lasted / 2, min_stuck_rows(profile, event.column)):
        return STUCK
    if jump is not None and jump.is_spike:
        return SPIKE
    # the mean step of fewer rows varies more, that of more rows less
    spread = np.sqrt(BLOCK_ROWS / lasted)
    is_long = lasted >= MIN_VARIANCE_ROWS
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
    fit = LevelFit.of(event, chart)
    is_out = bool(chart.beyond[event.here].any())
    moved = is_out and signs.out >= MIN_OUT_ROWS and (is_past or fit.explained > least)
    if given is not None and not is_past and _is_decoupled(event, chart, given):
        # what the relation leaves is a move of this channel alone if it is a plain one
        moved &= (
            signs.out > MIN_PAST_SHARE * lasted and LevelFit.of(event, given).explained > CLEARLY
        )
        if not moved:
            return DECOUPLED
    if moved:
        return _move(event, fit)
    if varies_more:
        return HIGHER_VARIANCE
    least = max(spread, MIN_SPREAD) * (profile.median_step - profile.min_step)
    if is_long and (1 - signs.steps) * profile.median_step > least:
        return LOWER_VARIANCE
    if signs.out >= MIN_OUT_ROWS and fit.explained <= CLEARLY:
        return UNUSUAL_SHAPE
    if is_out:
        return OUT_OF_RANGE
    return UNUSUAL if jump is None else ABRUPT_CHANGE


def _move(event: ChannelEvent, fit: LevelFit) -> str:
    """The kind of a departure that is a level or a ramp."""
    profile = event.profile
    if _is_return(event):
        return RETURN
    # within a cycle, the cycle itself rises and falls little by little
    is_long = fit.rows >= profile.cycle or fit.explained > CLEARLY
    if fit.is_ramp and fit.rows >= MIN_RAMP_ROWS and is_long:
        return DRIFT
    return LEVEL_SHIFT if _stays(event, fit.height) else OUT_OF_RANGE


def _is_return(event: ChannelEvent) -> bool:
    """Whether a channel that shifted its level in an earlier alarm is back at its former level."""
    known = slice(max(event.first - ROWS_BESIDE, 0))
    normal = np.flatnonzero(~event.left_out[known])
    # the last normal row before each alarm
    ends = np.flatnonzero(np.diff(normal) > 1)
    if not len(ends) or event.first - normal[ends[-1] + 1] < ROWS_BESIDE:
        return False
    now = float(np.median(event.column[event.first : event.last]))
    since = float(np.median(event.column[normal[ends[-1] + 1 :]]))
    width = event.profile.above - event.profile.below
    formers = (
        float(np.median(event.column[normal[max(end - ROWS_BEFORE, 0) : end + 1]]))
        for end in ends.tolist()
    )
    return any(
        abs(now - former) < MIN_STAY_SHARE * abs(since - former) > MIN_STAY_SHARE * width / 2
        for former in formers
    )


def _stays(event: ChannelEvent, height: float) -> bool:
    """Whether a level lasts until the end of the segment."""
    after = event.column[event.last :]
    if len(after) < ROWS_BESIDE or len(event.column) - event.first < ROWS_AFTER:
        return event.permanent
    before = event.column[event.rows.start : event.first]
    if not len(before):
        return False
    moved = height * unit_of(event.profile.error, event.values)
    parts = [after, *np.array_split(after, QUARTERS)]
    shares = [(np.median(part) - np.median(before)) / moved for part in parts]
    return bool(shares[0] > MIN_STAY_SHARE and min(shares) > MIN_STAY_SHARE / 2)


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


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
