"""Kinds of departure: how a channel's values in an event differ from its baseline.

Each kind follows from a comparison with the channel's baseline profile that a person could make on
a chart; kinds that leave no doubt are tested first (``_kind``). The sizes were chosen on generated
plants (reproduce/log.md, "Kinds of departure").

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ChannelProfile, ExpectedRange, longest_run

SPIKE = "spike"
OUT_OF_RANGE = "out of range"
LEVEL_SHIFT = "level shift (permanent)"
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
    SPIKE, OUT_OF_RANGE, LEVEL_SHIFT, DRIFT, STUCK, HIGHER_VARIANCE, LOWER_VARIANCE,
    UNUSUAL_SHAPE, DECOUPLED, MISSING, UNUSUAL,
)  # fmt: skip

# rows before and after an event that are examined: a drift begins long before it is found
ROWS_BEFORE, ROWS_AFTER = 300, 100
# rows beside an event that may belong to it, for scores are averages over rows
ROWS_BESIDE = 30
# a row is out if its irregular part is beyond three typical sizes, and beyond its normal range by
# half
MIN_OUT_SIZE, MIN_OUT_RANGE = 3.0, 1.5
# rows that a spike lasts at most, and its least distance from the rows around it, in median steps
MAX_SPIKE_ROWS, MIN_SPIKE_STEPS = 6, 5.0
# rows to either side whose median is where a row without a spike would be
SPIKE_MEDIAN_ROWS = 10
# the longest run of equal values of a channel that never flatlines, and the run by which it is
# stuck. Of the normal rows of four data sets 86 of 700,000 are in such runs; of channels that have
# flatlined before, a tenth (reproduce/log.md, "Kinds of departure")
MAX_NORMAL_RUN, MIN_STUCK_ROWS = 5, 20
# the level departs if this share of the rows that are out, less the others, is on one side; or if
# this share of the event's rows is beyond the training range
MIN_ONE_SIDED, MIN_BEYOND_SHARE = 0.7, 0.3
# rows that are out, or beyond the training range, to rule out chance
MIN_OUT_ROWS = 5
# a departure begins where this many of this many rows in a row are out: a single one is chance
ONSET_ROWS, ONSET_WITHIN = 3, 5
# rows whose mean is a level, and how far before an event it may have begun to move
LEVEL_ROWS, MAX_LEAD_ROWS = 20, 120
# share of the whole move that a level makes within a step; a drift makes less
MIN_STEP_SHARE = 0.65
# share of the move that remains after a permanent level shift
MIN_STAY_SHARE = 0.5
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
        """The examined rows."""
        return slice(
            max(self.first - ROWS_BEFORE, 0), min(self.last + ROWS_AFTER, len(self.column))
        )

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

    ``row`` is the row of the segment where it was furthest from ``expected``; ``low`` and ``high``
    are the expected range there. ``onset`` and ``end`` are the first and the last row where it was
    out, if it ``is_out`` in any. ``lasted`` counts the rows of the event or, where the channel was
    stuck or missing, those rows; ``steps`` is the mean step from row to row in units of the median
    one.
    """

    kind: str
    row: int
    expected: float
    low: float
    high: float
    onset: int
    end: int
    is_out: bool
    lasted: int
    steps: float

    def later(self, rows: int) -> Departure:
        """The departure in rows of the series, whose segment begins at a later row."""
        return replace(self, row=self.row + rows, onset=self.onset + rows, end=self.end + rows)


