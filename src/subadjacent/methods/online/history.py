"""The latest rows of a series, which of them were normal, and those not learned from yet."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MINI_BATCH = 16
"""Rows after which the learner learns. 32 are quicker, and cost a point or two of the live score,
which is within chance (reproduce/log.md, "Learning while it watches")."""


class MiniBatch:
    """Named arrays with one entry a row, filled as rows come.

    Each row is written to its place when it comes, so that the last one costs no more than others.

    Parameters
    ----------
    capacity
        The most rows that it holds.
    """

    def __init__(self, capacity: int = MINI_BATCH) -> None:
        self.count = 0
        self._capacity = capacity
        self._arrays: dict[str, Array] = {}

    def add(self, count: int, **arrays: Array) -> None:
        """Add ``count`` rows; an array that some rows lack is dropped."""
        if not self.count:
            self._arrays = {
                name: np.empty((self._capacity, *array.shape[1:])) for name, array in arrays.items()
            }
        for name in self._arrays.keys() - arrays.keys():
            del self._arrays[name]
        for name, array in self._arrays.items():
            array[self.count : self.count + count] = arrays[name]
        self.count += count

    def arrays(self) -> dict[str, Array]:
        """The arrays that all rows have."""
        return {name: array[: self.count] for name, array in self._arrays.items()}

    def state(self) -> dict[str, NDArray[Any]]:
        """The rows as arrays; ``restore`` is the inverse."""
        return {"count": np.array([self.count]), **self.arrays()}

    @classmethod
    def restore(cls, state: dict[str, NDArray[Any]], capacity: int = MINI_BATCH) -> Self:
        """A mini-batch with saved rows."""
        arrays = dict(state)
        mini_batch = cls(capacity)
        mini_batch.add(int(arrays.pop("count")[0]), **arrays)
        return mini_batch


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
        """Append rows, (B, C), at most ``HISTORY``; they are not marked as normal yet."""
        needed = self._end + len(rows)
        if needed > len(self._rows):
            kept, normal = self.last(HISTORY), self.normal(HISTORY)
            capacity = min(2 * needed, 2 * HISTORY)
            self._rows = np.zeros((capacity, rows.shape[1]))
            self._calm = np.zeros(capacity, dtype=bool)
            self._end = len(kept)
            self._rows[: self._end], self._calm[: self._end] = kept, normal
        self._rows[self._end : self._end + len(rows)] = rows
        self._calm[self._end : self._end + len(rows)] = False
        self._end += len(rows)

    def replace_last(self, rows: Array) -> None:
        """Overwrite the last rows, for example in other units."""
        self._rows[self._end - len(rows) : self._end] = rows

    def last(self, count: int) -> Array:
        """The last ``count`` rows, or as many as there are. Do not write to them."""
        return self._rows[max(self._end - count, 0) : self._end]

    def normal(self, count: int) -> NDArray[np.bool_]:
        """Which of the last ``count`` rows are normal. Write to it to change that."""
        return self._calm[max(self._end - count, 0) : self._end]

    def state(self) -> dict[str, NDArray[Any]]:
        """The rows as arrays; ``restore`` is the inverse."""
        return {"rows": self.last(HISTORY), "calm": self.normal(HISTORY)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace all rows by saved ones."""
        self._end = 0
        self.add(state["rows"])
        self.normal(len(state["rows"]))[:] = state["calm"]
