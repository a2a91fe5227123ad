"""Score the rows of one unbroken segment as they arrive, with the same result as batch scoring.

A row is final when all rows that its score depends on have arrived; until then it waits. The
evidence on a row does not depend on how many rows arrive together.

Shapes: B rows that arrive together, C channels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.data.times import read_times
from subadjacent.decision.evidence import Evidence
from subadjacent.errors import InputError, require_whole
from subadjacent.methods.method import Model, State

# values of a block; a model holds some twenty tables of it. Twice as many are no quicker
BLOCK_VALUES = 1_000_000
# a block has this many times a model's reach at least: some models assess that many rows twice
BLOCK_REACHES = 4


class ModelStream(ABC):
    """Scores one unbroken segment with one model, as rows arrive.

    ``Model.stream()`` begins one. ``push`` and, at the end, ``finish`` give the evidence on every
    row once, in the order of the rows; put together, it is what ``Model.assess`` gives for the
    whole segment.

    Attributes
    ----------
    taken
        Rows of the segment that have arrived.
    given
        Rows whose evidence was given; ``taken - given`` rows wait.
    """

    taken: int
    given: int

    @abstractmethod
    def push(self, rows: NDArray[Any]) -> Evidence:
        """Take the next rows, (B, C), in the data's own units and without gaps.

        Returns the evidence on the rows that are final now, the first of them being row ``given``
        as it was before; on no rows, as a rule, if too few have arrived.
        """

    @abstractmethod
    def waiting(self) -> Evidence:
        """Evidence on the rows that wait, as if the segment ended here; changes nothing."""

    def finish(self) -> Evidence:
        """End the segment; return the evidence on the rows that wait."""
        rest = self.waiting()
        self._begin()
        return rest

    @abstractmethod
    def _begin(self) -> None:
        """Drop all rows, and begin a new segment."""

    @abstractmethod
    def state(self) -> State:
        """The state, of bounded size; ``Model.stream(state)`` continues from it."""


class ReplayStream(ModelStream):
    """A stream of any model, which rescores a buffer of recent rows at each push.

    Parameters
    ----------
    model
        A model that does not need all rows of a segment at once.
    state
        The state to continue from; None for the beginning of a segment.
    """

    def __init__(self, model: Model, state: State | None = None) -> None:
        before, after, every = model.reach
        if after is None:
            raise InputError(
                "detector must not need all rows of a segment at once to score a stream; this one "
                "does: use another setting of its score, or SubAdjacentDetector()"
            )
        self._model = model
        self._before, self._after, self._every = before, after, every
        self._begin()
        if state is not None:
            self._continue(state)

    def _begin(self) -> None:
        channels = len(self._model.typical_values)
        self._kept = np.zeros((0, channels))
        self.taken = self.given = 0

    def push(self, rows: NDArray[Any]) -> Evidence:
        """Take the next rows; return the evidence on those that are final now."""
        check_rows(rows, self._kept.shape[1])
        self._kept = np.concatenate([self._kept, rows])
        self.taken += len(rows)
        final = self._final(self.taken)
        begin = self.taken - len(self._kept)
        evidence = self._assess(self.given - begin, final - begin)
        self.given = final
        # a copy: a part of it would keep the whole in memory
        self._kept = self._kept[self._first(final) - begin :].copy()
        return evidence

    def _final(self, rows: int) -> int:
        """How many rows are final when ``rows`` have arrived."""
        return max(rows - self._after, 0)

    def _first(self, final: int) -> int:
        """The first row that is still needed when ``final`` rows are final.

        A multiple of the windows' spacing, so that windows stand as in batch scoring.
        """
        return max(final - self._before, 0) // self._every * self._every

    def waiting(self) -> Evidence:
        """Evidence on the rows that wait, as if the segment ended here."""
        begin = self.taken - len(self._kept)
        return self._assess(self.given - begin, self.taken - begin)

    def _assess(self, first: int, last: int) -> Evidence:
        """Evidence on the buffered rows ``first`` to ``last``."""
        if first < last:
            return part_of(self._model.assess(self._kept), first, last)
        return self._nothing

    @cached_property
    def _nothing(self) -> Evidence:
        """Evidence on no rows, in the shape of this model's evidence."""
        return part_of(self._model.assess(self._model.typical_values[None]), 0, 0)

    def state(self) -> State:
        """The buffered rows, and the number of rows that have arrived."""
        return State({"kept": self._kept}, {"taken": self.taken})

    def _continue(self, state: State) -> None:
        self.taken = check_taken(state.facts["taken"])
        self.given = self._final(self.taken)
        rows = self.taken - self._first(self.given)
        self._kept = check_table("kept", state.arrays["kept"], self._kept, rows)


def check_rows(rows: NDArray[Any], channels: int) -> None:
    """Refuse rows that do not have shape (rows, channels)."""
    if rows.ndim != 2 or rows.shape[1] != channels:
        raise InputError(f"rows must have shape (rows, {channels}); got {rows.shape}")


