"""A view of states: how far a row is from every state of all channels seen in training.

A combination of values may be new though each value is in range and in rhythm: a valve open while
its pump is off. Rows are compared along their main axes. How far from its nearest reference a row
usually is differs from region to region, as in a local outlier factor: a state that was rarely
seen need not be odd.

Shapes: T rows of a segment, N rows of all segments, C channels, K axes, R references.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.forecasts import in_threads
from subadjacent.methods.views.nearest import Nearest, nearest, prepared, spread_out
from subadjacent.methods.views.novelty import (
    Distances,
    Novelty,
    Scores,
    folds,
    nearer,
    outside,
    surprise,
    usual_distance,
)
from subadjacent.methods.views.residual_scale import FLOOR, chunks
from subadjacent.ridge.axes import CLIP, FoldSums, Rows

# training rows that others are compared with. A quarter costs up to four points where a state is
# what is new, twice as many gain less than one (reproduce/log.md, "States and shapes")
MAX_REFERENCES = 4_000
# rows next to each other are alike: references so close in time to a row say nothing. A fifth of it
# changes less than half a point (same entry)
GUARD = 50
# fewer rows than this are no picture of all states
MIN_ROWS = 10 * GUARD
# a prior: this many rows at the usual distance of all rows are added to those that are nearest to a
# reference. A fifth or five times as many change little (same entry)
PRIOR_ROWS = 20
# a row's novelty counts in the score as if every channel had it, so that the channels share it
# times their number, and times this at most: with hundreds of channels, explanations would overflow
MAX_SHARED = 10


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class StateView:
    """States seen in training, and how far from each of them rows usually are.

    Parameters
    ----------
    axes
        Main axes of the standardised rows, (C, K).
    references
        Training rows along these axes, (R, K).
    usual
        The usual squared distance of rows that are nearest to a reference, (R,).
    floor
        A squared distance that does not matter.
    """

    axes: NDArray[np.float32]
    references: NDArray[np.float32]
    usual: NDArray[np.float32]
    floor: float = FLOOR

    def novelty(self, rows: Rows) -> Novelty:
        """The novelty of rows; that of a row is shared out to channels by squared distance."""
        parts = in_threads(
            lambda bounds: self._novelty(rows[slice(*bounds)]),
            chunks(len(rows)),
            rows.size,
        )
        if len(parts) == 1:
            return parts[0]
        nothing = Novelty(np.zeros(0), np.zeros((0, rows.shape[1]), np.float32))
        return Novelty(*map(np.concatenate, zip(nothing, *parts, strict=True)))

    def _novelty(self, rows: Rows) -> Novelty:
        points = along(rows, self.axes)
        squares, which = prepared(self).nearest(points)
        row_surprise = surprise(squares / self.axes.shape[0], self.usual[which], self.floor)
        apart = points.astype(np.float64) - self.references[which]
        departures = np.square(np.asarray(apart @ self.axes.T, dtype=np.float32))
        total = departures.sum(axis=1, keepdims=True)
        # a row on its reference has no channel to blame
        total[total == 0] = 1
        shares = departures / total
        shared = row_surprise * min(rows.shape[1], MAX_SHARED)
        return Novelty(row_surprise, shared[:, None].astype(np.float32) * shares)


class StateFit(NamedTuple):
    """A fitted view of states, and the cross-validated surprise of the training rows.

    ``unseen`` holds one number a row, (T,) a segment.
    """

    view: StateView
    unseen: list[Scores]


def fit_states(segments: Sequence[Rows], sums: FoldSums, floor: float = FLOOR) -> StateFit | None:
    """Fit the view to segments of standardised rows; None if there are few rows or no states.

    A single channel, or several that are copies of one, have levels only: another view's task.
    """
    count = sum(map(len, segments))
    axes = sums.axes
    if axes.shape[1] < 2 or count < MIN_ROWS:
        return None
    points = np.concatenate([along(segment, axes) for segment in segments])
    chosen = spread_out(count, MAX_REFERENCES)
    references = points[chosen]
    squares, which, fold_of = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    closer = np.empty(count)
    for number, fold in enumerate(folds(count)):
        far = np.flatnonzero(outside(chosen, fold, GUARD))
        distances: Nearest = nearest(points[fold], references[far])
        squares[fold] = distances.squares / axes.shape[0]
        which[fold] = far[distances.which]
        fold_of[fold] = number
        closer[fold] = nearer(len(far), len(chosen), axes.shape[1])
    by_reference = _RowsByReference(squares, which, fold_of, len(chosen))
    unseen = np.empty(count)
    for number, fold in enumerate(folds(count)):
        unseen[fold] = surprise(
            squares[fold], by_reference.usual(without=number)[which[fold]], floor
        )
    # training rows vary most along axes fitted to them, and rows to come are nearer to
    # the middle of the references. In a normal cloud of K axes the nearest is at a squared distance
    # that grows as exp(|x|² / K), with |x|² / K being 1 for a reference on average
    usual = math.exp(sums.narrower() - 1) * closer.mean() * by_reference.usual()
    view = StateView(axes, references, usual.astype(np.float32), floor)
    return StateFit(view, np.split(unseen, np.cumsum([len(segment) for segment in segments])[:-1]))


def along(rows: Rows, axes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Standardised rows along their main axes, without values that are far out, (T, K)."""
    # in float64, so that where a row stands does not depend on how many are looked at
    within = np.minimum(np.maximum(rows, -CLIP), CLIP, dtype=np.float64)
    return np.asarray(within @ axes, dtype=np.float32)


class _RowsByReference:
    """Squared distances of held-out rows, by the reference that is nearest to them."""

    def __init__(
        self,
        squares: Distances,
        which: NDArray[np.int64],
        fold_of: NDArray[np.int64],
        references: int,
    ) -> None:
        self.squares, self.fold_of = squares, fold_of
        shape = (references, int(fold_of.max()) + 1)
        place = np.ravel_multi_index((which, fold_of), shape)
        size = shape[0] * shape[1]
        self.counts = np.bincount(place, minlength=size).reshape(shape)
        self.sums = np.bincount(place, weights=squares, minlength=size).reshape(shape)

    def usual(self, without: int | None = None) -> Distances:
        """The usual distance near each reference, from all rows or those outside a fold, (R,)."""
        kept = np.arange(self.counts.shape[1]) != (-1 if without is None else without)
        everywhere = usual_distance(self.squares[kept[self.fold_of]])
        counts, sums = self.counts[:, kept].sum(axis=1), self.sums[:, kept].sum(axis=1)
        return np.asarray((sums + PRIOR_ROWS * everywhere) / (counts + PRIOR_ROWS))
