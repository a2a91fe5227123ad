"""Sums of products that a ridge regression is solved from.

Features are lagged values, so that the product sums of most pairs of lags follow from those of
another pair by what enters and leaves at the ends: Σ x[t+a+1]·x[t+b+1] over some rows is
Σ x[t+a]·x[t+b] over them, less the first product and plus the one after the last. Only the first
lag of each side is multiplied with all others.

Shapes: n rows, C channels, K axes, J neighbours, F = J·K + 1 features, the last one constant.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, sposv

from subadjacent.ridge.axes import cut
from subadjacent.ridge.band import BandRidge, Inputs
from subadjacent.ridge.neighbours import Neighbours

# fewer rows than this are multiplied out: filling the matrix lag by lag takes longer
MIN_LAGGED_ROWS = 1_000
# keeps the smallest penalty solvable where features are alike
JITTER = 1e-6


class Moments(NamedTuple):
    """Sums over rows: of features by features, features by targets, and squared targets."""

    features: NDArray[Any]  # (F, F), float64, or float32 of few rows
    targets: NDArray[Any]  # (F, C)
    squares: NDArray[np.float64]  # (C,)

    def __add__(self, other: Moments) -> Moments:  # type: ignore[override]  # sums, not tuples
        return Moments(
            self.features + other.features,
            self.targets + other.targets,
            self.squares + other.squares,
        )

    def __sub__(self, other: Moments) -> Moments:
        return Moments(
            self.features - other.features,
            self.targets - other.targets,
            self.squares - other.squares,
        )

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return round(float(self.features[-1, -1]))

    @classmethod
    def multiplied_out(cls, features: NDArray[Any], targets: NDArray[Any]) -> Moments:
        """The sums of rows with these features (n, F) and targets (n, C), by definition."""
        return cls(
            features.T @ features,
            features.T @ targets,
            np.square(targets, dtype=np.float64).sum(axis=0),
        )

    def solve(self, penalty: float) -> NDArray[Any]:
        """The weights, (F, C); the penalty is on all but that of the constant."""
        ridge = self.features.copy()
        ridge.flat[: -1 : len(ridge) + 1] += penalty + JITTER
        # straight to the library: of small matrices most of the time would go into checks
        single = ridge.dtype == np.float32
        _, weights, failed = (sposv if single else dposv)(ridge.T, self.targets, overwrite_a=True)
        if failed and single:
            # features so alike that float32 cannot tell them apart
            return Moments(*(np.asarray(sums, np.float64) for sums in self)).solve(penalty)
        assert not failed, "a penalty makes the matrix positive definite"
        return np.asarray(weights)

    def errors(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Each channel's sum of squared errors on these rows, without looking at them again."""
        explained = 2 * self.targets - self.features @ weights
        return np.asarray(self.squares - np.einsum("fc,fc->c", weights, explained))


def moments(ridge: BandRidge, inputs: Inputs, first: int, last: int) -> Moments:
    """The sums of rows ``first`` to ``last``, all of them complete."""
    if last - first < MIN_LAGGED_ROWS:
        return _of_rows(ridge, inputs, first, last)
    total = _by_lags(ridge.neighbours, inputs, first, last)
    if inputs.clipped is None:
        return total
    total = _relative(total, ridge.neighbours.count)
    clipped = first + np.flatnonzero(inputs.clipped[first:last])
    # some at a time: the windows of many rows would take too much memory
    for start in range(0, len(clipped), MIN_LAGGED_ROWS):
        rows = clipped[start : start + MIN_LAGGED_ROWS]
        # out as if no feature were cut, and in as they are. In float64, for what is cut is large
        # and its squares must cancel
        values = inputs.seen[rows[:, None] + ridge.neighbours.offsets].astype(np.float64)
        uncut = (values - values.mean(axis=1, keepdims=True)).reshape(len(rows), -1)
        targets = inputs.target[rows].astype(np.float64)
        total = total - Moments.multiplied_out(with_constant(uncut), targets)
        total = total + Moments.multiplied_out(with_constant(cut(uncut)), targets)
    return total


def _of_rows(ridge: BandRidge, inputs: Inputs, first: int, last: int) -> Moments:
    """The sums of few rows, multiplied out."""
    features = with_constant(ridge.features(inputs, first, last))
    products = Moments.multiplied_out(features, inputs.target[first:last])
    return Moments(
        products.features.astype(np.float64), products.targets.astype(np.float64), products.squares
    )


