"""Rows above a threshold, joined into events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import require_whole


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


def rows_of(events: Sequence[tuple[int, int]], n: int) -> NDArray[np.bool_]:
    """Which of ``n`` rows belong to an event."""
    rows = np.zeros(n, dtype=bool)
    for start, stop in events:
        rows[start:stop] = True
    return rows
