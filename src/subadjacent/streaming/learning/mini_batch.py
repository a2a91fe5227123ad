"""The rows that were judged since the learner last learned."""

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
