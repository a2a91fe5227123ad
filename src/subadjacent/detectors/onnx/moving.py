"""Sums over windows of rows in a graph, as ``scoring.moving`` makes them.

Shapes: T rows of a segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from subadjacent.detectors.onnx.value import Value
from subadjacent.scoring.moving import rows_ahead


class Window(NamedTuple):
    """``length`` rows around a row, ``ahead`` of them after it."""

    length: int
    ahead: int

    @classmethod
    def around(cls, length: int, lookahead: int | None) -> Window:
        """A window with half of its rows after the row, or ``lookahead`` if that is less."""
        return cls(length, rows_ahead(length, lookahead))

    @property
    def behind(self) -> int:
        """How many come before the row."""
        return self.length - 1 - self.ahead


def window_sums(values: Value, windows: Sequence[Window]) -> list[Value]:
    """Sums over each window around each row; rows beyond the ends of a segment count as 0.

    Sums over powers of two rows are added in pairs, as in ``WindowSums``.
    """
    write, count = values.writer, values.count
    before = max(window.behind for window in windows)
    after = max(window.ahead for window in windows)
    doubled = [write.op("Pad", values, np.array([before, after]), 0.0, np.array([0]))]
    for power in range(1, max(window.length for window in windows).bit_length()):
        half, rows = doubled[-1], 1 << power - 1
        doubled.append(half.rows(0, -rows) + half.rows(rows))
    sums = []
    for window in windows:
        at, terms = before - window.behind, []
        for power in range(window.length.bit_length()):
            if window.length >> power & 1:
                terms.append(doubled[power].rows(at, count + at))
                at += 1 << power
        sums.append(sum(terms[1:], start=terms[0]))
    return sums


def row_counts(row_numbers: Value, count: Value, window: Window) -> Value:
    """How many rows of its window each row has, (T,), given the numbers of all rows."""
    end = row_numbers + (window.ahead + 1)
    return end.at_most(count) - (end - window.length).at_least(0)
