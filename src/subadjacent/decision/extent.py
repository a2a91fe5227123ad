"""The rows in which a channel departs in an event.

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.kinds import (
    MIN_OUT_ROWS,
    MIN_PAST_SHARE,
    ROWS_BEFORE,
    ChannelChart,
    ChannelEvent,
)
from subadjacent.decision.level_fit import LevelFit

# a row departs if it is out of range by this share of the most
MIN_OUT_SHARE = 0.1

# a departure begins where this many of this many rows in a row are out: a single one is chance
ONSET_ROWS, ONSET_WITHIN = 3, 5


def narrowed(event: ChannelEvent) -> ChannelEvent:
    """The event where the channel is out of its range, if it is in many of those rows.

    Scores are averages over rows, and stand out in more of them.
    """
    # it may have begun long before it was found
    found = _narrowed(replace(event, before=ROWS_BEFORE), by_model=False)
    return _narrowed(replace(found, before=event.before), by_model=True)


def _narrowed(event: ChannelEvent, *, by_model: bool) -> ChannelEvent:
    chart = event.chart()
    rows = rows_out(event, chart, LevelFit.of(event, chart) if by_model else None)
    if rows is None:
        return event
    beyond = chart.beyond[rows]
    if np.count_nonzero(beyond) < max(MIN_OUT_ROWS, MIN_PAST_SHARE * len(beyond)):
        return event
    first = event.rows.start + rows.start
    # rows after it tell whether it lasts
    last = max(min(event.rows.start + rows.stop, event.last), first + 1)
    return replace(event, first=first, last=last)


def rows_out(event: ChannelEvent, chart: ChannelChart, fit: LevelFit | None) -> slice | None:
    """From the first to the last row that is out of range by a share of the most; None if none is.

    Among the event and the rows beside it, and as long before as it has been out. Where the
    departure is a step, its rows are those of its level.
    """
    beyond, begin = np.abs(chart.beyond), event.beside.start
    out = beyond > MIN_OUT_SHARE * beyond[event.beside].max()
    places = begin + np.flatnonzero(out[event.beside])
    if not len(places):
        return None
    earliest = 0
    if fit is not None and fit.is_step:
        earliest = max(fit.start - fit.margin, 0)
        of_level = places[(places >= earliest) & (places < fit.stop + fit.margin)]
        places = of_level if len(of_level) else places
    first, last = onset(places), -onset(-places[::-1])
    while first == begin > earliest and out[begin - ONSET_WITHIN : begin].sum() >= ONSET_ROWS:
        begin -= 1
        first = begin if out[begin] else first
    return slice(first, last + 1)


def onset(out: NDArray[np.intp]) -> int:
    """The first of the rows that are out that is followed by others, or else the first."""
    followed = out[: -ONSET_ROWS + 1][out[ONSET_ROWS - 1 :] - out[: -ONSET_ROWS + 1] < ONSET_WITHIN]
    return int(followed[0] if len(followed) else out[0])
