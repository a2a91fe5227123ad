"""Assess rows piece by piece: what a model needs beside the rows themselves stays small.

A model holds several tables as large as the rows that it assesses. Where it says how far around a
row it looks, a long stretch is cut into pieces, each with the rows around it that its own depend
on; what is found of them together is what the model finds of the whole.

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
    """Rows ``first`` to ``last`` of a series, and those that are looked at for them."""

    first: int
    last: int
    begin: int
    end: int


def assess(model: Model, series: TrainSeries, tell: Callable[[int], None]) -> Evidence:
    """What a model finds in all unbroken parts of a series.

    ``tell`` is called with the number of rows that were assessed, after every piece.
    """
    cut = [
        piece
        for start, stop in series.parts
        for piece in pieces(start, stop, series.values.shape[1], model.reach)
    ]
    whole: Evidence | None = None
    for piece in cut:
        found = model.assess(series.values[piece.begin : piece.end])
        if len(cut) == 1:
            whole = found
        else:
            # into one table from the start: joined later on, there would be two for a while
            whole = _room_for(found, len(series)) if whole is None else whole
            _put(found, whole, piece)
        tell(piece.last - piece.first)
    assert whole is not None
    return whole


def pieces(start: int, stop: int, channels: int, reach: Reach) -> Iterator[Piece]:
    """Cut the stretch from ``start`` to ``stop``; into one where a model needs all its rows."""
    before, after, every = reach
    size = stop - start
    if after is not None:
        size = max(VALUES // channels, TIMES * (before + after), 1)
        # where windows stand as they do in the whole stretch
        size = -(-size // every) * every
    edges = [*range(start, stop, size), stop] if start < stop else [start, stop]
    for first, last in pairwise(edges):
        begin = max(first - -(-before // every) * every, start)
        yield Piece(first, last, begin, min(last + (after or 0), stop))


def _room_for(found: Evidence, rows: int) -> Evidence:
    """Tables for so many rows, of what was found of some."""

    def room(some: Array) -> Array:
        return np.empty((rows, *some.shape[1:]), some.dtype)

    return found._replace(
        score=room(found.score),
        by_channel=room(found.by_channel),
        expected=None if found.expected is None else room(found.expected),
        traces={name: room(trace) for name, trace in found.traces.items()},
    )


def _put(found: Evidence, whole: Evidence, piece: Piece) -> None:
    """What was found of a piece, without the rows around it, where it belongs."""
    own = slice(piece.first - piece.begin, piece.last - piece.begin)
    here = slice(piece.first, piece.last)
    whole.score[here] = found.score[own]
    whole.by_channel[here] = found.by_channel[own]
    if whole.expected is not None and found.expected is not None:
        whole.expected[here] = found.expected[own]
    for name, trace in whole.traces.items():
        trace[here] = found.traces[name][own]
