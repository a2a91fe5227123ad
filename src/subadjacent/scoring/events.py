"""Rows above a threshold, joined into events."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from subadjacent.errors import require_whole

# share of the highest score around it that a row of an event has
MIN_CORE_SHARE = 0.5
# share of its height that a peak must stand out by, to be one of its own
MIN_VALLEY_SHARE = 0.25


def join(
    above: NDArray[np.bool_],
    gap: int = 0,
    shortest: int = 1,
    segments: Sequence[tuple[int, int]] | None = None,
) -> list[tuple[int, int]]:
    """Half-open row bounds of the events in ``above``.

    Runs with at most ``gap`` rows between them are one event; events that then span fewer
    than ``shortest`` rows are dropped. No event reaches from one segment into the next.
    """
    require_whole("gap", gap, least=0)
    require_whole("shortest", shortest, least=1)
    joined: list[tuple[int, int]] = []
    for first, last in segments or [(0, len(above))]:
        edges = np.diff(above[first:last], prepend=False, append=False)
        runs = first + np.flatnonzero(edges).reshape(-1, 2)
        for start, stop in runs.tolist():
            if joined and joined[-1][1] > first and start - joined[-1][1] <= gap:
                joined[-1] = (joined[-1][0], stop)
            else:
                joined.append((start, stop))
    return [(start, stop) for start, stop in joined if stop - start >= shortest]


def core_of(
    above: NDArray[np.bool_],
    scores: NDArray[Any],
    reach: int,
    segments: Sequence[tuple[int, int]],
) -> NDArray[np.bool_]:
    """Those rows of ``above`` that score at least half as high as any around them.

    An average spreads an event over the rows around it; these are left out. Around a row are those
    within ``reach`` that no valley parts from it: a small event beside a large one stays.
    """
    highest = np.empty(len(scores))
    for first, last in segments:
        for start, stop in _slopes(scores[first:last], reach):
            slope = slice(first + start, first + stop)
            highest[slope] = maximum_filter1d(scores[slope], 2 * reach + 1, mode="nearest")
    return above & (scores >= MIN_CORE_SHARE * highest)


def _slopes(scores: NDArray[Any], reach: int) -> list[tuple[int, int]]:
    """Where the slopes of each peak begin and end, from valley to valley."""
    from scipy.signal import find_peaks, peak_prominences

    # one row more at either end: the first and the last row may be peaks
    padded = np.pad(scores.astype(float), 1, constant_values=scores.min() - 1)
    # seen from the middle of a longer plateau nothing is lower: it does not stand out
    peaks, _ = find_peaks(padded, plateau_size=(None, 2 * reach + 1))
    stands_out = peak_prominences(padded, peaks, wlen=2 * reach + 3)[0]
    peaks = peaks[stands_out >= MIN_VALLEY_SHARE * padded[peaks]] - 1
    valleys = [
        peak + int(np.argmin(scores[peak : next_peak + 1])) for peak, next_peak in pairwise(peaks)
    ]
    return list(pairwise([0, *valleys, len(scores)]))


def rows_of(events: Sequence[tuple[int, int]], n: int) -> NDArray[np.bool_]:
    """Which of ``n`` rows belong to an event."""
    rows = np.zeros(n, dtype=bool)
    for start, stop in events:
        rows[start:stop] = True
    return rows