def with_constant(features: NDArray[Any]) -> NDArray[Any]:
    """Features with one more that is always 1."""
    return np.concatenate([features, np.ones((len(features), 1), features.dtype)], axis=1)


def _by_lags(neighbours: Neighbours, inputs: Inputs, first: int, last: int) -> Moments:
    """The sums where features are the neighbours' values as they are."""
    # relative features are differences of these sums, which then must not lose digits
    seen = np.asarray(inputs.seen, dtype=np.float32 if inputs.level is None else np.float64)
    targets = np.asarray(inputs.target[first:last], dtype=seen.dtype)
    width = seen.shape[1]
    # where the features of each side begin
    starts = np.cumsum([0, *(side.size * width for side in neighbours.sides)])
    heads = len(neighbours.sides) * width
    # of each side's first lag, each target and the constant, with every feature
    products = np.zeros((heads + targets.shape[1] + 1, starts[-1]))
    for rows, views in neighbours.aligned(seen, first, last):
        ones = np.ones((len(views[0]), 1), seen.dtype)
        left = np.concatenate([*(view[:, :width] for view in views), targets[rows], ones], axis=1)
        for view, (start, stop) in zip(views, pairwise(starts), strict=True):
            products[:, start:stop] += left.T @ view
    features = np.empty((starts[-1] + 1, starts[-1] + 1))
    features[:-1, :-1] = _all_lags(products[:heads], starts, _ends(neighbours, seen, first, last))
    features[-1, :-1] = features[:-1, -1] = products[-1]
    features[-1, -1] = last - first
    constant = targets.sum(axis=0, dtype=np.float64)
    by_target = np.concatenate([products[heads:-1], constant[:, None]], axis=1).T
    return Moments(features, by_target, np.square(targets, dtype=np.float64).sum(axis=0))


def _all_lags(
    products: NDArray[np.float64], starts: NDArray[np.int64], ends: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Product sums of all pairs of lags, from those of each side's first lag, (J·K, J·K).

    In the block of any two sides, each pair follows from the pair of lags a step smaller.
    """
    width = len(products) // (len(starts) - 1)
    full = np.empty_like(ends)
    sides = [slice(start, stop) for start, stop in pairwise(starts)]
    for rows, of_rows in zip(sides, np.split(products, len(sides)), strict=True):
        for columns, of_columns in zip(sides, np.split(products, len(sides)), strict=True):
            block, change = full[rows, columns], ends[rows, columns]
            block[:width] = of_rows[:, columns]
            block[:, :width] = of_columns[:, rows].T
            for at in range(width, len(block), width):
                smaller = slice(at - width, at)
                grown = block[smaller, :-width] + change[smaller, :-width]
                block[at : at + width, width:] = grown
    return full


def _ends(neighbours: Neighbours, seen: NDArray[Any], first: int, last: int) -> NDArray[np.float64]:
    """The change of product sums when all lags grow by a step, (J·K, J·K)."""
    entering, leaving = (
        # the farthest lag does not grow: what it would be is not used
        seen[
            np.minimum(at + np.arange(neighbours.step)[:, None] + neighbours.offsets, len(seen) - 1)
        ]
        .reshape(neighbours.step, -1)
        .astype(np.float64)
        for at in (last, first)
    )
    return np.asarray(entering.T @ entering - leaving.T @ leaving)


def _relative(sums_of_rows: Moments, neighbours: int) -> Moments:
    """The sums with every feature taken relative to the mean over a row's neighbours."""
    count = sums_of_rows.features[-1, -1]
    targets = sums_of_rows.targets[:-1]
    width = len(targets) // neighbours
    products = sums_of_rows.features[:-1, :-1].reshape(neighbours, width, neighbours, width)
    products = products - products.mean(axis=0, keepdims=True)
    products = products - products.mean(axis=2, keepdims=True)
    sums = sums_of_rows.features[-1, :-1].reshape(neighbours, width)
    sums = (sums - sums.mean(axis=0)).ravel()
    targets = targets.reshape(neighbours, width, -1)
    targets = (targets - targets.mean(axis=0)).reshape(neighbours * width, -1)
    features = np.empty_like(sums_of_rows.features)
    features[:-1, :-1] = products.reshape(len(targets), -1)
    features[-1, :-1] = features[:-1, -1] = sums
    features[-1, -1] = count
    return Moments(
        features, np.concatenate([targets, sums_of_rows.targets[-1:]]), sums_of_rows.squares
    )
