"""Kinds of departure: how a channel's values in an event differ from what is usual.

Each kind is told by a comparison with the channel's habits that a person could make on a chart,
and those that leave no doubt are asked for first (``_kind``). The sizes were chosen on generated
plants (reproduce/log.md, "Kinds of departure").

Shapes: R rows of the window that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.habits import Habit, Usual, longest_run

SPIKE = "spike"
OUT_OF_RANGE = "out of range"
LEVEL_SHIFT = "level moved for good"
DRIFT = "drift"
STUCK = "stuck"
NOISIER = "noisier"
CALMER = "calmer"
BROKEN_RHYTHM = "broken rhythm"
PARTED = "parted from another channel"
MISSING = "missing"
# none of these: only the view that raised the alarm describes it
UNUSUAL = "unusual"
KINDS = (
    SPIKE, OUT_OF_RANGE, LEVEL_SHIFT, DRIFT, STUCK, NOISIER, CALMER, BROKEN_RHYTHM, PARTED, MISSING,
    UNUSUAL,
)  # fmt: skip

# rows before and after an event that are examined: a drift begins long before it is found
BEFORE, AFTER = 300, 100
# rows beside an event that may belong to it, for scores are averages over rows
BESIDE = 30
# a row is out if its irregular part is beyond three usual sizes, and beyond where it usually lies
# by half
FAR, FAR_BEYOND = 3.0, 1.5
# rows that a spike lasts at most, and how far it stands from the rows around it, in usual steps
SHORT, JUMP = 6, 5.0
# rows to either side whose median is where a row without a spike would be
AROUND = 10
# the longest run of equal values of a channel that never stands still, and the run by which it is
# stuck. Of the normal rows of four data sets 86 of 700,000 are in such runs; of channels that have
# stood still before, a tenth (reproduce/log.md, "Kinds of departure")
NEVER_STILL, LEAST_STILL = 5, 20
# the level departs if this share of the rows that are out, less the others, is on one side; or if
# this share of the event's rows is beyond the training range
ONE_SIDED, BEYOND = 0.7, 0.3
# rows that are out, or beyond the training range, that are no chance
FEW = 5
# a departure begins where this many of this many rows in a row are out: a single one is chance
FOLLOWED, WITHIN = 3, 5
# rows whose mean is a level, and how far before an event it may have begun to move
LEVEL_ROWS, MOVES_FROM = 20, 120
# share of the whole move that a level makes within a step; a drift makes less
STEP = 0.65
# share of the move that remains afterwards if the level has moved for good
STAYS = 0.5
# share of the largest move that is the usual one of a channel that never moved
TINY = 1e-3
# how many times as far the relation departs as the channel itself where two channels part
MORE = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class ChannelEvent:
    """One channel in an event of a segment.

    Parameters
    ----------
    column, left_out
        Values of the whole segment, and its rows that are not usual.
    habit
        The channel's habit, learned from training rows.
    first, last
        The event, half-open.
    missing
        Rows of the segment where it is missing for long, if there are any.
    permanent
        Whether the series is known not to come back from the event.
    """

    column: NDArray[Any]
    left_out: NDArray[np.bool_]
    habit: Habit
    first: int
    last: int
    missing: NDArray[np.bool_] | None = None
    permanent: bool = False

    @property
    def rows(self) -> slice:
        """The rows that are looked at."""
        return slice(max(self.first - BEFORE, 0), min(self.last + AFTER, len(self.column)))

    @property
    def here(self) -> slice:
        """The event, among the rows that are looked at."""
        return slice(self.first - self.rows.start, self.last - self.rows.start)

    @property
    def beside(self) -> slice:
        """The event and the rows beside it, among the rows that are looked at."""
        return slice(max(self.here.start - BESIDE, 0), self.here.stop + BESIDE)

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the rows that are looked at."""
        return np.asarray(self.column[self.rows], dtype=np.float64)

    def usual(self) -> Usual:
        """Expected values and usual bounds at the rows that are looked at."""
        return self.habit.usual(self.column, self.left_out, self.rows)


