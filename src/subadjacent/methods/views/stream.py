"""The default's score of a segment, at once or as it grows, step by step.

Every step (standardised rows, residuals, their surprise, the average over rows) keeps the last rows
of its input, as many as it looks back, and is behind by the rows that it looks ahead. A whole
segment goes through the same steps at once.

Shapes: B rows that come together, C channels, P parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.evidence import Evidence
from subadjacent.decision.view_facts import FACTS
from subadjacent.methods.method import State
from subadjacent.methods.moving import rows_ahead
from subadjacent.methods.stream import ModelStream, check_rows, check_table, check_taken
from subadjacent.methods.views.entity import ViewsModel
from subadjacent.methods.views.novelty import Novelty
from subadjacent.methods.views.residual_scale import MARGIN
from subadjacent.methods.views.row_buffer import RowBuffer
from subadjacent.methods.views.settings import SHAPE
from subadjacent.methods.views.smoothing import DECIMALS, smoothed, smoothing_lengths, unusual

# rows that come before old ones are forgotten: it takes no longer than for one. An odd number, so
# that it seldom falls on a row with other work to do: windows end and learners learn at even ones
FORGET_EVERY = 25
# names of the tables that are kept, one row a row of the segment
ROWS, RESIDUALS, ASSESSED, EXPECTED, VALUES, MEANS, STRONGEST, BY_PART = (
    "rows",
    "left",
    "assessed",
    "expected",
    "values",
    "means",
    "strongest",
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
    """One segment, assessed by the views of an entity as it comes.

    Parameters
    ----------
    model
        The views of the entity.
    state
        Where to continue; None for the beginning of a segment.
    explained
        Whether evidence says more than scores.
    """

    def __init__(
        self, model: ViewsModel, state: State | None = None, *, explained: bool = True
    ) -> None:
        self._model, self._explained = model, explained
        self._channels = len(model.scaler.center)
        self._forecasts = model.forecasts
        self._novelty_weights = {
            name: FACTS[name].weight * novelty.weight
            for name, novelty in model.entity.novelty.items()
        }
        self._states, self._shapes = model.entity.states, model.entity.shapes
        allowed = model.settings.ahead
        self._lookahead, self._score_lookahead = allowed.residuals, allowed.score
        self._behind, self._ahead = model.entity.reach
        self._longest = max(smoothing_lengths(model.settings.smoothing))
        self._combined_ahead = rows_ahead(MARGIN, self._lookahead)
        self._scores_ahead = rows_ahead(self._longest, self._score_lookahead)
        self._traces = model.traces
        # which trace each part belongs to, (P, traces)
        forms = np.array(model.forms, dtype=object)
        self._members = (forms[:, None] == np.array(self._traces, dtype=object)).astype(np.float64)
        self._begin()
        if state is not None:
            self._continue(state)

    def _begin(self) -> None:
        self.taken = self.given = self._forgotten = 0
        self._tails = {name: RowBuffer(rows) for name, rows in self._empty().items()}
        self._windows = [] if self._shapes is None else self._shapes.no_windows()

    def _empty(self) -> dict[str, NDArray[Any]]:
        """Every table without rows."""
        tables: dict[str, NDArray[Any]] = {
            ROWS: np.zeros((0, self._channels), np.float32),
            RESIDUALS: np.zeros((0, self._forecasts.width), np.float32),
            ASSESSED: np.zeros((0, self._forecasts.count), bool),
            MEANS: np.zeros(0),
            STRONGEST: np.zeros(0),
        }
        if not self._explained:
            return tables
        tables[VALUES] = np.zeros((0, self._channels), np.float32)
        tables[BY_PART] = np.zeros((0, len(self._members)))
        if self._forecasts.expects is not None:
            tables[EXPECTED] = np.zeros((0, self._channels), np.float32)
        return tables

    def _final(self, rows: int) -> _Final:
        """How many rows each step is done with when ``rows`` have come and more may."""
        residuals = max(rows - self._ahead, 0)
        combined = residuals - self._combined_ahead
        if self._shapes is not None:
            combined = min(combined, self._shapes.settled(rows))
        combined = max(combined, 0)
        scores = max(combined - self._scores_ahead, 0)
        return _Final(residuals, combined, scores)

    def push(self, rows: NDArray[Any]) -> Evidence:
        """Take the next rows; return the evidence on those that are final now."""
        check_rows(rows, self._channels)
        self._add(rows)
        final = self._final(self.taken)
        evidence = self._advance(final)
        self.given = final.scores
        if self.taken - self._forgotten >= FORGET_EVERY:
            self._forget(final)
        return evidence

    def assess(self, rows: NDArray[Any]) -> Evidence:
        """Evidence on a whole segment."""
        self._add(rows)
        return self._advance(_Final(self.taken, self.taken, self.taken))

    def waiting(self) -> Evidence:
        """Evidence on the rows that wait, as if the segment ended here."""
        tails, windows = self._tails, self._windows
        # worked on in copies, and left as they were
        self._tails = {name: tail.copy() for name, tail in tails.items()}
        self._windows = [tail.copy() for tail in windows]
        try:
            return self._advance(_Final(self.taken, self.taken, self.taken))
        finally:
            self._tails, self._windows = tails, windows

    def _add(self, rows: NDArray[Any]) -> None:
        self._tails[ROWS].push(self._model.scaler.apply(rows))
        self.taken += len(rows)
        if self._shapes is not None:
            self._shapes.add_windows(self._windows, self._tails[ROWS])

    def _forget(self, final: _Final) -> None:
        """Drop the rows that no later step looks back at."""
        self._forgotten = self.taken
        for tail, first in self._needed(final):
            tail.forget(first)

    def _advance(self, final: _Final) -> Evidence:
        """Take every step as far as it goes now; return the evidence on rows that are done."""
        self._forecast(final.residuals)
        self._combine(final.combined)
        return self._average(final.scores)

    def _forecast(self, last: int) -> None:
        """From standardised rows to residuals, up to a row."""
        rows, first = self._tails[ROWS], self._tails[RESIDUALS].end
        if last <= first:
            return
        found = self._forecasts.residuals(
            rows.rows, first - rows.begin, last - rows.begin, expected=self._explained
        )
        self._push_tables({RESIDUALS: found.table, ASSESSED: found.assessed})
        if found.expected is not None:
            self._push_tables({EXPECTED: found.expected})

    def _combine(self, last: int) -> None:
        """From residuals to the surprise of rows and values to all parts together, up to a row."""
        residuals, first = self._tails[RESIDUALS], self._tails[MEANS].end
        if last <= first:
            return
        values, by_part = self._forecasts.combine(
            residuals.rows,
            self._tails[ASSESSED].between(first, last),
            first - residuals.begin,
            last - residuals.begin,
            self._lookahead,
        )
        strongest = (values / self._model.channel_units).max(axis=1)
        rows, added = values.sum(axis=1) / self._channels, [by_part]
        for name, weight in self._novelty_weights.items():
            novelty = self._novelty(name, first, last)
            own = weight * novelty.rows
            rows += own
            added.append(own[:, None])
            values += weight * novelty.values
        by_part = np.concatenate(added, axis=1)
        self._push_tables({MEANS: rows, STRONGEST: strongest, VALUES: values, BY_PART: by_part})

    def _push_tables(self, tables: dict[str, NDArray[Any]]) -> None:
        """Add rows to those of the tables that are kept."""
        for name, rows in tables.items():
            if name in self._tails:
                self._tails[name].push(rows)

    def _novelty(self, name: str, first: int, last: int) -> Novelty:
        if name == SHAPE:
            assert self._shapes is not None
            return self._shapes.novelty(self._windows, self.taken, first, last, self._channels)
        assert self._states is not None
        return self._states.novelty(self._tails[ROWS].between(first, last))

    def _average(self, last: int) -> Evidence:
        """From the surprise of rows to scores, up to a row, from the first not given yet."""
        means, first = self._tails[MEANS], self.given
        smoothing, allowed = self._model.settings.smoothing, self._score_lookahead
        here = (first - means.begin, last - means.begin)
        score = smoothed(means.rows, smoothing, allowed, *here) / self._model.unit
        strongest = np.round(self._tails[STRONGEST].between(first, last), DECIMALS)
        if not self._explained:
            nothing = np.zeros((len(score), 0), np.float32)
            return Evidence(score, nothing, None, {}, strongest=strongest)
        values = self._tails[VALUES]
        by_channel = unusual(
            values.rows, smoothing, allowed, first - values.begin, last - values.begin
        )
        expected = None
        if EXPECTED in self._tails:
            expected = self._model.scaler.invert(self._tails[EXPECTED].between(first, last))
        added = self._tails[BY_PART].between(first, last) @ self._members
        traces = dict(zip(self._traces, added.T / self._model.unit, strict=True))
        return Evidence(score, by_channel, expected, traces, self._traces, strongest=strongest)

    def _needed(self, final: _Final) -> Iterator[tuple[RowBuffer, int]]:
        """Every table, and the first of its rows that a later step looks back at."""
        residuals, combined, scores = final
        rows = min(residuals - self._behind, combined)
        if self._shapes is not None:
            rows = min(rows, self._shapes.needed_rows(self.taken))
            yield from zip(
                self._windows, self._shapes.needed_windows(combined, self.taken), strict=True
            )
        first = {
            ROWS: rows,
            RESIDUALS: combined - MARGIN,
            ASSESSED: combined,
            EXPECTED: scores,
            VALUES: scores - self._model.settings.smoothing,
            MEANS: scores - self._longest,
            STRONGEST: scores,
            BY_PART: scores,
        }
        for name, tail in self._tails.items():
            yield tail, max(first[name], 0)

    def state(self) -> State:
        """The rows that each step keeps, and how many have come."""
        self._forget(self._final(self.taken))
        arrays = {name: tail.rows.copy() for name, tail in self._tails.items()}
        # files of arrays know no yes and no
        arrays[ASSESSED] = arrays[ASSESSED].astype(np.uint8)
        arrays |= {f"{WINDOWS}{n}": tail.rows.copy() for n, tail in enumerate(self._windows)}
        return State(arrays, {"taken": self.taken})

    def _continue(self, state: State) -> None:
        self.taken = check_taken(state.facts["taken"])
        final = self._final(self.taken)
        self.given = final.scores
        ends = {
            ROWS: self.taken,
            RESIDUALS: final.residuals,
            ASSESSED: final.residuals,
            EXPECTED: final.residuals,
            VALUES: final.combined,
            MEANS: final.combined,
            STRONGEST: final.combined,
            BY_PART: final.combined,
        }
        names = {id(tail): name for name, tail in self._tails.items()}
        if self._shapes is not None:
            lengths = enumerate(self._shapes.lengths)
            ends |= {f"{WINDOWS}{n}": length.complete(self.taken) for n, length in lengths}
            names |= {id(tail): f"{WINDOWS}{n}" for n, tail in enumerate(self._windows)}
        restored = {
            (name := names[id(tail)]): RowBuffer(
                check_table(name, state.arrays[name], tail.rows, ends[name] - first), first
            )
            for tail, first in self._needed(final)
        }
        self._tails = {name: restored[name] for name in self._tails}
        self._windows = [restored[f"{WINDOWS}{n}"] for n in range(len(self._windows))]
