"""What one series usually does, learned from its rows as they come.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MEMORY = 2_000
"""Rows after which what was learned from a row counts for a third."""

ENOUGH = 100
"""Rows after which the learner is of use."""


class Judged(NamedTuple):
    """What the learner says of rows, before it learns from them."""

    severity: Array  # (B,), 1.0 opens an alarm
    by_channel: Array  # (B, C)
    expected: Array  # (B, C)
    low: Array  # (B, C)
    high: Array  # (B, C)
    sure: Array  # (B,), 0 to 1


class Learner:
    """A running mean and deviation: holds the place of the real one."""

    def __init__(self, channels: int) -> None:
        self.count = 0.0
        self.mean = np.zeros(channels)
        self.square = np.zeros(channels)

    def step(self, rows: Array, scores: Array | None = None, calm: bool = True) -> Judged:
        """Judge rows that follow those before, (B, C), then learn from them if ``calm``.

        ``scores`` are a fixed model's, where there is one. What is said of rows does not depend on
        how many of them come together.
        """
        each = [self._one(row, calm) for row in rows]
        return Judged(*(np.array(column) for column in zip(*each, strict=True)))

    def _one(self, row: Array, calm: bool) -> tuple[float, Array, Array, Array, Array, float]:
        deviation = np.sqrt(np.maximum(self.square, 1e-12)) + 1e-9
        z = np.square((row - self.mean) / deviation) if self.count else np.zeros_like(row)
        sure = min(self.count / ENOUGH, 1.0)
        judged = (
            float(np.sqrt(z.max()) / 6 * sure),
            z,
            self.mean.copy(),
            self.mean - 3 * deviation,
            self.mean + 3 * deviation,
            sure,
        )
        if calm:
            self.count = min(self.count + 1, MEMORY)
            apart = row - self.mean
            self.mean = self.mean + apart / self.count
            self.square = self.square + (apart * (row - self.mean) - self.square) / self.count
        return judged

    def accept(self, rows: Array) -> None:
        """Learn from rows that were left out, (B, C): they are normal after all."""
        self.count = float(len(rows))
        self.mean = rows.mean(axis=0)
        self.square = np.square(rows - self.mean).mean(axis=0)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays of bounded size."""
        return {"count": np.array([self.count]), "mean": self.mean, "square": self.square}

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of ``state``."""
        learner = cls(len(arrays["mean"]))
        learner.count = float(arrays["count"][0])
        learner.mean, learner.square = arrays["mean"], arrays["square"]
        return learner
