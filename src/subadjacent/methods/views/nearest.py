"""The distance of points to their nearest reference point.

Shapes: N points, R references, D dimensions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

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
    # one in each part of equal length
    part = np.arange(most)
    return np.unique(((part + part**2 * GOLDEN % 1) * (count / most)).astype(np.int64))


class Nearest(NamedTuple):
    """Squared distances of points to their nearest reference, and which one that is, (N,) each."""

    squares: NDArray[np.float32]
    which: NDArray[np.int64]


class References:
    """Reference points, prepared for nearest-neighbour search.

    Which one is nearest does not depend on how many points are asked about together: products in
    float32 find those that may be nearest, and differences in float64 decide between them.

    Parameters
    ----------
    references
        At least one, (R, D), or as many for each of several groups, (G, R, D).
    """

    def __init__(self, references: NDArray[Any]) -> None:
        self._count, width = references.shape[-2:]
        # one group below the other
        self._points = np.asarray(references, dtype=np.float32).reshape(-1, width)
        # |p - r|² = |p|² + (|r|² - 2 p·r): the bracket is one product
        self._sizes = np.square(self._points).sum(axis=1)
        products = (-2 * self._points).reshape(-1, self._count, width)
        self._table = np.ascontiguousarray(products.swapaxes(1, 2))  # (G, D, R)
        # the number of each group's first reference
        self._starts = self._count * np.arange(len(products))

    @property
    def size(self) -> int:
        """The number of reference points in all groups."""
        return len(self._points)

    @cached_property
    def _first(self) -> NDArray[np.bool_]:
        """The first of each set of equal references, as a mask, (G, R)."""
        first = np.zeros((len(self._table), self._count), dtype=bool)
        width = self._points.shape[1] * self._points.itemsize
        # adding 0 makes one number of the two zeros
        whole = np.ascontiguousarray(self._points + 0).view(np.dtype((np.void, width)))
        for own, group in zip(first, whole.reshape(len(first), -1), strict=True):
            own[np.unique(group, return_index=True)[1]] = True
        return first

    def nearest(self, points: NDArray[Any]) -> Nearest:
        """The nearest reference to each point (N, D)."""
        points = np.asarray(points, dtype=np.float32)
        step = max(TABLE // self._count, 1)
        if len(points) <= step:
            which = self._which(points[None])
            return Nearest(self._squares(points, which).astype(np.float32), which)
        which = np.empty(len(points), dtype=np.int64)
        for start in range(0, len(points), step):
            which[start : start + step] = self._which(points[None, start : start + step])
        return Nearest(self._squares(points, which).astype(np.float32), which)

    def nearest_in_groups(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        """Squared distances of points (G, N, D) to their group's nearest reference, (G, N)."""
        groups, count, width = points.shape
        which = self._which(points)
        which += self._starts.repeat(count)
        squares = self._squares(points.reshape(-1, width), which)
        return squares.astype(np.float32).reshape(groups, count)

    def _which(self, points: Points) -> NDArray[np.int64]:
        """Index of the nearest reference in its group, for a few points (G, N, D)."""
        groups, count, width = points.shape
        brackets = points @ self._table  # (G, N, R)
        brackets += self._sizes.reshape(groups, 1, -1)
        brackets = brackets.reshape(-1, self._count)
        which: NDArray[np.int64] = brackets.argmin(axis=1)
        if self._count == 1:
            return which
        points = points.reshape(-1, width)
        if len(points) == 1:
            return self._which_one(points, brackets, which)
        rows = np.arange(len(points))
        group = rows // max(count, 1)
        least = brackets[rows, which]
        size = np.square(points).sum(axis=1) + self._sizes[group * self._count + which]
        may_be = brackets <= (least + ROUNDING * size)[:, None]
        if np.count_nonzero(may_be) > len(points):
            (close,) = (np.count_nonzero(may_be, axis=1) > 1).nonzero()
            which[close] = self._decided(points[close], may_be[close], group[close])
        return which

    def _which_one(
        self, point: Points, brackets: Points, which: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """``_which`` for a single point, with less overhead."""
        (first,) = which
        limit = brackets[0, first] + ROUNDING * (np.square(point).sum() + self._sizes[first])
        may_be = brackets <= limit
        if np.count_nonzero(may_be) == 1:
            return which
        return self._decided(point, may_be, np.zeros(1, dtype=np.intp))

    def _decided(
        self, points: Points, may_be: NDArray[np.bool_], group: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        """Index of the nearest candidate reference, by differences in float64."""
        at, candidates = np.nonzero(may_be & self._first[group])
        squares = self._squares(points[at], group[at] * self._count + candidates)
        starts = np.searchsorted(at, np.arange(len(points)))
        best = squares == np.minimum.reduceat(squares, starts)[at]
        _, first = np.unique(at[best], return_index=True)
        return np.asarray(candidates[best][first])

    def _squares(self, points: Points, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """The squared distance of each point to its reference in ``which``."""
        apart = points.astype(np.float64) - self._points[which]
        return np.asarray(np.square(apart).sum(axis=1))


class HasReferences(Protocol):
    """A view that compares points with learned references."""

    @property
    def references(self) -> NDArray[Any]:
        """(R, D), or (G, R, D)."""


_PREPARED: WeakKeyDictionary[HasReferences, References] = WeakKeyDictionary()


def prepared(view: HasReferences) -> References:
    """The references of a view, prepared once and shared by all its streams.

    They take little memory then, and stay in the processor's cache from one stream to the next.
    """
    if view not in _PREPARED:
        _PREPARED[view] = References(view.references)
    return _PREPARED[view]


def nearest(points: NDArray[Any], references: NDArray[Any]) -> Nearest:
    """The nearest of at least one reference (R, D) to each point (N, D)."""
    return References(references).nearest(points)
