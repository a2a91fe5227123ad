"""The length of a cycle of the training rows, and how long rows stay correlated.

Both come from the autocorrelation of the rows.

Shapes: T rows of a segment, C channels, K axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

# axes of most variance that are used
PERIOD_AXES = 3
# the longest cycle, in rows
LONGEST_PERIOD, SHORTEST_PERIOD = 2000, 30
# of a channel by itself, which has less to be mistaken for a cycle: a day of hours is one
SHORTEST_CHANNEL_PERIOD = 6
# rows used at the end of a long segment
MAX_PERIOD_ROWS = 100_000
# the least autocorrelation one cycle away
MIN_AUTOCORRELATION = 0.3
# this share of the best autocorrelation counts as equal to it
EQUAL_SHARE = 0.9
# an autocorrelation that has not fallen below this has no cycle yet
MAX_TROUGH = 0.2


def dominant_period(rows: NDArray[Any], axes: NDArray[Any]) -> int | None:
    """Length in rows of a segment's dominant cycle, along its main axes; None without one.

    Cycles of more than a quarter of the rows cannot be distinguished from chance.
    """
    seen = np.asarray(rows[-MAX_PERIOD_ROWS:] @ axes[:, :PERIOD_AXES], dtype=np.float64)
    longest = min(LONGEST_PERIOD, len(seen) // 4)
    return _period(_autocorrelation(seen, longest), SHORTEST_PERIOD)


def channel_periods(rows: NDArray[Any]) -> list[int | None]:
    """Length in rows of each channel's own cycle in a segment (T, C); None without one."""
    longest = min(LONGEST_PERIOD, len(rows) // 4)
    return [
        _period(
            _autocorrelation(rows[:, [channel]].astype(np.float64), longest),
            SHORTEST_CHANNEL_PERIOD,
        )
        for channel in range(rows.shape[1])
    ]


def _period(likeness: NDArray[np.float64], shortest: int) -> int | None:
    """The first lag with nearly the best autocorrelation, past the first where it has fallen."""
    fallen = np.flatnonzero(likeness < MAX_TROUGH)
    if not len(fallen):
        return None
    first = max(int(fallen[0]), shortest)
    if first >= len(likeness):
        return None
    best = likeness[first:].max()
    if best <= MIN_AUTOCORRELATION:
        return None
    # two cycles are as alike as one: the first that is nearly as good, and its top
    near = first + int(np.flatnonzero(likeness[first:] >= EQUAL_SHARE * best)[0])
    return near + int(np.argmax(likeness[near : near + near // 4 + 1]))


def independent_rows(segments: Sequence[NDArray[Any]], axes: NDArray[Any]) -> float:
    """The effective number of independent rows of all segments.

    Correlated rows repeat each other: their number is divided by twice the sum of autocorrelations
    up to the first that is not positive, less 1. They are measured on the longest segment.
    """
    longest = max(segments, key=len)
    seen = np.asarray(longest[-MAX_PERIOD_ROWS:] @ axes[:, :PERIOD_AXES], dtype=np.float64)
    likeness = _autocorrelation(seen, len(seen) // 4)
    none = np.flatnonzero(likeness <= 0)
    alike = 2 * float(likeness[: none[0] if len(none) else None].sum()) - 1
    return sum(map(len, segments)) / max(alike, 1.0)


def _autocorrelation(seen: NDArray[np.float64], longest: int) -> NDArray[np.float64]:
    """The autocorrelation of rows at lags up to ``longest``, all axes together; 1 at 0."""
    n = len(seen)
    centred = seen - seen.mean(axis=0)
    power = np.abs(np.fft.rfft(centred, next_fast_len(2 * n), axis=0)) ** 2
    sums = np.fft.irfft(power, next_fast_len(2 * n), axis=0)[:longest].sum(axis=1)
    # fewer pairs are that far apart
    means = sums / np.arange(n, n - longest, -1)
    # rows that never moved are like none
    return np.asarray(means / means[0]) if longest and means[0] > 0 else np.zeros(0)
