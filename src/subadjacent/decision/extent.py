"""The rows in which a channel departs in an event.

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.kinds import MIN_OUT_ROWS, MIN_PAST_SHARE, ChannelChart, ChannelEvent

# a row departs if it is out of range by this share of the most
MIN_OUT_SHARE = 0.1

# a departure begins where this many of this many rows in a row are out: a single one is chance
ONSET_ROWS, ONSET_WITHIN = 3, 5


def narrowed(event: ChannelEvent, chart: ChannelChart) -> ChannelEvent:
    """The event where the channel is out of its range, if it is in many of those rows.

    Scores are averages over rows, and stand out in more of them.
    """
    rows = rows_out(event, chart)
    if rows is None:
        return event
    beyond = chart.beyond[rows]
    if np.count_nonzero(beyond) < max(MIN_OUT_ROWS, MIN_PAST_SHARE * len(beyond)):
        return event
    first = event.rows.start + rows.start
    # rows after it tell whether it lasts
    last = max(min(event.rows.start + rows.stop, event.last), first + 1)
    return replace(event, first=first, last=last, before=rows.start)


def rows_out(event: ChannelEvent, chart: ChannelChart) -> slice | None:
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


def _onset(out: NDArray[np.intp]) -> int:
    """The first of the rows that are out that is followed by others, or else the first."""
    followed = out[: -ONSET_ROWS + 1][out[ONSET_ROWS - 1 :] - out[: -ONSET_ROWS + 1] < ONSET_WITHIN]
    return int(followed[0] if len(followed) else out[0])
