"""The default's score of a segment as it grows, step by step.

Every step (standardised rows, residuals, their surprise, the average over rows) keeps the last rows
of what it is made of, as many as it looks back, and is behind by the rows that it looks ahead. New
rows are worked on once, by the functions that score a whole segment.

Shapes: B rows that come together, C channels, P parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.method import State
from subadjacent.methods.stream import ModelStream, check_rows, check_table, check_taken, joined
from subadjacent.methods.views.combine import smoothed, smoothing_lengths, unusual_rows
from subadjacent.methods.views.entity import ViewsModel
from subadjacent.methods.views.growing import GrowingWindows
from subadjacent.methods.views.nearest import prepared
from subadjacent.methods.views.novelty import WEIGHTS, Novelty, Scores
from subadjacent.methods.views.settings import SHAPE, STATE
from subadjacent.methods.views.states import StateView
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.moving import rows_ahead
from subadjacent.scoring.tail import Tail
from subadjacent.scoring.usual import MARGIN

# rows that come before old ones are forgotten: it takes no longer than for one. An odd number, so
# that it seldom falls on a row with other work to do: windows end and learners learn at even ones
AT_LEAST = 25
# residuals that are worked on at a time: few enough to stay in the processor's cache
MOST_VALUES = 100_000
# names of the tables that are kept, one row a row of the segment
ROWS, LEFT, JUDGED, EXPECTED, VALUES, MEANS, BY_PART = (
    "rows",
    "left",
    "judged",
    "expected",
    "values",
    "means",
    "by_part",
)
# before the number of a length, of windows
WINDOWS = "windows"


class _Final(NamedTuple):
    """How many rows each step is done with."""

    residuals: int
    combined: int
    scores: int


class ViewsStream(ModelStream):
    """One segment, scored by the views of an entity as it comes.

    Parameters
    ----------
    model
        Without a network.
    state
        Where to go on; None for the beginning of a segment.
    explained
        Whether evidence says more than scores.
    """

    def __init__(
        self, model: ViewsModel, state: State | None = None, *, explained: bool = True
    ) -> None:
        self._model, self._explained = model, explained
        self._channels = len(model.scaler.center)
        self._views = model.stacked
        self._seeking = {
            name: WEIGHTS[name] * seeking.weight for name, seeking in model.entity.seeking.items()
        }
        shapes = model.entity.shapes
        self._windows = None if shapes is None else GrowingWindows(shapes)
        states = model.entity.seeking.get(STATE)
        self._states: StateView | None = None
        if states is not None:
            assert isinstance(states.view, StateView)
            self._states, self._references = states.view, prepared(states.view)
        allowed = model.settings.ahead
        self._lookahead, self._score_lookahead = allowed.residuals, allowed.score
        self._behind, self._ahead = model.entity.reach
        self._longest = max(smoothing_lengths(model.settings.smoothing))
        self._combined_ahead = rows_ahead(MARGIN, self._lookahead)
        self._scores_ahead = rows_ahead(self._longest, self._score_lookahead)
        members = model.parts_by_trace
        self._names = tuple(members)
        self._parts = len(self._views.order) + len(self._seeking)
        order = [*self._views.order, *range(len(self._views.order), self._parts)]
        self._members = np.array([[part in own for own in members.values()] for part in order])
        self._members = self._members.astype(np.float64).reshape(self._parts, len(members))
        self._step = max(MOST_VALUES // max(self._views.width, 1), 1)
        self._begin()
        if state is not None:
            self._go_on(state)

    def _begin(self) -> None:
        self.taken = self.given = self._forgotten = 0
        self._tails = {name: Tail(rows) for name, rows in self._nothing().items()}
        self._ends = [] if self._windows is None else self._windows.empty()
        self._novel = Tail(np.zeros(0, np.float32))

    def _nothing(self) -> dict[str, NDArray[Any]]:
        """No rows of every table."""
        nothing: dict[str, NDArray[Any]] = {
            ROWS: np.zeros((0, self._channels), np.float32),
            LEFT: np.zeros((0, self._views.width), np.float32),
            JUDGED: np.zeros((0, self._views.count), bool),
            MEANS: np.zeros(0),
        }
        if not self._explained:
            return nothing
        nothing[VALUES] = np.zeros((0, self._channels), np.float32)
        nothing[BY_PART] = np.zeros((0, self._parts))
        if self._views.expects is not None:
            nothing[EXPECTED] = np.zeros((0, self._channels), np.float32)
        return nothing

    def _final(self, rows: int) -> _Final:
        """How many rows each step is done with when so many have come and more may."""
        residuals = max(rows - self._ahead, 0)
        combined = residuals - self._combined_ahead
        if self._windows is not None:
            combined = min(combined, self._windows.settled(rows))
        combined = max(combined, 0)
        scores = max(combined - self._scores_ahead, 0)
        return _Final(residuals, combined, scores)

    def push(self, rows: NDArray[Any]) -> Evidence:
        """Take the next rows; evidence of those that are final now."""
        check_rows(rows, self._channels)
        scaled = self._model.scaler.apply(rows)
        if len(rows) <= self._step:
            return self._take(scaled)
        starts = range(0, len(scaled), self._step)
        return joined([self._take(scaled[start : start + self._step]) for start in starts])

    def waiting(self) -> Evidence:
        """Of the rows that wait, as if the segment ended here."""
        tails, ends = self._tails, self._ends
        # worked on in copies, and left as they were
        self._tails = {name: tail.copy() for name, tail in tails.items()}
        self._ends = [tail.copy() for tail in ends]
        everything = _Final(self.taken, self.taken, self.taken)
        try:
            return self._advance(everything)
        finally:
            self._tails, self._ends = tails, ends

    def _take(self, scaled: NDArray[np.float32]) -> Evidence:
        self._tails[ROWS].push(scaled)
        self.taken += len(scaled)
        if self._windows is not None:
            self._windows.add_to(self._ends, self._tails[ROWS])
        self._compare_states(scaled)
        final = self._final(self.taken)
        found = self._advance(final)
        self.given = final.scores
        if self.taken - self._forgotten >= AT_LEAST:
            self._forget(final)
        return found

    def _compare_states(self, scaled: NDArray[np.float32]) -> None:
        """Find how new the states of rows are as they come: their twin asks it then as well."""
        if self._states is not None and not self._explained:
            judge = partial(self._states.of_rows, references=self._references)
            self._novel.push(self._references.last.of(scaled, judge))

    def _forget(self, final: _Final) -> None:
        """What no later step looks back at."""
        self._forgotten = self.taken
        self._novel.forget(min(final.combined, self._novel.end))
        for tail, first in self._needed(final):
            tail.forget(first)

    def _advance(self, final: _Final) -> Evidence:
        """Take every step as far as it goes now; evidence of rows that came to its end."""
        self._leave(final.residuals)
        self._combine(final.combined)
        return self._score(final.scores)

    def _leave(self, last: int) -> None:
        """From standardised rows to residuals, up to a row."""
        rows, left = self._tails[ROWS], self._tails[LEFT]
        if last <= left.end:
            return
        found = self._views.look(
            rows.rows, left.end - rows.begin, last - rows.begin, explained=self._explained
        )
        left.push(found.residuals)
        self._tails[JUDGED].push(found.judged)
        if found.expected is not None:
            self._tails[EXPECTED].push(found.expected)

    def _combine(self, last: int) -> None:
        """From residuals to what all parts together make of rows, up to a row."""
        left, means = self._tails[LEFT], self._tails[MEANS]
        first = means.end
        if last <= first:
            return
        here = (
            left.rows,
            self._tails[JUDGED].between(first, last),
            first - left.begin,
            last - left.begin,
            self._lookahead,
        )
        if not self._explained:
            rows = self._views.means(*here)
            for name, weight in self._seeking.items():
                rows += weight * self._of_rows(name, first, last)
            means.push(rows)
            return
        values, by_part = self._views.combine(*here)
        rows, added = values.sum(axis=1) / self._channels, [by_part]
        for name, weight in self._seeking.items():
            novelty = self._novelty(name, first, last)
            own = weight * novelty.rows
            rows += own
            added.append(own[:, None])
            values[:, : novelty.values.shape[1]] += weight * novelty.values
        means.push(rows)
        self._tails[VALUES].push(values)
        self._tails[BY_PART].push(np.concatenate(added, axis=1))

    def _novelty(self, name: str, first: int, last: int) -> Novelty:
        if name == SHAPE:
            assert self._windows is not None
            return self._windows.novelty(self._ends, self.taken, first, last)
        assert self._states is not None
        return self._states.novelty(self._tails[ROWS].between(first, last), self._references)

    def _of_rows(self, name: str, first: int, last: int) -> Scores:
        if name == SHAPE:
            assert self._windows is not None
            return self._windows.of_rows(self._ends, self.taken, first, last)
        return self._novel.between(first, last)

    def _score(self, last: int) -> Evidence:
        """Average what all parts make of rows, up to a row, from the first not given yet."""
        means, first = self._tails[MEANS], self.given
        smoothing, allowed = self._model.settings.smoothing, self._score_lookahead
        here = (first - means.begin, last - means.begin)
        score = smoothed(means.rows, smoothing, allowed, *here) / self._model.unit
        if not self._explained:
            return Evidence(score, np.zeros((len(score), 0), np.float32), None, {})
        values = self._tails[VALUES]
        by_channel = unusual_rows(
            values.rows, smoothing, allowed, first - values.begin, last - values.begin
        )
        expected = None
        if self._views.expects is not None:
            expected = self._model.scaler.invert(self._tails[EXPECTED].between(first, last))
        added = self._tails[BY_PART].between(first, last) @ self._members
        traces = dict(zip(self._names, added.T / self._model.unit, strict=True))
        return Evidence(score, by_channel.astype(np.float32), expected, traces, self._names)

    def _needed(self, final: _Final) -> Iterator[tuple[Tail, int]]:
        """Every table, and the first of its rows that a later step looks back at."""
        residuals, combined, scores = final
        rows = min(residuals - self._behind, combined)
        if self._windows is not None:
            rows = min(rows, self._windows.needed_rows(self.taken))
            yield from zip(
                self._ends, self._windows.needed_windows(combined, self.taken), strict=True
            )
        first = {
            ROWS: rows,
            LEFT: combined - MARGIN,
            JUDGED: combined,
            EXPECTED: scores,
            VALUES: scores - self._model.settings.smoothing,
            MEANS: scores - self._longest,
            BY_PART: scores,
        }
        for name, tail in self._tails.items():
            yield tail, max(first[name], 0)

    def state(self) -> State:
        """The rows that each step keeps, and how many have come."""
        self._forget(self._final(self.taken))
        arrays = {name: tail.rows.copy() for name, tail in self._tails.items()}
        # files of arrays know no yes and no
        arrays[JUDGED] = arrays[JUDGED].astype(np.uint8)
        arrays |= {f"{WINDOWS}{n}": tail.rows.copy() for n, tail in enumerate(self._ends)}
        return State(arrays, {"taken": self.taken})

    def _go_on(self, state: State) -> None:
        self.taken = check_taken(state.facts["taken"])
        final = self._final(self.taken)
        self.given = final.scores
        ends = {
            ROWS: self.taken,
            LEFT: final.residuals,
            JUDGED: final.residuals,
            EXPECTED: final.residuals,
            VALUES: final.combined,
            MEANS: final.combined,
            BY_PART: final.combined,
        }
        names = {id(tail): name for name, tail in self._tails.items()}
        if self._windows is not None:
            ends |= {f"{WINDOWS}{n}": e for n, e in enumerate(self._windows.complete(self.taken))}
            names |= {id(tail): f"{WINDOWS}{n}" for n, tail in enumerate(self._ends)}
        restored = {
            (name := names[id(tail)]): Tail(
                check_table(name, state.arrays[name], tail.rows, ends[name] - first), first
            )
            for tail, first in self._needed(final)
        }
        self._tails = {name: restored[name] for name in self._tails}
        self._ends = [restored[f"{WINDOWS}{n}"] for n in range(len(self._ends))]
        # not saved: it follows from the rows
        self._novel = Tail(np.zeros(0, np.float32), final.combined)
        self._compare_states(self._tails[ROWS].between(final.combined, self.taken))
