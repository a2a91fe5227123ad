"""Windows of a growing segment: the surprise of each is found once, when its last row has come.

Shapes: B rows that are looked at, W windows, C channels, P channels that have shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.nearest import prepared
from subadjacent.methods.views.novelty import Novelty, Scores
from subadjacent.methods.views.shapes import ShapesOfLength, ShapeView
from subadjacent.scoring.tail import Tail


class GrowingWindows:
    """A view of shapes, prepared for few rows at a time.

    Parameters
    ----------
    view
        What was learned.
    """

    def __init__(self, view: ShapeView) -> None:
        self.view = view
        # channels up to the last that has shapes
        self._width = 1 + max(int(length.channels.max()) for length in view.lengths)
        self._references = [prepared(length) for length in view.lengths]
        self._farthest = max(length.ahead(view.lookahead) for length in view.lengths)
        # the first rows share the first window
        longest = max(length.rows for length in view.lengths)
        self._shared = longest if view.lookahead is None else 0

    def empty(self) -> list[Tail]:
        """No window of any length: a tail of windows each, (W, P)."""
        return [Tail(np.zeros((0, len(length.channels)))) for length in self.view.lengths]

    def complete(self, rows: int) -> list[int]:
        """How many windows of each length so many rows have."""
        return [max(rows - one.rows + one.grain, 0) // one.grain for one in self.view.lengths]

    def settled(self, rows: int) -> int:
        """How many rows are judged by windows that more rows do not change."""
        return 0 if rows < self._shared else rows - self._farthest

    def needed_rows(self, rows: int) -> int:
        """The first of so many rows that windows still to come begin at."""
        counts = zip(self.complete(rows), self.view.lengths, strict=True)
        return min(count * length.grain for count, length in counts)

    def needed_windows(self, row: int, rows: int) -> list[int]:
        """The first window of each length that rows from ``row`` on are judged by, of so many."""
        return [
            # near the end of a segment the last serves
            min(self._window(length, row), max(count - 1, 0))
            for length, count in zip(self.view.lengths, self.complete(rows), strict=True)
        ]

    def _window(self, length: ShapesOfLength, row: int) -> int:
        ahead = length.ahead(self.view.lookahead)
        return max((row + ahead + 1 - length.rows) // length.grain, 0)

    def add_to(self, windows: list[Tail], rows: Tail) -> None:
        """Judge the windows that have become complete, given the last standardised rows."""
        for length, references, tail, count in zip(
            self.view.lengths, self._references, windows, self.complete(rows.end), strict=True
        ):
            if count > tail.end:
                first = tail.end * length.grain
                those = rows.between(first, (count - 1) * length.grain + length.rows)
                judge = partial(length.surprises, references=references)
                tail.push(references.last.of(those, judge))

    def novelty(self, windows: list[Tail], rows: int, first: int, last: int) -> Novelty:
        """Of rows ``first`` to ``last`` of a segment that has so many by now."""
        values = np.zeros((last - first, self._width), dtype=np.float32)
        total = np.zeros(last - first)
        for length, tail in zip(self.view.lengths, windows, strict=True):
            own = self._of_rows(length, tail, rows, first, last)
            values[:, length.channels] += own
            total += own.sum(axis=1) / len(length.channels)
        values /= len(windows)
        return Novelty(total / len(windows), values)

    def of_rows(self, windows: list[Tail], rows: int, first: int, last: int) -> Scores:
        """The same of rows alone, not of their channels, (B,)."""
        total = np.zeros(last - first)
        for length, tail in zip(self.view.lengths, windows, strict=True):
            if last - first == 1 and self._inside(length, rows, first):
                own = tail.between(window := self._window(length, first), window + 1)
            else:
                own = self._of_rows(length, tail, rows, first, last)
            total += own.sum(axis=1) / len(length.channels)
        return total / len(windows)

    def _inside(self, length: ShapesOfLength, rows: int, row: int) -> bool:
        """Whether a row's window lies within so many rows."""
        ahead = length.ahead(self.view.lookahead)
        return length.rows <= row + ahead + 1 <= rows

    def _of_rows(
        self, length: ShapesOfLength, tail: Tail, rows: int, first: int, last: int
    ) -> NDArray[np.float64]:
        """What each row's window comes to, (B, P); 0 for rows that have none."""
        window = length.windows_of(rows, self.view.lookahead, first, last)
        # the numbers of windows rise along the rows: if the first has one, all have
        if window[0] >= 0:
            return np.asarray(tail.rows[window - tail.begin])
        there = window >= 0
        found = np.zeros((last - first, len(length.channels)))
        found[there] = tail.rows[window[there] - tail.begin]
        return found