def check_table(name: str, table: NDArray[Any], like: NDArray[Any], rows: int) -> NDArray[Any]:
    """A saved table with the dtype of ``like``; refuses a wrong shape or non-finite values."""
    shape = (rows, *like.shape[1:])
    if table.shape != shape:
        raise InputError(f"{name} must have shape {shape}; got {table.shape}")
    if not np.isfinite(table).all():
        raise InputError(f"{name} must be finite")
    return table.astype(like.dtype)


def check_taken(taken: Any) -> int:
    """A saved row count; refuses anything but a whole number from 0."""
    require_whole("taken", taken, least=0)
    return int(taken)


ARRAYS = (
    *("score", "by_channel", "expected", "low", "high"),
    *("strongest", "log_period", "goes_on", "warm_up"),
)
"""Names of the arrays of evidence, beside the traces; some are None for some models."""


def part_of(evidence: Evidence, first: int, last: int) -> Evidence:
    """Evidence on the rows from ``first`` to ``last``."""
    return _changed(evidence, lambda array: array[first:last])


def joined(pieces: list[Evidence]) -> Evidence:
    """Join evidence on rows that follow each other; at least one piece."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(piece, name) for piece in pieces])
        for name in ARRAYS
        if getattr(pieces[0], name) is not None
    }
    names = pieces[0].traces
    traces = {name: np.concatenate([piece.traces[name] for piece in pieces]) for name in names}
    return pieces[0]._replace(**arrays, traces=traces)


def _changed(evidence: Evidence, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Evidence:
    """The same evidence with every array changed."""
    arrays: dict[str, Any] = {
        name: change(array) for name in ARRAYS if (array := getattr(evidence, name)) is not None
    }
    traces = {name: change(trace) for name, trace in evidence.traces.items()}
    return evidence._replace(**arrays, traces=traces)


def assess_series(
    model: Model,
    series: TrainSeries,
    tell: Callable[[int], None] = lambda _rows: None,
    **learning: Any,
) -> Evidence:
    """A model's evidence on all unbroken segments of a series.

    Long segments go through the model's stream block by block, so that memory does not grow with
    them beyond the evidence itself. ``tell`` is called with the number of rows of every block.
    ``learning`` are options of the stream of a model that learns.
    """
    before, after, _ = model.reach
    block = max(BLOCK_VALUES // series.values.shape[1], BLOCK_REACHES * (before + (after or 0)), 1)
    whole: Evidence | None = None
    first = 0
    blocks = _by_part(model, series, block)
    if model.learns:
        blocks = _while_learning(model.stream(**learning), series, block)
    for evidence in blocks:
        last = first + len(evidence.score)
        if len(evidence.score) == len(series):
            whole = evidence
        else:
            # into one table from the start: joining later would hold two for a while
            whole = _empty_like(evidence, len(series)) if whole is None else whole
            _copy_block(evidence, whole, slice(first, last))
        tell(last - first)
        first = last
    assert whole is not None
    return whole


def _by_part(model: Model, series: TrainSeries, block: int) -> Iterator[Evidence]:
    """Evidence on each part by itself."""
    for start, stop in series.parts:
        rows = series.values[start:stop]
        if len(rows) > block and model.reach.after is not None:
            yield from _in_blocks(model.stream(), rows, block)
        else:
            yield model.assess(rows)


def _while_learning(stream: Any, series: TrainSeries, block: int) -> Iterator[Evidence]:
    """Evidence of one stream on all segments, as rows that come have it."""
    for start, stop in series.segments:
        if start:
            stream.gap(missing_rows_before(series, start))
        for first in range(start, stop, block):
            some = slice(first, min(first + block, stop))
            missing = None if series.missing is None else series.missing[some]
            yield stream.push(series.values[some], missing)


def missing_rows_before(series: TrainSeries, start: int) -> int | None:
    """Rows that are missing before one that begins a segment; None where times do not tell."""
    if series.index is None or series.interval is None:
        return None
    times = read_times([series.label(start - 1), series.label(start)])
    if times.unit != "seconds":
        return None
    return max(round(float(np.diff(times.ticks)[0]) / series.interval) - 1, 1)


def _in_blocks(stream: ModelStream, rows: NDArray[Any], block: int) -> Iterator[Evidence]:
    for first in range(0, len(rows), block):
        yield stream.push(rows[first : first + block])
    yield stream.finish()


def _empty_like(evidence: Evidence, rows: int) -> Evidence:
    """Uninitialised evidence on ``rows`` rows, otherwise shaped as ``evidence``."""

    def room(some: NDArray[Any]) -> NDArray[Any]:
        return np.empty((rows, *some.shape[1:]), some.dtype)

    return _changed(evidence, room)


def _copy_block(evidence: Evidence, whole: Evidence, rows: slice) -> None:
    """Copy a block's evidence into ``rows`` of the whole series' evidence."""
    for name in ARRAYS:
        array, block = getattr(whole, name), getattr(evidence, name)
        if array is not None and block is not None:
            array[rows] = block
    for name, trace in whole.traces.items():
        trace[rows] = evidence.traces[name]