@dataclass(frozen=True, slots=True)
class Departure:
    """How a channel departed in an event.

    ``row`` is the row of the segment where it was furthest from ``expected``; ``low`` and ``high``
    are the usual bounds there. ``onset`` is the first row where it was out. ``lasted`` counts the
    rows of the event or, where the channel was stuck or missing, those rows; ``steps`` is the mean
    step from row to row in units of the usual one.
    """

    kind: str
    row: int
    expected: float
    low: float
    high: float
    onset: int
    lasted: int
    steps: float

    def later(self, rows: int) -> Departure:
        """The departure in rows of the series, whose segment begins at a later row."""
        return replace(self, row=self.row + rows, onset=self.onset + rows)


def depart(event: ChannelEvent, partner: ChannelEvent | None = None) -> Departure:
    """How a channel departed in an event; ``partner`` is the channel that it usually goes with."""
    usual = event.usual()
    irregular = event.values - usual.expected
    by_partner = None
    if partner is not None:
        by_partner = event.habit.slope * (partner.values - partner.usual().expected)
    signs = _Signs.of(event, irregular, by_partner)
    kind = _kind(event, signs)
    if kind == PARTED and by_partner is not None:
        expected = usual.expected + by_partner
        # bounds as wide as the relation usually varies
        share = event.habit.apart / _unit(event.habit.error, irregular)
        below, above = share * event.habit.below, share * event.habit.above
        usual = Usual(expected, expected + below, expected + above)
    away = np.abs(event.values - usual.expected)
    if kind == OUT_OF_RANGE:
        least, most = event.habit.least, event.habit.most
        beyond = np.maximum(least - event.values, event.values - most)
        if (beyond[event.here] > 0).any():
            # usual bounds are no wider than the training range, and the value is outside that
            away = beyond
            usual = Usual(
                usual.expected, np.maximum(usual.low, least), np.minimum(usual.high, most)
            )
    event_rows = event.here
    row = event_rows.start + int(away[event_rows].argmax())
    lasted = {STUCK: signs.still, MISSING: signs.missing}.get(kind, event.last - event.first)
    return Departure(
        kind,
        event.rows.start + row,
        float(usual.expected[row]),
        float(usual.low[row]),
        float(usual.high[row]),
        event.rows.start + signs.onset,
        lasted,
        signs.steps,
    )


@dataclass(frozen=True, slots=True)
class _Signs:
    """Counts and measures of an event, by which kinds are told apart.

    Counts are of rows of the event and beside it; sizes are in usual sizes of the irregular part.
    """

    missing: int
    still: int
    out: int  # rows that are out
    onset: int  # the first of them, among the rows that are looked at
    side: float  # 1 or -1 if they are all on one side
    size: float  # their median
    beyond: int  # rows beyond all that was seen in training
    spike_rows: int  # from the first to the last row that stands out from those around it
    elsewhere: float  # how far all other rows go, by themselves and from what the partner says
    steps: float  # the mean step from row to row, in units of the usual one
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
        habit, event_rows, beside = event.habit, event.here, event.beside
        unit, step = _unit(habit.error, irregular), _unit(habit.moving, np.diff(irregular))
        sizes = irregular / unit
        far = max(FAR, FAR_BEYOND * max(-habit.below, habit.above) / unit)
        out = np.flatnonzero(np.abs(sizes[beside]) > far)
        size = float(np.median(sizes[beside][out] if len(out) else sizes[event_rows]))
        values = event.values[beside]
        jumped = _from_around(irregular) > JUMP * step
        spikes = np.flatnonzero(jumped[beside])
        elsewhere = _reach(sizes[beside], ~jumped[beside])
        moves = np.abs(np.diff(irregular[max(event_rows.start - 1, 0) : event_rows.stop]))
        after = sizes[event_rows.stop :]
        relation = 0.0
        if by_partner is not None:
            left = (irregular - by_partner) / _unit(habit.apart, irregular)
            relation = _size(left[event_rows]) / max(_size(sizes[event_rows]), 1.0)
            elsewhere = max(elsewhere, _reach(left[event_rows], ~jumped[event_rows]))
        missing = event.missing[event.first : event.last] if event.missing is not None else ()
        return cls(
            missing=int(np.sum(missing)),
            still=longest_run(values)[1],
            out=len(out),
            onset=beside.start + _onset(out) if len(out) else event_rows.start,
            side=float(np.sign(sizes[beside][out]).mean()) if len(out) else 0.0,
            size=size,
            beyond=int(((values < habit.least) | (values > habit.most)).sum()),
            spike_rows=int(spikes[-1] - spikes[0]) + 1 if len(spikes) else 0,
            elsewhere=elsewhere,
            steps=float(moves.mean() / step) if len(moves) else 1.0,
            step_share=_step_share(sizes * (np.sign(size) or 1.0), event_rows),
            afterwards=float(np.median(after)) if len(after) else 0.0,
            relation=relation,
        )


