"""The last rows of a series, of which some were calm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

KEPT = 4_096
"""Rows that are kept: two weeks of five minutes each."""

ROOM = 128
"""Rows that there is room for at first."""


class KeptRows:
    """Rows in order, the latest last; at least the last ``KEPT`` of them.

    Room grows to twice that, so that old rows are moved out of the way once in so many rows.
    """

    def __init__(self, channels: int) -> None:
        self._rows: Array = np.zeros((ROOM, channels))
        self._calm: NDArray[np.bool_] = np.zeros(ROOM, dtype=bool)
        self._end = 0

    def __len__(self) -> int:
        return min(self._end, KEPT)

    def add(self, rows: Array) -> None:
        """Append rows, (B, C), at most ``KEPT``; none is calm until that is said."""
        needed = self._end + len(rows)
        if needed > len(self._rows):
            kept, calm = self.last(KEPT), self.calm(KEPT)
            room = min(2 * needed, 2 * KEPT)
            self._rows, self._calm = np.zeros((room, rows.shape[1])), np.zeros(room, dtype=bool)
            self._end = len(kept)
            self._rows[: self._end], self._calm[: self._end] = kept, calm
        self._rows[self._end : self._end + len(rows)] = rows
        self._calm[self._end : self._end + len(rows)] = False
        self._end += len(rows)

    def change(self, rows: Array) -> None:
        """Replace the last rows by others, as in other units."""
        self._rows[self._end - len(rows) : self._end] = rows

    def last(self, count: int) -> Array:
        """The last ``count`` rows, or as many as there are; to be read only."""
        return self._rows[max(self._end - count, 0) : self._end]

    def calm(self, count: int) -> NDArray[np.bool_]:
        """Which of the last ``count`` rows were calm; may be written to."""
        return self._calm[max(self._end - count, 0) : self._end]

    def state(self) -> dict[str, NDArray[Any]]:
        """The rows that are kept; ``restore`` is the inverse."""
        return {"kept": self.last(KEPT), "calm": self.calm(KEPT)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was kept."""
        self._end = 0
        self.add(state["kept"])
        self.calm(len(state["kept"]))[:] = state["calm"]
