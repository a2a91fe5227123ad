"""The latest rows of a series, and which of them were calm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HISTORY = 4_096
"""Rows that are kept: two weeks of five minutes each."""

FIRST_CAPACITY = 128
"""Rows that memory is taken for at first; it grows with the series."""


class RowHistory:
    """At least the last ``HISTORY`` rows, in order.

    Capacity grows to twice that, so that old rows are dropped once in ``HISTORY`` rows.
    """

    def __init__(self, channels: int) -> None:
        self._rows: Array = np.zeros((FIRST_CAPACITY, channels))
        self._calm: NDArray[np.bool_] = np.zeros(FIRST_CAPACITY, dtype=bool)
        self._end = 0

    def __len__(self) -> int:
        return min(self._end, HISTORY)

    def add(self, rows: Array) -> None:
        """Append rows, (B, C), at most ``HISTORY``. They are not calm until ``calm`` says so."""
        needed = self._end + len(rows)
        if needed > len(self._rows):
            kept, calm = self.last(HISTORY), self.calm(HISTORY)
            capacity = min(2 * needed, 2 * HISTORY)
            self._rows = np.zeros((capacity, rows.shape[1]))
            self._calm = np.zeros(capacity, dtype=bool)
            self._end = len(kept)
            self._rows[: self._end], self._calm[: self._end] = kept, calm
        self._rows[self._end : self._end + len(rows)] = rows
        self._calm[self._end : self._end + len(rows)] = False
        self._end += len(rows)

    def replace_last(self, rows: Array) -> None:
        """Overwrite the last rows, for example in other units."""
        self._rows[self._end - len(rows) : self._end] = rows

    def last(self, count: int) -> Array:
        """The last ``count`` rows, or as many as there are. Do not write to them."""
        return self._rows[max(self._end - count, 0) : self._end]

    def calm(self, count: int) -> NDArray[np.bool_]:
        """Which of the last ``count`` rows were calm. Write to it to change that."""
        return self._calm[max(self._end - count, 0) : self._end]

    def state(self) -> dict[str, NDArray[Any]]:
        """The rows as arrays; ``restore`` is the inverse."""
        return {"rows": self.last(HISTORY), "calm": self.calm(HISTORY)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace all rows by saved ones."""
        self._end = 0
        self.add(state["rows"])
        self.calm(len(state["rows"]))[:] = state["calm"]