def _kind(event: ChannelEvent, signs: _Signs) -> str:
    habit, lasted = event.habit, event.last - event.first
    if signs.missing > lasted / 2:
        return MISSING
    if is_stuck(signs.still, habit) and signs.still >= lasted / 2:
        return STUCK
    if 0 < signs.spike_rows <= SHORT >= signs.beyond and signs.elsewhere < FAR:
        return SPIKE
    noisier = signs.steps * habit.moving > habit.lively
    if noisier and abs(signs.side) <= ONE_SIDED:
        return NOISIER
    if _level_departs(event, signs):
        # within a cycle, the rhythm itself comes and goes little by little
        if signs.step_share < STEP and lasted >= habit.cycle:
            return DRIFT
        if event.permanent or signs.afterwards * np.sign(signs.size) > STAYS * abs(signs.size):
            return LEVEL_SHIFT
        if signs.beyond >= FEW:
            return OUT_OF_RANGE
    if signs.relation > MORE:
        return PARTED
    if noisier:
        return NOISIER
    if signs.steps * habit.moving < habit.calm:
        return CALMER
    return BROKEN_RHYTHM if habit.cycle and signs.out >= FEW else UNUSUAL


def _onset(out: NDArray[np.intp]) -> int:
    """The first of the rows that are out that is followed by others, or else the first."""
    followed = out[: -FOLLOWED + 1][out[FOLLOWED - 1 :] - out[: -FOLLOWED + 1] < WITHIN]
    return int(followed[0] if len(followed) else out[0])


def _level_departs(event: ChannelEvent, signs: _Signs) -> bool:
    """Whether the channel's level has moved to one side, rather than its rhythm changed."""
    if signs.beyond > BEYOND * (event.last - event.first):
        return True
    one_sided = abs(signs.side) > ONE_SIDED and signs.out >= FEW
    # half a cycle is on one side as well, and stays within the training range
    return one_sided and not (event.habit.cycle and signs.beyond < FEW)


def is_stuck(still: int, habit: Habit) -> bool:
    """Whether a run of equal values is far longer than a channel that never stands still has."""
    return habit.still <= NEVER_STILL and still >= LEAST_STILL


def _from_around(irregular: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each row stands from the median of the rows around it."""
    # mirrored at the ends, without the end itself
    padded = np.pad(irregular, AROUND, mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1)
    return np.asarray(np.abs(irregular - np.median(around, axis=1)))


def _step_share(sizes: NDArray[np.float64], event_rows: slice) -> float:
    """The largest step of the level in an event, as a share of the furthest level.

    ``sizes`` are positive on the side where the event is.
    """
    levels = np.convolve(sizes, np.ones(LEVEL_ROWS) / LEVEL_ROWS, "same")
    top = event_rows.start + int(levels[event_rows].argmax())
    sums = np.concatenate([[0.0], np.cumsum(sizes)])
    last = min(top + LEVEL_ROWS // 2, len(sizes) - LEVEL_ROWS)
    places = np.arange(max(event_rows.start - MOVES_FROM, LEVEL_ROWS), last)
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
    return TINY * largest if largest > 0 else 1.0


def _reach(sizes: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    """The 0.9 quantile of the sizes of the chosen rows; 0 where there are none."""
    return float(np.quantile(np.abs(sizes[chosen]), 0.9)) if chosen.any() else 0.0


def _size(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