def depart(event: ChannelEvent, partner: ChannelEvent | None = None) -> Departure:
    """How a channel departed in an event; ``partner`` is its partner channel."""
    expected = event.expected_range()
    irregular = event.values - expected.expected
    by_partner = None
    if partner is not None:
        by_partner = event.profile.slope * (partner.values - partner.expected_range().expected)
    signs = _Signs.of(event, irregular, by_partner)
    kind = _kind(event, signs)
    if kind == DECOUPLED and by_partner is not None:
        center = expected.expected + by_partner
        # a range as wide as the relation normally varies
        share = event.profile.partner_error / _unit(event.profile.error, irregular)
        below, above = share * event.profile.below, share * event.profile.above
        expected = ExpectedRange(center, center + below, center + above)
    away = np.abs(event.values - expected.expected)
    if kind == OUT_OF_RANGE:
        minimum, maximum = event.profile.minimum, event.profile.maximum
        beyond = np.maximum(minimum - event.values, event.values - maximum)
        if (beyond[event.here] > 0).any():
            # the range is no wider than that of training, and the value is outside that
            away = beyond
            expected = ExpectedRange(
                expected.expected,
                np.maximum(expected.low, minimum),
                np.minimum(expected.high, maximum),
            )
    event_rows = event.here
    row = event_rows.start + int(away[event_rows].argmax())
    lasted = {STUCK: signs.run, MISSING: signs.missing}.get(kind, event.last - event.first)
    return Departure(
        kind,
        event.rows.start + row,
        float(expected.expected[row]),
        float(expected.low[row]),
        float(expected.high[row]),
        event.rows.start + signs.onset,
        event.rows.start + signs.end,
        signs.out > 0,
        lasted,
        signs.steps,
    )


@dataclass(frozen=True, slots=True)
class _Signs:
    """Counts and measures of an event that tell kinds apart.

    Counts are of rows of the event and beside it; sizes are in typical sizes of the irregular part.
    """

    missing: int
    run: int  # the longest run of equal values
    out: int  # rows that are out
    onset: int  # the first of them, among the examined rows
    end: int  # the last of them
    side: float  # 1 or -1 if they are all on one side
    size: float  # their median
    beyond: int  # rows beyond all that was seen in training
    spike_rows: int  # from the first to the last row that stands out from those around it
    elsewhere: float  # size of all other rows, by themselves and given the partner
    steps: float  # the mean step from row to row, in units of the median one
    step_share: float  # share of the way that the level goes at once
    afterwards: float  # median of the rows after the event; 0 where there are none
    relation: float  # how many times as far the relation departs as the channel itself

    @classmethod
    def of(
        cls,
        event: ChannelEvent,
        irregular: NDArray[np.float64],
        by_partner: NDArray[np.float64] | None,
    ) -> _Signs:
        profile, event_rows, beside = event.profile, event.here, event.beside
        unit, step = _unit(profile.error, irregular), _unit(profile.median_step, np.diff(irregular))
        sizes = irregular / unit
        far = max(MIN_OUT_SIZE, MIN_OUT_RANGE * max(-profile.below, profile.above) / unit)
        out = np.flatnonzero(np.abs(sizes[beside]) > far)
        size = float(np.median(sizes[beside][out] if len(out) else sizes[event_rows]))
        values = event.values[beside]
        jumped = _from_around(irregular) > MIN_SPIKE_STEPS * step
        spikes = np.flatnonzero(jumped[beside])
        elsewhere = _reach(sizes[beside], ~jumped[beside])
        moves = np.abs(np.diff(irregular[max(event_rows.start - 1, 0) : event_rows.stop]))
        after = sizes[event_rows.stop :]
        relation = 0.0
        if by_partner is not None:
            left = (irregular - by_partner) / _unit(profile.partner_error, irregular)
            relation = _size(left[event_rows]) / max(_size(sizes[event_rows]), 1.0)
            elsewhere = max(elsewhere, _reach(left[event_rows], ~jumped[event_rows]))
        missing = event.missing[event.first : event.last] if event.missing is not None else ()
        return cls(
            missing=int(np.sum(missing)),
            run=longest_run(values)[1],
            out=len(out),
            onset=beside.start + _onset(out) if len(out) else event_rows.start,
            end=beside.start + _end(out) if len(out) else event_rows.stop - 1,
            side=float(np.sign(sizes[beside][out]).mean()) if len(out) else 0.0,
            size=size,
            beyond=int(((values < profile.minimum) | (values > profile.maximum)).sum()),
            spike_rows=int(spikes[-1] - spikes[0]) + 1 if len(spikes) else 0,
            elsewhere=elsewhere,
            steps=float(moves.mean() / step) if len(moves) else 1.0,
            step_share=_step_share(sizes * (np.sign(size) or 1.0), event_rows),
            afterwards=float(np.median(after)) if len(after) else 0.0,
            relation=relation,
        )


