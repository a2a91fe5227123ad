"""The distance from the last few rows of a channel to the most similar rows of its past.

Windows of the recent past are kept as references. A window is compared with all of them, and the
nearest-neighbour distance, as root mean square difference, says how unfamiliar it is.

Shapes: B rows, C channels, L rows of a window, R references.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.online.windows import windows

Array = NDArray[np.float64]

LENGTHS = (4, 16)
"""Rows of a window. Longer ones find less (reproduce/log.md, "Learning while it watches")."""

LONGEST = max(LENGTHS)

ENTRIES = LONGEST + len(LENGTHS)
"""Numbers kept of a reference: its values, and the sum of squares of its last rows for each of the
lengths."""

MAX_REFERENCES = 2_000
"""References of each channel: the windows that ended at each of this many last rows. Half as many
cost six points on telemetry, twice as many gain one (the log, "Learning while it watches")."""

MAX_VALUES = 20_000
"""References times channels at most: wide rows have fewer references."""

EXCLUSION_ZONE = 32
"""Rows between a window and its latest reference: windows that nearly overlap are always alike."""

FIRST_CAPACITY = 256
"""References that memory is taken for at first; it grows with the series."""

UNUSED = 1e300
"""Sum of squares of a slot without a reference: so large that it is never the nearest."""


class ReferenceWindows:
    """References in slots, of which the newest takes over that of the oldest.

    A reference's slot follows from the number of its last row, so that a memory that is made anew
    from the history is the same.
    """

    def __init__(self, channels: int) -> None:
        self.size = min(MAX_REFERENCES, MAX_VALUES // channels)
        self._slots = _empty_slots(channels, 1)

    def add(self, rows: Array, row_numbers: NDArray[np.int64], normal: NDArray[np.bool_]) -> None:
        """Keep the windows that end at rows with these numbers as references, if they were normal.

        ``rows`` are those of all the windows, (B + LONGEST - 1, C).
        """
        slots = row_numbers % self.size
        self._grow(int(slots.max()) + 1)
        values = windows(rows, LONGEST).transpose(1, 2, 0)  # (C, LONGEST, B)
        new = np.empty((len(values), ENTRIES, len(slots)))
        new[:, :LONGEST] = values
        for entry, length in enumerate(LENGTHS, start=LONGEST):
            squares = np.square(values[:, -length:]).sum(axis=1)
            new[:, entry] = np.where(normal, squares, UNUSED)
        first, last = int(slots[0]), int(slots[-1])
        are_consecutive = last - first == len(slots) - 1
        # a slice is quicker to write to
        self._slots[:, :, slice(first, last + 1) if are_consecutive else slots] = new

    def _grow(self, needed: int) -> None:
        channels, _, capacity = self._slots.shape
        if needed > capacity:
            added = min(max(2 * capacity, needed, FIRST_CAPACITY), self.size) - capacity
            self._slots = np.concatenate([self._slots, _empty_slots(channels, added)], axis=2)

    def nearest_distances(self, rows: Array) -> Array:
        """The distance from each channel's windows to their nearest references, (lengths, B, C).

        ``rows`` are those of all the windows, (B + LONGEST - 1, C). It is 0 where there is no
        reference.
        """
        channels = rows.shape[1]
        squares = np.empty((len(LENGTHS), channels, len(rows) + 1 - LONGEST))
        for number, (length, nearest) in enumerate(zip(LENGTHS, squares, strict=True)):
            values = windows(rows[LONGEST - length :], length).transpose(1, 0, 2)  # (C, B, L)
            # |a - b|^2 = |a|^2 + (-2 a, 1) (b, |b|^2): one product gives all but the first term
            factors = np.zeros((*values.shape[:2], length + number + 1))
            np.multiply(values, -2, out=factors[..., :length])
            factors[..., -1] = 1
            references = self._slots[:, LONGEST - length : LONGEST + number + 1]
            np.minimum.reduce(factors @ references, axis=2, out=nearest)
            nearest += np.add.reduce(np.square(values), axis=2)
            nearest /= length
        # less than 0 by rounding
        np.maximum(squares, 0, out=squares)
        squares[squares >= UNUSED / (2 * LONGEST)] = 0
        return np.sqrt(squares, out=squares).swapaxes(1, 2)


def _empty_slots(channels: int, count: int) -> Array:
    """Slots without references, (C, ENTRIES, R).

    The values come first and the sums of squares last: a shorter window is the end of the longest.
    """
    slots = np.zeros((channels, ENTRIES, count))
    slots[:, LONGEST:] = UNUSED
    return slots
