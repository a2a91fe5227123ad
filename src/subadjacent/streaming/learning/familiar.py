"""Was there ever anything like the last few rows? The distance to the most alike of late.

Shapes: B rows, C channels, L rows of a window, R windows to compare with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.windows import windows

Array = NDArray[np.float64]

LENGTHS = (4, 16)
"""Rows of a window. Longer ones find less (docs/log.md, "Learning while it watches")."""

LONGEST = max(LENGTHS)

REMEMBERED = 2_000
"""Windows to compare with: those that ended at each of the last so many rows. Half as many cost six
points on telemetry, twice as many gain one (docs/log.md, "Learning while it watches")."""

MOST_VALUES = 20_000
"""Windows times channels at most: wide rows are compared with fewer."""

APART = 32
"""Rows between a window and the latest that it is compared with: neighbours are always alike."""

ROOM = 256
"""Windows that there is room for once there is one."""

NEVER = 1e300
"""The square of a window that is not compared with."""


class Familiar:
    """Windows of late, each in a place of its own that the next one takes over.

    A window's place follows from the number of its last row, so that what is remembered does not
    depend on when it began to be.
    """

    def __init__(self, channels: int) -> None:
        self.size = min(REMEMBERED, MOST_VALUES // channels)
        self._seen = [_room(channels, length, 1) for length in LENGTHS]

    def add(self, rows: Array, numbers: NDArray[np.int64], calm: NDArray[np.bool_]) -> None:
        """Remember the windows that end at rows with these numbers, if they were calm.

        ``rows`` are those of all the windows, (B + LONGEST - 1, C).
        """
        places = numbers % self.size
        self._grow(int(places.max()) + 1)
        for length, seen in zip(LENGTHS, self._seen, strict=True):
            each = windows(rows[LONGEST - length :], length).transpose(1, 2, 0)  # (C, L, B)
            seen[:, :-1, places] = each
            seen[:, -1, places] = np.where(calm, np.square(each).sum(axis=1), NEVER)

    def _grow(self, needed: int) -> None:
        """Make room for so many windows: a series of few rows does not need that of many."""
        there = self._seen[0].shape[2]
        if needed > there:
            more = min(max(2 * there, needed, ROOM), self.size) - there
            for number, length in enumerate(LENGTHS):
                seen = self._seen[number]
                room = _room(len(seen), length, more)
                self._seen[number] = np.concatenate([seen, room], axis=2)

    def distances(self, rows: Array) -> list[Array]:
        """How far each channel's latest windows are from all that are remembered, (B, C) a length.

        ``rows`` are those of all the windows, (B + LONGEST - 1, C). It is 0 where none is
        remembered.
        """
        found = []
        for length, seen in zip(LENGTHS, self._seen, strict=True):
            each = windows(rows[LONGEST - length :], length).transpose(1, 0, 2)  # (C, B, L)
            mine = np.ones((*each.shape[:2], length + 1))
            np.multiply(each, -2, out=mine[..., :-1])
            nearest = (mine @ seen).min(axis=2) + np.square(each).sum(axis=2)
            nearest[nearest >= NEVER / 2] = 0
            found.append(np.sqrt(np.maximum(nearest, 0) / length).T)
        return found


def _room(channels: int, length: int, count: int) -> Array:
    """Room for windows, of which none is there yet, (C, L + 1, R).

    The last line holds squares: one product then gives all of a distance but the own square.
    """
    room = np.zeros((channels, length + 1, count))
    room[:, -1] = NEVER
    return room
