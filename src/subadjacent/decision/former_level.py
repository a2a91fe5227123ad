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
from subadjacent.decision.references import SHORT_MEMORY

# rows before a return, or after it, whose median is a level: an odd number of them
LEVEL_ROWS = 19

# share of the move that remains after a permanent level shift
MIN_STAY_SHARE = 0.5

# parts of the rows from an event on that must all tell that the level stays, of these rows at most
QUARTERS, MAX_AFTER = 4, 4_000

# earlier alarms, the latest ones, from which a channel may come back
MAX_FORMER = 5

# rows that a series is like training again before an alarm tells of it, at most
MAX_LATE = 150


def row_of_return(event: ChannelEvent) -> int | None:
    """The first row back at the level from before an earlier alarm; None without one.

    It may lie long before the event: that a series is like training again takes time to know.
    """
    profile, earlier = event.profile, event.left_out[: max(event.first - ROWS_BESIDE, 0)]
    # the first row of each earlier alarm, and the last
    begins = np.flatnonzero(earlier & ~np.append(False, earlier[:-1]))
    ends = np.flatnonzero(earlier & ~np.append(earlier[1:], False)) + 1
    for begin, end in zip(begins[-MAX_FORMER:].tolist(), ends[-MAX_FORMER:].tolist(), strict=True):
        # a level that wanders, or that only training knows, is left by more than it ever moved
        is_vague = not begin or profile.memory == SHORT_MEMORY
        width = profile.high - profile.low if is_vague else profile.above - profile.below
        latest = slice(max(event.last - LEVEL_ROWS, event.first), event.last)
        now = float(np.median(_moved(event, begin, latest)))
        recent = slice(max(event.first - ROWS_BEFORE, begin), event.first)
        since = float(np.median(_moved(event, begin, recent)))
        # it moved in that alarm, and not since
        during = float(np.median(_moved(event, begin, slice((begin + end) // 2, end))))
        least = MIN_STAY_SHARE * abs(since)
        if abs(now) < least > MIN_STAY_SHARE * width / 2 and during * np.sign(since) > least:
            start = max(event.first - MAX_LATE, begin)
            moved = _moved(event, begin, slice(start, event.last)) * np.sign(since)
            # away before it, and back from it on
            away = int(np.cumsum(moved - least).argmax()) + 1
            row = int(start + away)
            back = event.column[row : event.last]
            is_back = ((profile.low <= back) & (back <= profile.high)).any()
            if is_back and away >= LEVEL_ROWS <= np.count_nonzero(moved[:away] > least):
                return row
    return None


def typical_row(event: ChannelEvent) -> int:
    """The row of an event that is nearest to the level of its first rows, among normal values."""
    values = event.column[event.first : event.last]
    is_normal = (event.profile.low <= values) & (values <= event.profile.high)
    distance = np.abs(values - np.median(values[:LEVEL_ROWS]))
    return event.first + int(np.where(is_normal, distance, np.inf).argmin())


def stays(event: ChannelEvent) -> bool:
    """Whether a level lasts until the end of the segment, as far as its rows tell."""
    since = slice(event.first, min(event.first + MAX_AFTER, len(event.column)))
    if event.first < ROWS_BESIDE or len(event.column) - event.first < ROWS_AFTER:
        return event.permanent
    moved = _moved(event, event.first, since)
    height = float(np.median(moved[: event.last - event.first]))
    parts = [*np.array_split(moved, QUARTERS), moved[-LEVEL_ROWS:]]
    levels = [float(np.median(part)) * np.sign(height) for part in parts]
    return bool(min(levels) > MIN_STAY_SHARE * abs(height))


def _moved(event: ChannelEvent, since: int, rows: slice) -> Array:
    """How far rows of the segment are from what was expected before row ``since``."""
    normal = np.flatnonzero(~event.left_out[:since])
    left_out = event.left_out.copy()
    # in those of the alarm before it the channel has not departed
    left_out[int(normal[-1]) + 1 if len(normal) else 0 : since] = False
    left_out[since:] = True
    expected = event.profile.expected_range(event.column, left_out, rows).expected
    return np.asarray(event.column[rows] - expected, dtype=np.float64)
