"""Rows of one unbroken stretch as they come: each gets the evidence that batch scoring gives it.

A row is final when the rows that its score depends on have come; until then it waits. What is said
of a row does not depend on how many rows come together.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError, require_whole
from subadjacent.methods.method import Model, State
from subadjacent.scoring.evidence import Evidence


class ModelStream(ABC):
    """One unbroken stretch, scored by one model as it comes.

    ``Model.stream()`` begins one. Evidence comes in the order of the rows, each row once: that of
    ``push`` and, at the end, of ``finish``, one after the other, is what ``Model.assess`` makes of
    the stretch.

    Attributes
    ----------
    taken
        Rows of the stretch that have come.
    given
        Rows whose evidence was given; ``taken - given`` rows wait.
    """

    taken: int
    given: int

    @abstractmethod
    def push(self, rows: NDArray[Any]) -> Evidence:
        """Take the next rows, (B, C), in the data's own units and without gaps.

        Returns the evidence of the rows that are final now, the first of them being row ``given``
        as it was before; of none, as a rule, if too few have come.
        """

    @abstractmethod
    def waiting(self) -> Evidence:
        """Of the rows that wait, as if the stretch ended here; changes nothing."""

    def finish(self) -> Evidence:
        """Of the rows that wait, as the stretch ends here; the next row begins a new one."""
        rest = self.waiting()
        self._begin()
        return rest

    @abstractmethod
    def _begin(self) -> None:
        """Forget all rows: a new stretch begins."""

    @abstractmethod
    def state(self) -> State:
        """Where it stands, of a size that does not grow; ``Model.stream(state)`` goes on there."""


class ReplayStream(ModelStream):
    """A stream of any model: each push scores a buffer again that is as long as the model's reach.

    Parameters
    ----------
    model
        One that does not need all rows of a stretch at once.
    state
        Where to go on; None for the beginning of a stretch.
    """

    def __init__(self, model: Model, state: State | None = None) -> None:
        before, after, every = model.reach
        if after is None:
            raise InputError(
                "detector must not need all rows of a stretch at once to score them as they come; "
                "one with another setting of its score, or SubAdjacentDetector(), does not"
            )
        self._model = model
        self._before, self._after, self._every = before, after, every
        self._begin()
        if state is not None:
            self._go_on(state)

    def _begin(self) -> None:
        channels = len(self._model.typical_values)
        self._kept = np.zeros((0, channels))
        self.taken = self.given = 0

    def push(self, rows: NDArray[Any]) -> Evidence:
        """Take the next rows; evidence of those that are final now."""
        self._kept = np.concatenate([self._kept, rows])
        self.taken += len(rows)
        final = self._final(self.taken)
        begin = self.taken - len(self._kept)
        found = self._assess(self.given - begin, final - begin)
        self.given = final
        # a copy: a part of it would keep the whole in memory
        self._kept = self._kept[self._first(final) - begin :].copy()
        return found

    def _final(self, rows: int) -> int:
        """How many of so many rows are final."""
        return max(rows - self._after, 0)

    def _first(self, final: int) -> int:
        """The first row that is needed where so many are final.

        At a multiple, so that windows stand where they would with all rows at once.
        """
        return max(final - self._before, 0) // self._every * self._every

    def waiting(self) -> Evidence:
        """Of the rows that wait, as if the stretch ended here."""
        begin = self.taken - len(self._kept)
        return self._assess(self.given - begin, self.taken - begin)

    def _assess(self, first: int, last: int) -> Evidence:
        """Of some of the rows that are kept."""
        # nothing to be said is said by what a model makes of one typical row
        rows = self._kept if first < last else self._model.typical_values[None]
        first, last = (first, last) if first < last else (0, 0)
        return part_of(self._model.assess(rows), first, last)

    def state(self) -> State:
        """The rows that are kept, and how many have come."""
        return State({"kept": self._kept}, {"taken": self.taken})

    def _go_on(self, state: State) -> None:
        self.taken = check_taken(state.facts["taken"])
        self.given = self._final(self.taken)
        rows = self.taken - self._first(self.given)
        self._kept = check_table("kept", state.arrays["kept"], self._kept, rows)


def check_table(name: str, table: NDArray[Any], like: NDArray[Any], rows: int) -> NDArray[Any]:
    """A table that was saved, as that of ``like`` is but for its rows; refuses any other."""
    shape = (rows, *like.shape[1:])
    if table.shape != shape:
        raise InputError(f"{name} must have shape {shape}; got {table.shape}")
    if not np.isfinite(table).all():
        raise InputError(f"{name} must be finite")
    return table.astype(like.dtype)


def check_taken(taken: Any) -> int:
    """Refuse what is no number of rows that have come."""
    require_whole("taken", taken, least=0)
    return int(taken)


def part_of(found: Evidence, first: int, last: int) -> Evidence:
    """What was found of some rows."""
    here = slice(first, last)
    return found._replace(
        score=found.score[here],
        by_channel=found.by_channel[here],
        expected=None if found.expected is None else found.expected[here],
        traces={name: trace[here] for name, trace in found.traces.items()},
    )


def joined(parts: list[Evidence]) -> Evidence:
    """What was found of rows that follow each other, at least one part."""
    first = parts[0]
    expected = [part.expected for part in parts if part.expected is not None]
    return first._replace(
        score=np.concatenate([part.score for part in parts]),
        by_channel=np.concatenate([part.by_channel for part in parts]),
        expected=np.concatenate(expected) if expected else None,
        traces={
            name: np.concatenate([part.traces[name] for part in parts]) for name in first.traces
        },
    )
