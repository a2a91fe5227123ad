"""Was there ever anything like the last few rows? The distance to the most alike of late.

Shapes: B rows, C channels, L rows of a window, R windows to compare with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.windows import windows

Array = NDArray[np.float64]

LENGTHS = (4, 16)
"""Rows of a window, the shorter first."""

LONGEST = max(LENGTHS)

REMEMBERED = 2_000
"""Windows to compare with: those that ended at each of the last so many rows."""

MOST_VALUES = 20_000
"""Windows times channels at most: wide rows are compared with fewer."""

APART = 32
"""Rows between a window and the latest that it is compared with: neighbours are always alike."""

NEVER = 1e300
"""The square of a window that is not compared with."""


class Familiar:
    """Windows of late, each in a place of its own that the next one takes over.

    A window's place follows from the number of its last row, so that what is remembered does not
    depend on when it began to be.
    """

    def __init__(self, channels: int) -> None:
        self.size = min(REMEMBERED, MOST_VALUES // channels)
        # the last line holds squares: one product then gives all of a distance but the own square
        self._seen = [np.zeros((channels, length + 1, self.size)) for length in LENGTHS]
        for seen in self._seen:
            seen[:, -1] = NEVER

    def add(self, rows: Array, numbers: NDArray[np.int64], calm: NDArray[np.bool_]) -> None:
        """Remember the windows that end at rows with these numbers, if they were calm.

        ``rows`` are those of all the windows, (B + LONGEST - 1, C).
        """
        places = numbers % self.size
        for length, seen in zip(LENGTHS, self._seen, strict=True):
            each = windows(rows[LONGEST - length :], length).transpose(1, 2, 0)  # (C, L, B)
            seen[:, :-1, places] = each
            seen[:, -1, places] = np.where(calm, np.square(each).sum(axis=1), NEVER)

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
