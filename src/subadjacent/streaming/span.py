"""Consecutive rows of one series, before they are assessed.

Shapes: B rows that come together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import FilledRows


class Span(NamedTuple):
    """Consecutive rows of one segment, and what is known of them before they are assessed."""

    filled: FilledRows
    starts: NDArray[np.bool_]  # (B,), of segments
    skipped: NDArray[np.int64]  # (B,), rows that are missing before one that begins a segment
    times: list[Any] | None

    def part(self, rows: slice) -> Span:
        """Some of the rows."""
        return Span(
            self.filled.part(rows),
            self.starts[rows],
            self.skipped[rows],
            None if self.times is None else self.times[rows],
        )
