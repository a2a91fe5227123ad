"""A ridge regression that predicts each row from its sub-adjacent rows only.

Shapes: T rows of a segment, C channels, K axes, J neighbours, F = J·K + 1 features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from subadjacent.errors import InputError
from subadjacent.ridge.axes import CLIP, Rows, cut
from subadjacent.ridge.neighbours import Neighbours

# rows handled at a time
CHUNK = 16_384
# the windows of fewer rows than this are copied: it is quicker than looking at them in turns
MIN_STRIDED_ROWS = 2_000
# standard deviations by which a level may move
FAR_CLIP = 1000.0


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The inputs of a ridge, from the rows of a segment.

    A feature of a row is a neighbour's ``seen`` value, less the row's ``level`` where there is
    one, cut at ``CLIP``.
    """

    seen: NDArray[Any]  # (T, K) along the axes
    target: NDArray[Any]  # (T, C)
    level: NDArray[Any] | None  # (T, K)
    clipped: NDArray[np.bool_] | None  # (T,): which rows have a feature that is cut


@dataclass(frozen=True, slots=True, eq=False)
class BandRidge:
    """A ridge regression that predicts a row from its neighbours.

    Parameters
    ----------
    neighbours
        Which rows.
    axes
        Directions that neighbours are seen along, (C, K).
    weights
        From features to channels, (F, C).
    local
        Whether values are relative to the mean of the neighbours: a permanent level shift
        is then no surprise, and only departures from the new level are.
    """

    neighbours: Neighbours
    axes: NDArray[np.float32]
    weights: NDArray[np.float32]
    local: bool

    def __post_init__(self) -> None:
        # the mean of the neighbours is taken over every row
        if self.local and self.neighbours.step != 1:
            raise InputError(f"step must be 1 for a local model; got {self.neighbours.step}")

    def with_weights(self, weights: NDArray[Any]) -> BandRidge:
        """A copy with other weights."""
        # row by row in memory, as they will be when read from a file: sums come out the same
        return replace(self, weights=np.ascontiguousarray(weights, dtype=np.float32))

    def residuals(self, rows: Rows, first: int, last: int) -> Rows:
        """The residuals of rows ``first`` to ``last``, (T, C); all must be complete."""
        residuals = np.empty((last - first, rows.shape[1]), dtype=np.float32)
        for start in range(first, last, CHUNK):
            stop = min(start + CHUNK, last)
            begin = max(start - self.neighbours.reach, 0)
            # in float64: the residuals of a row then do not depend, but for the last digits, on
            # how many rows are handled together
            around = rows[begin : stop + self.neighbours.reach].astype(np.float64)
            inputs = self.inputs(around, with_clipped=stop - start >= MIN_STRIDED_ROWS)
            left = self.left(inputs, start - begin, stop - begin)
            residuals[start - first : stop - first] = left
        return residuals

    def inputs(self, rows: NDArray[Any], *, with_clipped: bool = True) -> Inputs:
        """The model's inputs from a segment, at the rows that have all their neighbours.

        Without ``clipped`` for few rows, whose features are all formed.
        """
        if not self.local:
            target = cut(rows)
            return Inputs(target @ self.axes, target, None, None)
        far = np.clip(rows, -FAR_CLIP, FAR_CLIP)
        # features are relative: from here, sums lose fewer digits
        far = far - far.mean(axis=0)
        mean = self._mean(far)
        seen, level = far @ self.axes, mean @ self.axes
        clipped = self._clipped(seen, level) if with_clipped else None
        return Inputs(seen, far - mean, level, clipped)

    def features(self, inputs: Inputs, first: int, last: int) -> NDArray[Any]:
        """Values of J neighbours on K axes, for rows ``first`` to ``last``, (rows, J·K).

        Without the constant feature.
        """
        features = self.neighbours.windows(inputs.seen, first, last)  # (rows, J, K)
        if inputs.level is not None:
            features -= inputs.level[first:last, None]
            np.clip(features, -CLIP, CLIP, out=features)
        return features.reshape(last - first, -1)

    def left(self, inputs: Inputs, first: int, last: int) -> Rows:
        """The residuals of rows ``first`` to ``last`` of these inputs, (T, C)."""
        weights, constant = self.weights[:-1], self.weights[-1]
        weights = weights.astype(inputs.seen.dtype, copy=False)
        if last - first < MIN_STRIDED_ROWS:
            expected = self.features(inputs, first, last) @ weights
        else:
            expected = self._expected(inputs, first, last, weights)
        return np.asarray(inputs.target[first:last] - (expected + constant), dtype=np.float32)

    def _expected(
        self, inputs: Inputs, first: int, last: int, weights: NDArray[Any]
    ) -> NDArray[Any]:
        """The expected values of many rows, less the constant, computed without copying windows."""
        expected = np.empty((last - first, self.weights.shape[1]), dtype=inputs.seen.dtype)
        sizes = [side.size * inputs.seen.shape[1] for side in self.neighbours.sides]
        of_sides = np.split(weights, np.cumsum(sizes)[:-1])
        for rows, views in self.neighbours.aligned(inputs.seen, first, last):
            total = views[0] @ of_sides[0]
            for view, some in zip(views[1:], of_sides[1:], strict=True):
                total += view @ some
            expected[rows] = total
        if inputs.level is not None and inputs.clipped is not None:
            # every feature is relative to the level: the sum of its weights takes it off at once
            summed = weights.reshape(self.neighbours.count, -1, weights.shape[1]).sum(axis=0)
            expected -= inputs.level[first:last] @ summed
            clipped = first + np.flatnonzero(inputs.clipped[first:last])
            if len(clipped):
                values = inputs.seen[clipped[:, None] + self.neighbours.offsets]
                values = cut(values - inputs.level[clipped, None])
                expected[clipped - first] = values.reshape(len(clipped), -1) @ weights
        return expected

    def _mean(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The mean of each row's neighbours; undefined where some are missing."""
        total = np.zeros((len(rows) + 1, rows.shape[1]))
        np.cumsum(rows, axis=0, dtype=np.float64, out=total[1:])
        numbers = np.arange(len(rows))
        mean = np.zeros(rows.shape)
        for offset, count in self.neighbours.sides:
            first = np.clip(numbers + offset, 0, len(rows))
            mean += total[np.clip(first + count, 0, len(rows))] - total[first]
        return np.asarray(mean / self.neighbours.count, dtype=rows.dtype)

    def _clipped(self, seen: NDArray[Any], level: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows have a neighbour with a clipped feature."""
        if not len(seen):
            return np.zeros(0, dtype=bool)
        size = 2 * self.neighbours.reach + 1
        highest = maximum_filter1d(seen, size, axis=0, mode="nearest") - level
        lowest = minimum_filter1d(seen, size, axis=0, mode="nearest") - level
        return np.asarray(((highest > CLIP) | (lowest < -CLIP)).any(axis=1))
