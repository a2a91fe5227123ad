"""A linear model that expects each point from its sub-adjacent ones, and from nothing nearer.

Shapes: T rows of a stretch, C channels, K axes, J neighbours in the band, F = K·J + 1 features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from subadjacent.core.band import Band

Rows = NDArray[np.float32]

SIDES = ("both", "before", "after")
# rows handled at a time
CHUNK = 4096
# standardised values beyond this are cut where they are features
CLIP = 10.0
# and where they are expected of a level that moves
FAR_CLIP = 1000.0


@dataclass(frozen=True, slots=True, eq=False)
class BandRidge:
    """Expects a point from the points at distance ``near`` to ``far``, in a linear way.

    Parameters
    ----------
    band
        Which neighbours; on a line, not on a ring.
    axes
        Directions that neighbours are seen along, (C, K).
    weights
        From features to channels, (F, C).
    local
        Whether values are taken relative to the mean of the neighbours: a level that has moved
        for good is then no surprise, and only departures from it are.
    side
        Whether neighbours stand on both sides, before the point, or after it.
    step
        Rows from one neighbour to the next: 1 takes every point of the band.
    """

    band: Band
    axes: NDArray[np.float32]
    weights: NDArray[np.float32]
    local: bool
    side: str = "both"
    step: int = 1

    def __post_init__(self) -> None:
        # a point is no neighbour of its own
        assert self.band.near >= 1
        # the mean of the neighbours is that of the whole band
        assert self.step == 1 or not self.local

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the neighbours stand, seen from the point."""
        after = np.arange(self.band.near, self.band.far + 1, self.step)
        before = -after[::-1]
        return np.concatenate(
            {"both": [before, after], "before": [before], "after": [after]}[self.side]
        )

    def complete(self, rows: int) -> slice:
        """The rows of a stretch that have all their neighbours."""
        first = 0 if self.side == "after" else self.band.far
        last = rows if self.side == "before" else rows - self.band.far
        return slice(min(first, rows), max(last, min(first, rows)))

    def with_weights(self, weights: NDArray[Any]) -> BandRidge:
        """The same features with other weights."""
        # row by row in memory, as they will be when read from a file: sums come out the same
        return replace(self, weights=np.ascontiguousarray(weights, dtype=np.float32))

    def residuals(self, rows: Rows, first: int = 0, last: int | None = None) -> Rows:
        """What is left of a stretch's rows from ``first`` to ``last``, (T, C)."""
        left = [
            target - features @ self.weights for features, target in self.cases(rows, first, last)
        ]
        return np.concatenate(left)

    def cases(self, rows: Rows, first: int = 0, last: int | None = None) -> Iterator[Any]:
        """Features (F) and target (C) of each row from ``first`` to ``last``, some at a time."""
        stop = len(rows) if last is None else last
        for start in range(first, stop, CHUNK):
            yield self._cases(rows, start, min(start + CHUNK, stop))

    def _cases(self, rows: Rows, first: int, last: int) -> tuple[Rows, Rows]:
        far, count = self.band.far, last - first
        # no row needs more than its band
        begin, end = max(first - far, 0), min(last + far, len(rows))
        limit = FAR_CLIP if self.local else CLIP
        around = np.clip(rows[begin:end], -limit, limit)
        here = slice(first - begin, last - begin)
        padding = (far - (first - begin), far - (end - last))
        seen = np.pad(around @ self.axes, (padding, (0, 0)))
        neighbours, target = self._gather(seen, count), around[here]  # (T, J, K), (T, C)
        if self.local:
            level = self._level(around)[here]
            neighbours -= (level @ self.axes)[:, None]
            if any(padding):
                there = np.pad(np.ones(len(around), dtype=np.float32), padding)
                neighbours *= self._gather(there[:, None], count)
            np.clip(neighbours, -CLIP, CLIP, out=neighbours)
            target = target - level
        constant = np.ones((count, 1), dtype=np.float32)
        return np.concatenate([neighbours.reshape(count, -1), constant], axis=1), target

    def _gather(self, padded: Rows, count: int) -> Rows:
        """The neighbours of each of ``count`` rows, (T, J, K), which stand ``far`` rows further on.

        Of every ``step``-th row they lie one after the other on each side, and are copied in one
        piece: several times as quick as picking them one by one.
        """
        offsets, width = self.offsets, padded.shape[1]
        found = np.empty((count, len(offsets) * width), dtype=padded.dtype)
        before = int((offsets < 0).sum())
        for start, stop in ((0, before), (before, len(offsets))):
            for phase in range(min(self.step, count) if start < stop else 0):
                mine = found[phase :: self.step, start * width : stop * width]
                first = self.band.far + int(offsets[start]) + phase
                one_after_the_other = padded[first :: self.step].ravel()
                pieces = sliding_window_view(one_after_the_other, mine.shape[1])[::width]
                mine[:] = pieces[: len(mine)]
        return found.reshape(count, len(offsets), width)

    def _level(self, rows: Rows) -> Rows:
        """The mean of each point's neighbours, as far as they are there."""
        n, (near, far) = len(rows), (self.band.near, self.band.far)
        total = np.pad(np.cumsum(rows, axis=0, dtype=np.float64), ((1, 0), (0, 0)))
        here = np.arange(n)
        sides = []
        if self.side != "after":
            sides.append((here - far, here - near + 1))
        if self.side != "before":
            sides.append((here + near, here + far + 1))
        level, count = np.zeros(rows.shape), np.zeros(n)
        for first, last in sides:
            first, last = np.clip(first, 0, n), np.clip(last, 0, n)
            level += total[last] - total[first]
            count += last - first
        return (level / np.maximum(count, 1)[:, None]).astype(np.float32)


def main_axes(parts: list[Rows], most: int = 12) -> NDArray[np.float32]:
    """Directions in which rows vary most, (C, K), by raw moments of cut values."""
    channels = parts[0].shape[1]
    products, total, count = np.zeros((channels, channels)), np.zeros(channels), 0
    for part in parts:
        for start in range(0, len(part), CHUNK):
            rows = np.clip(part[start : start + CHUNK], -CLIP, CLIP).astype(np.float64)
            products += rows.T @ rows
            total += rows.sum(axis=0)
            count += len(rows)
    mean = total / max(count, 1)
    variances, directions = np.linalg.eigh(products / max(count, 1) - np.outer(mean, mean))
    # at least one, also of rows that never moved
    kept = max(int((variances[-most:] > 1e-6).sum()), 1)
    return np.ascontiguousarray(directions[:, ::-1][:, :kept], dtype=np.float32)
