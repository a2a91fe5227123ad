"""Principal axes: the directions in which rows vary most."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.folds import Span, folds, guarded

Rows = NDArray[np.float32]

# standardised values beyond this are cut where they are learned from or used as features
CLIP = 10.0
# rows handled at a time
CHUNK = 16_384
# directions that are kept at most, and the least variance of one
MAX_AXES, MIN_AXIS_VARIANCE = 12, 1e-6


def cut(rows: NDArray[Any]) -> NDArray[Any]:
    """Standardised rows, clipped at ``CLIP``."""
    # `clip` does the same, and takes as long for one row as ten of these
    within = np.maximum(rows, -CLIP)
    return np.asarray(np.minimum(within, CLIP, out=within))


class RowSums(NamedTuple):
    """Sums over rows without values far out: products of channels, values, and how many rows."""

    products: NDArray[np.float64]  # (C, C)
    values: NDArray[np.float64]  # (C,)
    rows: int

    def __add__(self, other: RowSums) -> RowSums:  # type: ignore[override]  # sums, not tuples
        return RowSums(
            self.products + other.products, self.values + other.values, self.rows + other.rows
        )

    def __sub__(self, other: RowSums) -> RowSums:
        return RowSums(
            self.products - other.products, self.values - other.values, self.rows - other.rows
        )

    @classmethod
    def of(cls, rows: NDArray[Any]) -> RowSums:
        """The sums of standardised rows (T, C)."""
        values = cut(rows).astype(np.float64)
        return cls(values.T @ values, values.sum(axis=0), len(values))

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean row, (C,); 0 without any."""
        return self.values / max(self.rows, 1)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """The covariance of the channels, (C, C)."""
        return np.asarray(self.products / max(self.rows, 1) - np.outer(self.mean, self.mean))

    def axes(self, most: int = MAX_AXES) -> NDArray[np.float32]:
        """The principal axes, (C, K), the widest first; at least one, also if nothing moved."""
        variances, directions = np.linalg.eigh(self.covariance)
        kept = max(int((variances[-most:] > MIN_AXIS_VARIANCE).sum()), 1)
        return np.ascontiguousarray(directions[:, ::-1][:, :kept], dtype=np.float32)


class FoldSums:
    """Sums over the rows of all segments, in folds and outside them, from one pass."""

    def __init__(self, segments: Sequence[Rows]) -> None:
        count, channels = sum(map(len, segments)), segments[0].shape[1]
        self.bounds = folds(count)
        self.guarded = [guarded(fold, count) for fold in self.bounds]
        self._edges = sorted({0, count, *(edge for pair in self._spans for edge in pair)})
        nothing = RowSums(np.zeros((channels, channels)), np.zeros(channels), 0)
        pieces = [nothing] * (len(self._edges) - 1)
        at = 0
        for segment in segments:
            for number, (first, last) in enumerate(pairwise(self._edges)):
                start, stop = max(first - at, 0), min(last - at, len(segment))
                for begin in range(start, stop, CHUNK):
                    pieces[number] += RowSums.of(segment[begin : min(begin + CHUNK, stop)])
            at += len(segment)
        self._up_to = list(accumulate(pieces, initial=nothing))
        self.everything = self._up_to[-1]

    @property
    def _spans(self) -> list[Span]:
        return [*self.bounds, *self.guarded]

    @cached_property
    def axes(self) -> NDArray[np.float32]:
        """The principal axes of all rows, (C, K), found once: that takes C³ steps."""
        return self.everything.axes()

    def inside(self, fold: int) -> RowSums:
        """The sums over the rows of a fold."""
        return self._between(*self.bounds[fold])

    def outside(self, fold: int) -> RowSums:
        """The sums over all rows but those of a fold and its guard."""
        return self.everything - self._between(*self.guarded[fold])

    def narrower(self) -> float:
        """How much less rows vary, squared, along axes of other rows than along those of all.

        The median over folds: what moves in one fold only has no axis outside it.
        """
        if not self.bounds:
            return 1.0
        of_all, ratios = self.axes, []
        for fold in range(len(self.bounds)):
            covariance = self.inside(fold).covariance
            outer_axes = self.outside(fold).axes()
            variance = np.einsum("ck,cd,dk->", of_all, covariance, of_all, optimize=True)
            left = np.einsum("ck,cd,dk->", outer_axes, covariance, outer_axes, optimize=True)
            ratios.append(left / variance if variance > MIN_AXIS_VARIANCE else 1.0)
        return float(np.median(ratios))

    def _between(self, first: int, last: int) -> RowSums:
        return self._up_to[self._edges.index(last)] - self._up_to[self._edges.index(first)]

    def centred(self, segments: Sequence[Rows]) -> list[Rows]:
        """The segments with values far out clipped, less the mean of rows outside each fold."""
        means = [self.outside(fold).mean for fold in range(len(self.bounds))]
        edges = np.cumsum([0, *(len(segment) for segment in segments)])
        centred = []
        for segment, at in zip(segments, edges[:-1], strict=True):
            rows = cut(segment)
            for (first, last), mean in zip(self.bounds, means, strict=True):
                rows[max(first - at, 0) : max(last - at, 0)] -= mean.astype(np.float32)
            centred.append(rows)
        return centred


def principal_axes(segments: Sequence[Rows], most: int = MAX_AXES) -> NDArray[np.float32]:
    """The principal axes of all segments together, (C, K), the widest first."""
    return FoldSums(segments).everything.axes(most)
