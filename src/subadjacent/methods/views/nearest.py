"""How far points are from the nearest of some references.

Shapes: N points, R references, D dimensions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# the fractional part of the golden ratio: that of its products with squares of whole numbers fills
# an interval evenly and in no order. Products with the numbers themselves are at few different
# distances from each other, which cycles of some lengths fall into line with
GOLDEN = 0.6180339887498949
# distances computed at a time: few enough to stay in the processor's cache
TABLE = 1_000_000

Points = NDArray[np.float32]


def spread_out(count: int, most: int) -> NDArray[np.int64]:
    """At most ``most`` of the numbers from 0 to ``count``, evenly spread, in order; all if few."""
    if count <= most:
        return np.arange(count)
    # one in each of so many parts of equal length
    part = np.arange(most)
    return np.unique(((part + part**2 * GOLDEN % 1) * (count / most)).astype(np.int64))


class Nearest(NamedTuple):
    """Squared distances of points to their nearest reference, and which one that is, (N,) each."""

    squares: NDArray[np.float32]
    which: NDArray[np.int64]


def nearest(points: NDArray[Any], references: NDArray[Any]) -> Nearest:
    """The nearest of at least one reference (R, D) to each point (N, D)."""
    squares = np.empty(len(points), dtype=np.float32)
    which = np.empty(len(points), dtype=np.int64)
    # |p - r|² = |p|² + (|r|² - 2 p·r): the bracket is one product, and decides which is nearest
    table = np.column_stack([-2 * references, np.square(references).sum(axis=1)])
    table = np.ascontiguousarray(table.T, dtype=np.float32)
    step = max(TABLE // len(references), 1)
    for start in range(0, len(points), step):
        some = np.asarray(points[start : start + step], dtype=np.float32)
        here = slice(start, start + len(some))
        brackets = some @ table[:-1]
        brackets += table[-1]
        which[here] = brackets.argmin(axis=1)
        least = np.take_along_axis(brackets, which[here, None], axis=1)[:, 0]
        squares[here] = np.square(some).sum(axis=1) + least
    # rounding can bring the distance of a point to itself below 0
    return Nearest(np.maximum(squares, 0), which)
