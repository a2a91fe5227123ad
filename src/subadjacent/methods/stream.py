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
        # at a multiple, so that windows stand where they would with all rows at once
        self._before, self._after, self._every = -(-before // every) * every, after, every
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
        final = max(self.taken - self._after, self.given)
        begin = self.taken - len(self._kept)
        found = self._assess(self.given - begin, final - begin)
        self.given = final
        first = max(final - self._before, 0) // self._every * self._every
        # a copy: a part of it would keep the whole in memory
        self._kept = self._kept[max(first - begin, 0) :].copy()
        return found

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
        """The rows that are kept, and two numbers."""
        return State({"kept": self._kept}, {"taken": self.taken, "given": self.given})

    def _go_on(self, state: State) -> None:
        kept, facts = state.arrays["kept"], state.facts
        self.taken, self.given = check_counts(facts["taken"], facts["given"])
        if kept.ndim != 2 or kept.shape[1] != self._kept.shape[1]:
            raise InputError(
                f"kept must have shape (rows, {self._kept.shape[1]}); got {kept.shape}"
            )
        first = max(self.given - self._before, 0) // self._every * self._every
        if len(kept) != self.taken - first:
            raise InputError(f"kept must have {self.taken - first} rows; got {len(kept)}")
        self._kept = np.array(kept, dtype=np.float64)


def check_counts(taken: Any, given: Any) -> tuple[int, int]:
    """Refuse numbers of rows that no stream can have come to."""
    require_whole("taken", taken, least=0)
    require_whole("given", given, least=0, most=taken)
    return taken, given


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
