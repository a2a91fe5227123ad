"""Whether a channel is back at the level before an earlier alarm, or stays at a new one."""

from __future__ import annotations

import numpy as np

from subadjacent.decision.kinds import (
    ROWS_AFTER,
    ROWS_BEFORE,
    ROWS_BESIDE,
    Array,
    ChannelEvent,
)

# share of the move that remains after a permanent level shift
MIN_STAY_SHARE = 0.5

# parts of the rows after an event that must all tell that the level stays, and these rows at most
QUARTERS, MAX_AFTER = 4, 4_000

# earlier alarms, the latest ones, from which a channel may come back
MAX_FORMER = 5


def is_return(event: ChannelEvent) -> bool:
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


def stays(event: ChannelEvent) -> bool:
    """Whether a level lasts until the end of the segment."""
    after = slice(event.last, min(event.last + MAX_AFTER, len(event.column)))
    few = min(event.first, after.stop - after.start) < ROWS_BESIDE
    if few or len(event.column) - event.first < ROWS_AFTER:
        return event.permanent
    height = float(np.median(_moved(event, event.first, slice(event.first, event.last))))
    left = _moved(event, event.first, after) * np.sign(height)
    parts = [float(np.median(part)) for part in np.array_split(left, QUARTERS)]
    return min(parts) > MIN_STAY_SHARE * abs(height)


def _moved(event: ChannelEvent, since: int, rows: slice) -> Array:
    """How far rows of the segment are from what was expected before row ``since``."""
    normal = np.flatnonzero(~event.left_out[:since])
    left_out = event.left_out.copy()
    # in those of the alarm before it the channel has not departed
    left_out[int(normal[-1]) + 1 if len(normal) else 0 : since] = False
    left_out[since:] = True
    expected = event.profile.expected_range(event.column, left_out, rows).expected
    return np.asarray(event.column[rows] - expected, dtype=np.float64)
