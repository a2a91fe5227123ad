"""The kind of a departure: that of the simplest model that explains most of it."""

from __future__ import annotations

import numpy as np

from subadjacent.decision.former_level import stays
from subadjacent.decision.jumps import Jump
from subadjacent.decision.kinds import (
    ABRUPT_CHANGE,
    DECOUPLED,
    DRIFT,
    HIGHER_VARIANCE,
    LEVEL_SHIFT,
    LOWER_VARIANCE,
    MIN_OUT_ROWS,
    MIN_PAST_SHARE,
    MIN_SILENT_SHARE,
    MISSING,
    OUT_OF_RANGE,
    RETURN,
    SPIKE,
    STUCK,
    UNUSUAL,
    UNUSUAL_SHAPE,
    ChannelChart,
    ChannelEvent,
    rms,
    unit_of,
)
from subadjacent.decision.level_fit import CLEARLY, LevelFit
from subadjacent.decision.references import BLOCK_ROWS
from subadjacent.decision.signs import Signs, min_stuck_rows

# share of the departure that a model must explain: one that is wrong explains less of it
MIN_EXPLAINED = 0.5

# the spread of the mean step of many rows, at least, in that of a block
MIN_SPREAD = 0.5

# share of rows that are out by chance, and how many deviations more are not
CHANCE_SHARE, MIN_DEVIATIONS = 0.01, 2.0

# share of a move that comes at once, within so many rows, if it is no ramp
SUDDEN_SHARE, SUDDEN_ROWS = 0.5, 5

# fewest rows whose steps tell that a channel varies more or less
MIN_VARIANCE_ROWS = 10

# the median step of noise, rather than a spike, is this many times the largest normal mean step
MIN_NOISE_STEP = 2.0

# fewest rows of a ramp
MIN_RAMP_ROWS = 20

# fewest rows of an unusual shape: of fewer, a person sees how far they went
MIN_SHAPE_ROWS = 12

# how many times as far the relation departs as the channel itself where two channels decouple
MIN_RELATION_RATIO = 2.0


def silent_kind(event: ChannelEvent, signs: Signs) -> str | None:
    """The kind of a channel without values, or without new ones."""
    lasted = event.last - event.first
    if signs.missing > MIN_SILENT_SHARE * lasted:
        return MISSING
    if signs.run >= max(MIN_SILENT_SHARE * lasted, min_stuck_rows(event.profile, event.column)):
        return STUCK
    return None