def _kind(event: ChannelEvent, signs: _Signs) -> str:
    profile, lasted = event.profile, event.last - event.first
    if signs.missing > lasted / 2:
        return MISSING
    if is_stuck(signs.run, profile) and signs.run >= lasted / 2:
        return STUCK
    if 0 < signs.spike_rows <= MAX_SPIKE_ROWS >= signs.beyond and signs.elsewhere < MIN_OUT_SIZE:
        return SPIKE
    varies_more = signs.steps * profile.median_step > profile.max_step
    if varies_more and abs(signs.side) <= MIN_ONE_SIDED:
        return HIGHER_VARIANCE
    if _level_departs(event, signs):
        # within a cycle, the cycle itself rises and falls little by little
        if signs.step_share < MIN_STEP_SHARE and lasted >= profile.cycle:
            return DRIFT
        if event.permanent or signs.afterwards * np.sign(signs.size) > MIN_STAY_SHARE * abs(
            signs.size
        ):
            return LEVEL_SHIFT
        if signs.beyond >= MIN_OUT_ROWS:
            return OUT_OF_RANGE
    if signs.relation > MIN_RELATION_RATIO:
        return DECOUPLED
    if varies_more:
        return HIGHER_VARIANCE
    if signs.steps * profile.median_step < profile.min_step:
        return LOWER_VARIANCE
    return UNUSUAL_SHAPE if profile.cycle and signs.out >= MIN_OUT_ROWS else UNUSUAL


def _onset(out: NDArray[np.intp]) -> int:
    """The first of the rows that are out that is followed by others, or else the first."""
    followed = out[: -ONSET_ROWS + 1][out[ONSET_ROWS - 1 :] - out[: -ONSET_ROWS + 1] < ONSET_WITHIN]
    return int(followed[0] if len(followed) else out[0])


def _end(out: NDArray[np.intp]) -> int:
    """The last of the rows that are out that follows others, or else the last."""
    return -_onset(-out[::-1])


def _level_departs(event: ChannelEvent, signs: _Signs) -> bool:
    """Whether the channel's level has moved to one side, rather than its shape changed."""
    if signs.beyond > MIN_BEYOND_SHARE * (event.last - event.first):
        return True
    one_sided = abs(signs.side) > MIN_ONE_SIDED and signs.out >= MIN_OUT_ROWS
    # half a cycle is on one side as well, and stays within the training range
    return one_sided and not (event.profile.cycle and signs.beyond < MIN_OUT_ROWS)


def is_stuck(run: int, profile: ChannelProfile) -> bool:
    """Whether a run of equal values is far longer than the channel ever had."""
    return profile.max_run <= MAX_NORMAL_RUN and run >= MIN_STUCK_ROWS


def _from_around(irregular: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each row stands from the median of the rows around it."""
    # mirrored at the ends, without the end itself
    padded = np.pad(irregular, SPIKE_MEDIAN_ROWS, mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * SPIKE_MEDIAN_ROWS + 1)
    return np.asarray(np.abs(irregular - np.median(around, axis=1)))


def _step_share(sizes: NDArray[np.float64], event_rows: slice) -> float:
    """The largest step of the level in an event, as a share of the furthest level.

    ``sizes`` are positive on the side where the event is.
    """
    levels = np.convolve(sizes, np.ones(LEVEL_ROWS) / LEVEL_ROWS, "same")
    top = event_rows.start + int(levels[event_rows].argmax())
    sums = np.concatenate([[0.0], np.cumsum(sizes)])
    last = min(top + LEVEL_ROWS // 2, len(sizes) - LEVEL_ROWS)
    places = np.arange(max(event_rows.start - MAX_LEAD_ROWS, LEVEL_ROWS), last)
    if not len(places) or levels[top] <= 0:
        return 1.0
    after = sums[places + LEVEL_ROWS] - sums[places]
    before = sums[places] - sums[places - LEVEL_ROWS]
    return float((after - before).max() / LEVEL_ROWS / levels[top])


def _unit(size: float, values: NDArray[np.float64]) -> float:
    """A size to divide by; for a channel that never moved, small, so that any move is large."""
    if size > 0:
        return size
    largest = float(np.abs(values).max(initial=0.0))
    return MIN_UNIT_SHARE * largest if largest > 0 else 1.0


def _reach(sizes: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    """The 0.9 quantile of the sizes of the chosen rows; 0 where there are none."""
    return float(np.quantile(np.abs(sizes[chosen]), 0.9)) if chosen.any() else 0.0


def _size(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
