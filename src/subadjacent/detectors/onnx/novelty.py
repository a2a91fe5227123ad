"""The novelty of rows and windows in a graph, as in the views of states and shapes.

Shapes: T rows of a segment, C channels, K axes, R references; P channels that have shapes, M means
of a few rows, W windows of POINTS of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.onnx.ridge import SegmentGraph
from subadjacent.detectors.onnx.value import Value
from subadjacent.detectors.onnx.writer import GraphWriter
from subadjacent.methods.views.novelty import SOFTNESS
from subadjacent.methods.views.shapes import FLAT, POINTS, ShapesOfLength, ShapeView
from subadjacent.methods.views.states import MOST_SHARED, StateView
from subadjacent.scoring.usual import FLOOR

BLOCK = 256
"""Rows that are held against all references at a time: some 1,000,000 distances, 8 MB."""

LEAST = 1e-300
"""Stands for a sum of squares of 0 where something is divided by it."""


class NoveltyOutput(NamedTuple):
    """The novelty of rows, (T,), and each channel's share in it, (T, C)."""

    rows: Value
    values: Value


def state_novelty(segment: SegmentGraph, view: StateView, channels: int) -> NoveltyOutput:
    """The novelty of each row: the surprise at its distance from the nearest reference."""
    write = segment.write
    references, usual = _different(view)
    points = (segment.within @ view.axes).float32()
    which = _nearest(points, references, segment.count)
    apart = points - write.value(references).take(which)
    units = 1 / (channels * SOFTNESS * (usual + view.floor))
    row_surprise = _surprise(apart.square().sum(1), write.value(units).take(which))
    departures = (apart @ view.axes.T).square()
    shares = departures / departures.sum(1, keep=True).at_least(LEAST)
    return NoveltyOutput(
        row_surprise, row_surprise.column() * float(min(channels, MOST_SHARED)) * shares
    )


def _different(view: StateView) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Distinct references, the first of equal ones, and the usual distances near them."""
    # adding 0 turns -0 into 0
    _, first = np.unique(view.references + 0, axis=0, return_index=True)
    first.sort()
    return view.references[first], view.usual[first].astype(np.float64)


def _nearest(points: Value, references: NDArray[np.float32], count: Value) -> Value:
    """The number of the reference that is nearest to each point, (T,), block by block."""
    write = points.writer
    blocks = (count + (BLOCK - 1)) // BLOCK
    # blocks of equal length; where there are few rows, of their number
    length = (count + blocks - 1) // blocks
    pads = write.shape(0, blocks * length - count)
    padded = write.op("Pad", _with_one(points, 1), pads, 0.0, np.array([0]))
    table, width = _table(write, references), references.shape[1] + 1

    def nearest(block: Value) -> Value:
        return write.op("ArgMin", block @ table, axis=1, keepdims=0)

    which = write.scan(nearest, padded.reshape(blocks, length, width), kind=np.int64)
    return which.reshape(-1).rows(0, count)


def shape_novelty(segment: SegmentGraph, view: ShapeView, channels: int) -> NoveltyOutput:
    """The novelty of each value: the surprise at its windows' distances from references."""
    lengths = [_of_length(segment, shapes, view.lookahead, channels) for shapes in view.lengths]
    count = float(len(lengths))
    rows = sum((novelty.rows for novelty in lengths[1:]), start=lengths[0].rows)
    values = sum((novelty.values for novelty in lengths[1:]), start=lengths[0].values)
    return NoveltyOutput(rows / count, values / count)


def _of_length(
    segment: SegmentGraph, shapes: ShapesOfLength, lookahead: int | None, channels: int
) -> NoveltyOutput:
    """The novelty of each value by windows of one length."""
    write, number = segment.write, len(shapes.channels)
    points = _windows(segment, shapes)  # (P, W, POINTS)

    def least(of_channel: Value, table: Value) -> Value:
        return (of_channel @ table).least(1)

    # one channel after the other: all at once would be a table of P · W · R
    table = _table(write, shapes.references)
    squares = write.scan(least, _with_one(points, 2), table) + points.square().sum(2)
    units = 1 / (SOFTNESS * (shapes.usual.astype(np.float64) + FLOOR))
    by_window = _surprise(squares.at_least(0.0), units[:, None])  # (P, W)
    # the last, number -1, is for rows that have no window
    window = _window_of(segment, shapes, lookahead)
    by_row = write.concat([by_window, np.zeros((number, 1))], axis=1).take(window, axis=1)  # (P, T)
    places = np.full(channels, -1)
    places[shapes.channels] = np.arange(number)
    with_none = write.concat([by_row, write.zeros(1, segment.count)])
    return NoveltyOutput(by_row.sum(0) / float(number), with_none.take(places).swap(1, 0))


def _windows(segment: SegmentGraph, shapes: ShapesOfLength) -> Value:
    """Windows of each channel with mean 0 and mean square below 1, (P, W, POINTS)."""
    number, grain = len(shapes.channels), shapes.grain
    write, count = segment.write, segment.count // grain
    whole = segment.within.take(shapes.channels, axis=1).rows(0, count * grain)
    means = whole.reshape(count, grain, number).sum(1) / float(grain)  # (M, P)
    first = write.numbers(0, (count - (POINTS - 1)).at_least(0))
    windows = means.take(first.column() + np.arange(POINTS)).swap(2, 0, 1)
    centred = windows - windows.sum(2, keep=True) / float(POINTS)
    variance = centred.square().sum(2, keep=True) / float(POINTS)
    deviation = write.op("Sqrt", (variance + FLAT**2) * float(POINTS))
    return (centred / deviation).float32()


def _window_of(segment: SegmentGraph, shapes: ShapesOfLength, lookahead: int | None) -> Value:
    """The window that each row is judged by, as ``ShapesOfLength.windows_of``, (T,)."""
    end = segment.here + (shapes.ahead(lookahead) + 1 - shapes.rows)
    window = segment.write.where(end < 0, -1, end // shapes.grain)
    last = (segment.count // shapes.grain - POINTS).at_least(-1)
    first = last.at_most(0 if lookahead is None else -1)
    return window.at_least(first).at_most(last)


def _table(write: GraphWriter, references: NDArray[Any]) -> Value:
    """A matrix, (…, D + 1, R), whose product with points is least for the nearest reference.

    |p - r|² = |p|² + (|r|² - 2 p·r): the bracket is the product.
    """

    def build() -> Value:
        # made of the references when the file is opened: it is several times their size
        points, last = write.value(references), references.ndim - 1
        sizes = points.square().sum(last, keep=True)
        turned = (*range(last - 1), last, last - 1)
        return write.concat([points * -2.0, sizes], axis=last).swap(*turned)

    return write.once(build)


def _with_one(points: Value, axis: int) -> Value:
    """Points with a one appended to their coordinates."""
    pads = np.array([0, 1])
    return points.writer.op("Pad", points, pads, 1.0, np.array([axis]))


def _surprise(squares: Value, units: Value | NDArray[np.float64]) -> Value:
    """``log(1 + z²) / 2`` of squared distances z in units of the usual ones."""
    return ((squares * units).square() + 1.0).log() / 2.0