def kind_of(
    event: ChannelEvent,
    chart: ChannelChart,
    signs: Signs,
    given: ChannelChart | None,
    jump: Jump | None,
    fit: LevelFit,
    *,
    is_back: bool,
) -> str:
    """The kind of a departure of a channel with values; ``given`` is its chart over a partner's.

    ``is_back`` tells whether it is back at the level from before an earlier alarm.
    """
    profile, lasted = event.profile, event.last - event.first
    # in noise a few rows are furthest out as well
    least = MIN_NOISE_STEP * profile.max_step / unit_of(profile.median_step, chart.values)
    is_noise = lasted >= MIN_VARIANCE_ROWS and signs.middle_step > least
    if jump is not None and jump.is_spike and not is_noise:
        return SPIKE
    # the mean step of fewer rows varies more, that of more rows less
    spread = np.sqrt(BLOCK_ROWS / lasted)
    varied = signs.varied.stop - signs.varied.start
    is_long = min(varied, lasted) >= MIN_VARIANCE_ROWS
    varies_more = (
        is_long
        and signs.is_quick
        and fit.explained <= CLEARLY
        and (signs.steps - 1) * profile.median_step
        > max(spread, 1) * (profile.max_step - profile.median_step)
    )
    # part of a cycle that is broken is on one side as well, and stays within the training range; of
    # a whole one a level tells little
    is_whole = 0 < profile.cycle <= lasted and chart.knows_time(event)
    within = is_whole or (profile.cycle > 0 and signs.past < MIN_OUT_ROWS)
    is_past = (
        not is_whole and signs.past > MIN_PAST_SHARE * lasted and abs(signs.side) > MIN_EXPLAINED
    )
    least = CLEARLY if varies_more or within else MIN_EXPLAINED
    is_out = bool(chart.beyond[event.here].any())
    # noise, too, may be beyond all that was seen, and mostly on one side
    is_move = fit.explained > least or (is_past and not varies_more)
    moved = is_out and signs.out >= MIN_OUT_ROWS and is_move
    if is_back and not varies_more:
        return RETURN
    is_alone = varies_more or is_past
    if given is not None and not is_alone and _is_decoupled(event, chart, given):
        # what the relation leaves is a move of this channel alone if it is a plain one
        moved &= (
            signs.out > MIN_PAST_SHARE * lasted and LevelFit.of(event, given).explained > CLEARLY
        )
        if not moved:
            return DECOUPLED
    if moved:
        return _move(event, chart, signs, fit)
    if varies_more:
        return HIGHER_VARIANCE
    least = max(spread, MIN_SPREAD) * (profile.median_step - profile.min_step)
    if is_long and (1 - signs.steps) * profile.median_step > least:
        return LOWER_VARIANCE
    if lasted >= MIN_SHAPE_ROWS and signs.out >= MIN_OUT_ROWS and fit.explained <= CLEARLY:
        return UNUSUAL_SHAPE
    by_chance = CHANCE_SHARE * lasted
    if np.count_nonzero(chart.beyond[event.here]) > by_chance + MIN_DEVIATIONS * np.sqrt(by_chance):
        return OUT_OF_RANGE
    return UNUSUAL if jump is None else ABRUPT_CHANGE


def _move(event: ChannelEvent, chart: ChannelChart, signs: Signs, fit: LevelFit) -> str:
    """The kind of a departure that is a level or a ramp."""
    profile, rows = event.profile, fit.stop - fit.start
    # within a cycle, the cycle itself rises and falls little by little
    is_long = rows >= profile.cycle or fit.explained > CLEARLY
    if fit.is_ramp and rows >= MIN_RAMP_ROWS and is_long and not _is_sudden(event, chart):
        return DRIFT
    is_away = signs.out > MIN_PAST_SHARE * (event.last - event.first)
    return LEVEL_SHIFT if is_away and stays(event) else OUT_OF_RANGE


def _is_sudden(event: ChannelEvent, chart: ChannelChart) -> bool:
    """Whether a few rows make most of the way to where a channel is furthest from expected."""
    # without noise
    padded = np.pad(chart.sizes, (SUDDEN_ROWS - 1, 0), mode="edge")
    levels = np.median(np.lib.stride_tricks.sliding_window_view(padded, SUDDEN_ROWS), axis=1)
    furthest = event.here.start + int(np.abs(levels[event.here]).argmax())
    path = levels[: furthest + 1] * np.sign(levels[furthest])
    rises = path[SUDDEN_ROWS:] - path[:-SUDDEN_ROWS]
    return bool(rises.max(initial=0.0) > SUDDEN_SHARE * path[-1])


def _is_decoupled(event: ChannelEvent, chart: ChannelChart, given: ChannelChart) -> bool:
    """Whether what the partner leads to expect is wrong, though the channel by itself is not."""
    rows = event.here
    moves = chart.values - chart.range.expected
    led = given.range.expected - chart.range.expected
    together = 2 * float(np.sum((moves * led)[rows]))
    squares = float(np.sum(np.square(moves)[rows]) + np.sum(np.square(led)[rows]))
    further = rms(given.sizes[rows]) / max(rms(chart.sizes[rows]), 1.0)
    return (
        further > MIN_RELATION_RATIO
        and together < MIN_EXPLAINED * squares
        and float(np.mean(given.beyond[rows] != 0)) > MIN_PAST_SHARE
    )
