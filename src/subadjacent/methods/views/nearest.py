"""How far points are from the nearest of some references.

Shapes: N points, R references, D dimensions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# the fractional part of the golden ratio: that of its products with squares of whole numbers fills
# an interval evenly and in no order. Products with the numbers themselves are at few different
# distances from each other, which cycles of some lengths fall into line with
GOLDEN = 0.6180339887498949
# distances computed at a time: few enough to stay in the processor's cache
TABLE = 1_000_000
# brackets that differ by less than this share of the squares that they are made of may have changed
# places by rounding: some 16 products in float32 and their sum, twice
ROUNDING = np.float32(4e-6)

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


class References:
    """Points that others are compared with, prepared once.

    Which one is nearest does not depend on how many points are asked about together: products in
    float32 find those that may be nearest, and differences in float64 decide between them.
    """

    def __init__(self, references: NDArray[Any]) -> None:
        self.points = np.asarray(references, dtype=np.float32)
        # |p - r|² = |p|² + (|r|² - 2 p·r): the bracket is one product
        squares = np.square(self.points).sum(axis=1)
        self._table = np.ascontiguousarray(np.column_stack([-2 * self.points, squares]).T)

    @cached_property
    def _first(self) -> NDArray[np.bool_]:
        """Which references are equal to none before them, (R,): of equal ones the first counts."""
        width = self.points.shape[1] * self.points.itemsize
        # adding 0 makes one number of the two zeros
        whole = np.ascontiguousarray(self.points + 0).view(np.dtype((np.void, width))).ravel()
        first = np.zeros(len(whole), dtype=bool)
        first[np.unique(whole, return_index=True)[1]] = True
        return first

    def nearest(self, points: NDArray[Any]) -> Nearest:
        """The nearest of at least one reference to each point (N, D)."""
        points = np.asarray(points, dtype=np.float32)
        which = np.empty(len(points), dtype=np.int64)
        step = max(TABLE // len(self.points), 1)
        for start in range(0, len(points), step):
            some = points[start : start + step]
            which[start : start + step] = self._which(some)
        squares = self._squares(points, which)
        return Nearest(squares.astype(np.float32), which)

    def _which(self, points: Points) -> NDArray[np.int64]:
        """The number of the nearest reference to each of a few points."""
        brackets = points @ self._table[:-1]
        brackets += self._table[-1]
        which: NDArray[np.int64] = brackets.argmin(axis=1)
        if brackets.shape[1] == 1:
            return which
        rows = np.arange(len(points))
        least = brackets[rows, which]
        size = np.square(points).sum(axis=1) + self._table[-1][which]
        limit = least + ROUNDING * size
        brackets[rows, which] = np.inf
        close = np.flatnonzero(brackets[rows, brackets.argmin(axis=1)] <= limit)
        if len(close):
            brackets[rows, which] = least
            self._decide(points, brackets, limit, close, which)
        return which

    def _decide(
        self,
        points: Points,
        brackets: NDArray[np.float32],
        limit: NDArray[np.float32],
        close: NDArray[np.intp],
        which: NDArray[np.int64],
    ) -> None:
        """Decide for points that several references are close to being nearest to."""
        at, candidates = np.nonzero((brackets[close] <= limit[close, None]) & self._first)
        squares = self._squares(points[close[at]], candidates)
        starts = np.searchsorted(at, np.arange(len(close)))
        best = squares == np.minimum.reduceat(squares, starts)[at]
        _, first = np.unique(at[best], return_index=True)
        which[close] = candidates[best][first]

    def _squares(self, points: Points, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """Squared distances of points to some references, one each."""
        apart = points.astype(np.float64) - self.points[which]
        return np.asarray(np.square(apart).sum(axis=1))


def nearest(points: NDArray[Any], references: NDArray[Any]) -> Nearest:
    """The nearest of at least one reference (R, D) to each point (N, D)."""
    return References(references).nearest(points)
