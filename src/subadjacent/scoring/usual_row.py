"""How surprising one row amid a segment is, in few calls.

A row that comes alone costs NumPy as much as a thousand: it is the number of calls that counts.
This is what ``usual`` makes of many rows, for one whose averages all have their rows, and of the
row as a whole only, not of its channels.

Shapes: C columns of residuals, S scales, W rows of the longest average.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.moving import rows_ahead
from subadjacent.scoring.usual import (
    JOINT_CLIP,
    JOINT_SOFTNESS,
    LARGEST_SQUARE,
    MARGIN,
    SCALES,
    SOFTNESS,
    SPREAD,
    SPREAD_WEIGHT,
    ChannelScale,
    JointScale,
)

LENGTHS = np.array(SCALES, dtype=np.float64)

# the spread is that of the rows of the longest average
assert SPREAD == MARGIN == SCALES[-1]


class JointColumns(NamedTuple):
    """Columns that are judged together: what is usual of them, and what that counts."""

    columns: slice
    scale: JointScale
    weight: float


class RowSurprise:
    """The weighted sum of what scales make of one row.

    Parameters
    ----------
    scale
        Of all columns.
    weights
        What the surprise of each column counts, (C,).
    joints
        Columns that are judged together besides.
    """

    def __init__(
        self,
        scale: ChannelScale,
        weights: NDArray[np.float64],
        joints: Sequence[JointColumns] = (),
    ) -> None:
        usual = scale.squares + scale.floor
        # sums are squared: what is usual is a mean
        self._units = 1 / (usual * SOFTNESS * np.square(LENGTHS)[:, None])
        self._spread_units = 1 / (np.maximum(scale.spread, scale.floor) * SPREAD)
        self._weights = weights
        # a single column has been judged by itself already
        several = [joint for joint in joints if joint.columns.stop - joint.columns.start > 1]
        self._joints = [_JointRow(joint) for joint in several]

    def of(self, residuals: NDArray[Any], row: int, lookahead: int | None) -> float | None:
        """Of one row of a segment; None where one of its averages lacks rows."""
        begin = row + rows_ahead(MARGIN, lookahead) + 1 - MARGIN
        there = residuals[max(begin, 0) : begin + MARGIN]
        if len(there) < MARGIN:
            return None
        values, spans = there.astype(np.float64), _spans(lookahead)  # (W, C), (S, W)
        # ``dot`` of a few numbers takes half the time of ``@``
        product = spans.dot(values)
        np.square(product, out=product)
        product *= self._units
        product += 1
        logs = np.log(np.multiply.reduce(product, axis=0))
        total = float(logs.dot(self._weights)) / len(SCALES)
        for joint in self._joints:
            total += joint.of(values, spans)
        np.square(values, out=values)
        np.minimum(values, LARGEST_SQUARE, out=values)
        excess = np.add.reduce(values, axis=0) * self._spread_units
        # what is within the usual spread is no surprise: its logarithm is 0
        if excess.max() > 1:
            total += SPREAD_WEIGHT * float(np.log(np.maximum(excess, 1)) @ self._weights)
        return total


class _JointRow:
    """What columns that are judged together add."""

    def __init__(self, joint: JointColumns) -> None:
        self._columns = joint.columns
        self._count = joint.columns.stop - joint.columns.start
        usual = (joint.scale.squares + joint.scale.floor) * JOINT_SOFTNESS * self._count
        # squares of sums, then sums of squares
        self._units = 1 / (usual * np.concatenate([np.square(LENGTHS), LENGTHS]))
        self._weight = joint.weight / len(usual)

    def of(self, values: NDArray[np.float64], spans: NDArray[np.float64]) -> float:
        within = np.empty((len(values), self._count + 1))
        cut = within[:, :-1]
        np.maximum(values[:, self._columns], -JOINT_CLIP, out=cut)
        np.minimum(cut, JOINT_CLIP, out=cut)
        # the last column is the row's sum of squares
        np.add.reduce(np.square(cut), axis=1, out=within[:, -1])
        sums = spans.dot(within)  # (S, C + 1)
        of_squares = sums[:, -1].copy()
        np.square(sums, out=sums)
        ratios = np.concatenate([np.add.reduce(sums[:, :-1], axis=1), of_squares])
        ratios *= self._units
        return self._weight * float(np.add.reduce(np.log1p(ratios)))


@cache
def _spans(lookahead: int | None) -> NDArray[np.float64]:
    """1 for the rows of the longest average that each average is of, else 0, (S, W)."""
    spans = np.zeros((len(SCALES), MARGIN))
    for own, length in zip(spans, SCALES, strict=True):
        end = MARGIN - rows_ahead(MARGIN, lookahead) + rows_ahead(length, lookahead)
        own[end - length : end] = 1
    return spans
