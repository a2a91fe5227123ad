"""Residuals of linear models in a graph, as in ``ridge.sides`` and ``ridge.band``.

Shapes: T rows of a segment, n of them that a model judges, C channels, K axes, J neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.onnx.value import Value
from subadjacent.ridge.axes import CLIP
from subadjacent.ridge.band import FAR_CLIP, BandRidge
from subadjacent.ridge.neighbours import Neighbours
from subadjacent.ridge.sides import SegmentRidge


class ResidualsOutput(NamedTuple):
    """Residuals of a segment, (T, C), and which rows are judged, (T,)."""

    residuals: Value
    judged: Value


class RowSpan(NamedTuple):
    """Rows from one number to another, each a vector of one element."""

    start: Value
    stop: Value


class SegmentGraph:
    """A segment of standardised rows; what several models need of it is computed once."""

    def __init__(self, rows: Value) -> None:
        self.write, self.rows, self.count = rows.writer, rows, rows.count
        self.here = self.write.numbers(0, self.count)
        self.within = rows.clip(-CLIP, CLIP)
        self._far: Value | None = None
        self._up_to: Value | None = None
        self._seen: dict[tuple[bool, bytes], Value] = {}

    @property
    def far(self) -> Value:
        """The rows with the wide clip that local models use."""
        if self._far is None:
            self._far = self.rows.clip(-FAR_CLIP, FAR_CLIP)
        return self._far

    @property
    def up_to(self) -> Value:
        """Sums of all rows before each, and of all, (T + 1, C)."""
        if self._up_to is None:
            sums = self.write.op("CumSum", self.far, 0)
            self._up_to = self.write.op("Pad", sums, np.array([1, 0]), 0.0, np.array([0]))
        return self._up_to

    def seen(self, axes: NDArray[np.float32], *, local: bool) -> Value:
        """The rows along some axes, (T, K)."""
        key = (local, axes.tobytes())
        if key not in self._seen:
            self._seen[key] = (self.far if local else self.within) @ axes
        return self._seen[key]


def ridge_residuals(segment: SegmentGraph, ridge: SegmentRidge) -> ResidualsOutput:
    """Residuals on the scale of the first model; a row's are by the first that can judge it."""
    write, count = segment.write, segment.count
    residuals: Value | None = None
    judged: Value | None = None
    earlier: list[Neighbours] = []
    for model, gain in zip(ridge.models, ridge.gains, strict=True):
        mine = _share(model.neighbours, earlier, count)
        left = (_model_residuals(segment, model, mine) * gain).float32()
        pads = write.shape(mine.start, count - mine.stop)
        padded = write.op("Pad", left, pads, 0.0, np.array([0]))
        residuals = padded if residuals is None else residuals + padded
        complete = (segment.here >= model.neighbours.behind) & (
            segment.here < count - model.neighbours.ahead
        )
        judged = complete if judged is None else judged | complete
        earlier.append(model.neighbours)
    if residuals is None or judged is None:
        return ResidualsOutput(segment.rows * 0.0, segment.here < 0)
    return ResidualsOutput(residuals, judged)


def _share(layout: Neighbours, earlier: list[Neighbours], count: Value) -> RowSpan:
    """The rows that this layout is the first to judge, as it has all their neighbours.

    Earlier layouts that need no more rows before judge its first rows, up to where they end; those
    that need no more rows after judge its last ones, from where they begin.
    """
    start, stop = count.at_most(layout.behind), count - layout.ahead
    for previous in earlier:
        if previous.behind <= layout.behind:
            start = start.at_least(count - previous.ahead)
        if previous.ahead <= layout.ahead:
            stop = stop.at_most(previous.behind)
    return RowSpan(start, stop.at_least(start))


def _model_residuals(segment: SegmentGraph, model: BandRidge, mine: RowSpan) -> Value:
    """The residuals of one model's rows, (n, C), rounded to float32."""
    offsets = model.neighbours.offsets
    weights: NDArray[np.float32] = model.weights[:-1]
    constant: NDArray[np.float32] = model.weights[-1]
    row_numbers = segment.write.numbers(*mine)
    seen = segment.seen(model.axes, local=model.local)
    features = seen.take(row_numbers.column() + offsets)  # (n, J, K)
    if model.local:
        mean = _mean(segment, model.neighbours, mine)
        target = segment.far.rows(*mine) - mean
        features = (features - (mean @ model.axes).column()).clip(-CLIP, CLIP)
    else:
        target = segment.within.rows(*mine)
    expected = features.reshape(row_numbers.count, len(weights)) @ weights
    return (target - (expected + constant)).float32()


def _mean(segment: SegmentGraph, neighbours: Neighbours, mine: RowSpan) -> Value:
    """The mean of each row's neighbours, (n, C)."""
    sums = [
        segment.up_to.rows(*(edge + (offset + size) for edge in mine))
        - segment.up_to.rows(*(edge + offset for edge in mine))
        for offset, size in neighbours.sides
    ]
    return sum(sums[1:], start=sums[0]) / float(neighbours.count)
