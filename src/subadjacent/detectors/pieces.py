"""Assess rows piece by piece, so that a model's memory does not grow with the rows.

A model holds several tables as large as the rows that it assesses. Where its reach is limited, a
long segment is cut into pieces, each with the rows around it that its evidence depends on; put
together, the evidence is that of the whole segment.

Shapes: T rows of a series, C channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from subadjacent.data.series import TrainSeries
from subadjacent.methods.method import Model
from subadjacent.scoring.evidence import Array, Evidence, Reach

VALUES = 1_000_000
"""Values of a piece; a model holds some twenty tables of it. Twice as many are no quicker."""

TIMES = 4
"""A piece has so many times the rows around it at least: those are assessed twice."""


class Piece(NamedTuple):
    """Rows ``first`` to ``last`` of a series, and the rows ``begin`` to ``end`` needed for them."""

    first: int
    last: int
    begin: int
    end: int


def assess(model: Model, series: TrainSeries, tell: Callable[[int], None]) -> Evidence:
    """A model's evidence on all unbroken segments of a series.

    ``tell`` is called with the number of rows that were assessed, after every piece.
    """
    cut = [
        piece
        for start, stop in series.parts
        for piece in pieces(start, stop, series.values.shape[1], model.reach)
    ]
    whole: Evidence | None = None
    for piece in cut:
        evidence = model.assess(series.values[piece.begin : piece.end])
        if len(cut) == 1:
            whole = evidence
        else:
            # into one table from the start: joining later would hold two for a while
            whole = _room_for(evidence, len(series)) if whole is None else whole
            _put(evidence, whole, piece)
        tell(piece.last - piece.first)
    assert whole is not None
    return whole


def pieces(start: int, stop: int, channels: int, reach: Reach) -> Iterator[Piece]:
    """Cut the segment from ``start`` to ``stop``; into one piece if a model needs all its rows."""
    before, after, every = reach
    size = stop - start
    if after is not None:
        size = max(VALUES // channels, TIMES * (before + after), 1)
        # where windows stand as they do in the whole segment
        size = -(-size // every) * every
    edges = [*range(start, stop, size), stop] if start < stop else [start, stop]
    for first, last in pairwise(edges):
        begin = max(first - -(-before // every) * every, start)
        yield Piece(first, last, begin, min(last + (after or 0), stop))


def _room_for(evidence: Evidence, rows: int) -> Evidence:
    """Empty evidence on this many rows, otherwise shaped as that of a piece."""

    def room(some: Array) -> Array:
        return np.empty((rows, *some.shape[1:]), some.dtype)

    return evidence._replace(
        score=room(evidence.score),
        by_channel=room(evidence.by_channel),
        expected=None if evidence.expected is None else room(evidence.expected),
        traces={name: room(trace) for name, trace in evidence.traces.items()},
    )


def _put(evidence: Evidence, whole: Evidence, piece: Piece) -> None:
    """Copy a piece's evidence, without that on the rows around it, to its place in the whole."""
    within = slice(piece.first - piece.begin, piece.last - piece.begin)
    target = slice(piece.first, piece.last)
    whole.score[target] = evidence.score[within]
    whole.by_channel[target] = evidence.by_channel[within]
    if whole.expected is not None and evidence.expected is not None:
        whole.expected[target] = evidence.expected[within]
    for name, trace in whole.traces.items():
        trace[target] = evidence.traces[name][within]
