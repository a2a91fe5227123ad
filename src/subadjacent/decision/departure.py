"""How a channel departed in an event: the simplest model that explains most of it.

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from subadjacent.decision.classify import kind_of, silent_kind
from subadjacent.decision.extent import narrowed, rows_out
from subadjacent.decision.former_level import row_of_return, typical_row
from subadjacent.decision.jumps import Jump
from subadjacent.decision.kinds import (
    ABRUPT_CHANGE,
    DECOUPLED,
    DRIFT,
    HIGHER_VARIANCE,
    LOWER_VARIANCE,
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
)
from subadjacent.decision.level_fit import LevelFit
from subadjacent.decision.signs import Signs

# kinds quoted by the furthest row of the whole alarm. Not level shifts: after the event the level
# goes on, and the expected range follows it
BY_FURTHEST = (OUT_OF_RANGE, DRIFT, UNUSUAL_SHAPE)


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
    chart = event.chart()
    signs = Signs.of(event, chart)
    given, jump, fit, kind = None, None, None, silent_kind(event, signs)
    found, returned = event, None
    if kind is None:
        returned = row_of_return(event)
        fit = LevelFit.of(event, chart)
        if narrows:
            event = narrowed(event)
            chart = event.chart()
            signs = Signs.of(event, chart)
            # a ramp begins before it is out of range
            fit = min(LevelFit.of(event, chart), fit, key=lambda one: not one.is_ramp)
        if partner is not None:
            given = chart.given(
                event, replace(partner, first=event.first, last=event.last, before=event.before)
            )
        jump = Jump.of(event, chart, given)
        kind = kind_of(event, chart, signs, given, jump, fit, is_back=returned is not None)
    if kind == DECOUPLED and given is not None:
        chart = given
    jump = jump if kind in (SPIKE, ABRUPT_CHANGE) else None
    turns = chart.turns(event.here, kind)
    if kind == RETURN and returned is not None:
        event = replace(found, first=min(returned, found.last - 1)) if narrows else found
        chart = event.chart()
        turns = [typical_row(event) - event.rows.start]
    elif kind == STUCK:
        turns = [max(signs.run_row - event.rows.start, event.here.start)]
    elif jump is not None and kind == ABRUPT_CHANGE:
        turns = [jump.row]
    elif jump is not None:
        turns = chart.turns(slice(jump.start, jump.stop), kind)
    rows = _rows(event, chart, signs, kind, fit)
    if narrows and rows is not None and kind in BY_FURTHEST:
        # of all the rows that the alarm will have
        turns = chart.turns(rows, kind)
        if kind == DRIFT:
            turns = [_extreme(chart, rows, turns[0])]
    if not narrows and not all(event.here.start <= turn < event.here.stop for turn in turns):
        turns = chart.turns(event.here, kind)
    row = max(turns, key=chart.distance)
    turns = [turn for turn in turns if turn == row or _is_comparable(chart, turn, row)]
    if jump is not None:
        rows = slice(jump.start, jump.stop)
    is_visible = rows is not None
    rows = event.here if rows is None else rows
    lasted = {STUCK: signs.run, MISSING: signs.missing}.get(kind, rows.stop - rows.start)
    size = signs.varied_steps
    if kind == UNUSUAL_SHAPE:
        size = rms(chart.sizes[event.here])
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


def _extreme(chart: ChannelChart, rows: slice, turn: int) -> int:
    """The row with the most extreme value among those out of range on the side of ``turn``."""
    side = np.sign(chart.beyond[turn])
    values = np.where(chart.beyond[rows] * side > 0, side * chart.values[rows], -np.inf)
    return turn if side == 0 else rows.start + int(values.argmax())


def _is_comparable(chart: ChannelChart, turn: int, row: int) -> bool:
    """Whether ``turn`` lies on the same side of its own range as of the range at ``row``."""
    value, low, high = chart.values[turn], chart.range.low[row], chart.range.high[row]
    return bool(chart.beyond[turn] * (max(value - high, 0) + min(value - low, 0)) > 0)


def _rows(
    event: ChannelEvent, chart: ChannelChart, signs: Signs, kind: str, fit: LevelFit | None
) -> slice | None:
    """The rows of a departure, among the examined ones; None if a chart does not show it."""
    if kind == MISSING and event.missing is not None:
        rows = np.flatnonzero(event.missing[event.rows][event.here]) + event.here.start
        return slice(int(rows[0]), int(rows[-1]) + 1)
    if kind == STUCK:
        first = signs.run_row - event.rows.start
        return slice(first, first + signs.run)
    if kind in (HIGHER_VARIANCE, LOWER_VARIANCE):
        return signs.varied
    if kind == RETURN:
        return event.here
    return None if kind == UNUSUAL else rows_out(event, chart, fit)
