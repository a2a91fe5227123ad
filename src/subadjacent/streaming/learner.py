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

BLOCK = 16
"""Rows after which what they say is learned."""


class Judged(NamedTuple):
    """What the learner says of rows, before it learns from them."""

    severity: Array  # (B,), 1.0 opens an alarm: how much news a row brings
    lasting: Array  # (B,), the same without regard to what the last rows said already
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
        self._rows = np.zeros((0, channels))  # the last rows, for what is accepted later
        self._block: list[Array] = []
        self._calm: list[NDArray[np.bool_]] = []

    @property
    def room(self) -> int:
        """Rows that can be judged before it has to be said which of them were calm."""
        return BLOCK - sum(map(len, self._block))

    def judge(self, rows: Array, scores: Array | None = None) -> Judged:  # noqa: ARG002
        """Judge rows that follow those before, (B, C) with B at most ``room``.

        ``scores`` are a fitted model's, (B,), where there is one.
        """
        deviation = np.sqrt(np.maximum(self.square, 1e-12)) + 1e-9
        z = np.square((rows - self.mean) / deviation) if self.count else np.zeros(rows.shape)
        sure = min(self.count / ENOUGH, 1.0)
        severity = np.sqrt(z.max(axis=1)) / 6 * sure * (self.count >= ENOUGH / 2)
        self._block.append(rows)
        self._rows = np.concatenate([self._rows, rows])[-1000:]
        around = np.broadcast_to(self.mean, rows.shape)
        low, high = around - 3 * deviation, around + 3 * deviation
        return Judged(severity, severity, z, around, low, high, np.full(len(rows), sure))

    def learn(self, calm: NDArray[np.bool_]) -> None:
        """Say which of the rows judged last were calm, (B,); after a block, learn from these."""
        self._calm.append(calm)
        if self.room:
            return
        rows = np.concatenate(self._block)[np.concatenate(self._calm)]
        self._block, self._calm = [], []
        for row in rows:
            self.count = min(self.count + 1, MEMORY)
            apart = row - self.mean
            self.mean = self.mean + apart / self.count
            self.square = self.square + (apart * (row - self.mean) - self.square) / self.count

    def gap(self, rows: int) -> None:
        """So many rows are missing."""

    def accept(self, first: int, last: int) -> None:
        """Take rows for normal, ``first`` rows ago to ``last`` rows ago; 1 is the last row."""
        rows = self._rows[max(len(self._rows) - first, 0) : len(self._rows) - last + 1]
        self.count = float(ENOUGH)
        self.mean = rows.mean(axis=0)
        self.square = np.square(rows - self.mean).mean(axis=0)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays of bounded size."""
        none = np.zeros((0, len(self.mean)))
        return {
            "count": np.array([self.count]),
            "mean": self.mean,
            "square": self.square,
            "rows": self._rows,
            "block": np.concatenate([none, *self._block]),
            "calm": np.concatenate([np.zeros(0, bool), *self._calm]),
        }

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of ``state``."""
        learner = cls(len(arrays["mean"]))
        learner.count = float(arrays["count"][0])
        learner.mean, learner.square = arrays["mean"], arrays["square"]
        learner._rows = arrays["rows"]
        learner._block, learner._calm = [arrays["block"]], [arrays["calm"]]
        return learner
