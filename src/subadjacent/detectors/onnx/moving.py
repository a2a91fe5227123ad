"""Sums over windows of rows in a graph, as ``scoring.moving`` makes them.

Shapes: T rows of a stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from subadjacent.detectors.onnx.value import Value
from subadjacent.scoring.moving import rows_ahead


class Window(NamedTuple):
    """``length`` rows, ``ahead`` of them after the row that they are around."""

    length: int
    ahead: int

    @classmethod
    def around(cls, length: int, lookahead: int | None) -> Window:
        """Half of them after the row, or as many as are allowed."""
        return cls(length, rows_ahead(length, lookahead))

    @property
    def behind(self) -> int:
        """How many come before the row."""
        return self.length - 1 - self.ahead


def window_sums(values: Value, windows: Sequence[Window]) -> list[Value]:
    """Sums over each window around each row; rows that a stretch does not have count as 0.

    A sum over twice as many rows is that of two sums, as in ``WindowSums``.
    """
    write, count = values.writer, values.count
    before = max(window.behind for window in windows)
    after = max(window.ahead for window in windows)
    doubled = [write.op("Pad", values, np.array([before, after]), 0.0, np.array([0]))]
    for power in range(1, max(window.length for window in windows).bit_length()):
        half, rows = doubled[-1], 1 << power - 1
        doubled.append(half.rows(0, -rows) + half.rows(rows))
    found = []
    for window in windows:
        at, parts = before - window.behind, []
        for power in range(window.length.bit_length()):
            if window.length >> power & 1:
                parts.append(doubled[power].rows(at, count + at))
                at += 1 << power
        found.append(sum(parts[1:], start=parts[0]))
    return found


def row_counts(here: Value, count: Value, window: Window) -> Value:
    """How many rows of its window each row has, (T,); ``here`` are the numbers of all rows."""
    end = here + (window.ahead + 1)
    return end.at_most(count) - (end - window.length).at_least(0)
