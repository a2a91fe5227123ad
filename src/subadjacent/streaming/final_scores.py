"""Final evidence of a fitted model as rows come: that of a batch over the same rows.

What a batch does to missing values (``data.gaps``) only later rows tell: whether a gap is short, so
that it is filled, or long, so that the rows of it are scored by themselves. Rows wait for that
here, at most ``fill_limit`` of them, and then for the rows that the model looks ahead at.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import GapFiller
from subadjacent.decision.evidence import Evidence
from subadjacent.detectors.piecewise import joined_scores
from subadjacent.methods.method import Model, State

Array = NDArray[np.float64]


class FinalScores:
    """The final scores of a fitted model on the rows of one series.

    Parameters
    ----------
    model
        Of the series' entity.
    fill_limit
        Of the detector.
    """

    def __init__(self, model: Model, fill_limit: int) -> None:
        self._model = model
        self._typical = np.asarray(model.typical_values, dtype=np.float64)
        self._gaps = GapFiller(self._typical, fill_limit)
        self._stream = model.stream(explained=False)
        # whether the rows that the stream has are those of a long gap
        self._apart = False

    def push(self, rows: Array, begins: Sequence[int]) -> Evidence:
        """Evidence that becomes final by new rows, (B, C), NaN for missing values.

        ``begins`` are the numbers of those that begin a segment.
        """
        parts: list[Evidence] = []
        for first, last in pairwise(sorted({0, *begins, len(rows)})):
            if first in begins:
                parts += self._end_segment()
            parts += self._push(*self._gaps.settle(rows[first:last]))
        return joined_scores(parts)

    def finish(self) -> Evidence:
        """Evidence on all rows that wait; the next row begins a new segment."""
        return joined_scores(self._end_segment())

    def _end_segment(self) -> list[Evidence]:
        none = np.zeros((0, len(self._typical)))
        parts = self._push(*self._gaps.settle(none, ends=True))
        self._gaps.begin()
        return [*parts, self._stream.finish()]

    def _push(self, rows: Array, apart: NDArray[np.bool_]) -> list[Evidence]:
        """Score a segment in its parts: where a channel is missing for long or not."""
        parts = []
        edges = np.flatnonzero(np.diff(apart, prepend=self._apart)).tolist()
        for first, last in zip([0, *edges], [*edges, len(rows)], strict=True):
            if first < last:
                if bool(apart[first]) != self._apart:
                    parts.append(self._stream.finish())
                    self._apart = bool(apart[first])
                parts.append(self._stream.push(rows[first:last]))
        return parts

    def state(self) -> State:
        """Where the stream stands."""
        state = self._stream.state()
        arrays = {f"gaps.{name}": array for name, array in self._gaps.state().items()}
        arrays |= {f"stream.{name}": array for name, array in state.arrays.items()}
        return State(arrays, {"stream": state.facts, "apart": self._apart})

    def restore(self, state: State) -> None:
        """The inverse of ``state``, for the same model."""
        own: dict[str, dict[str, NDArray[Any]]] = {"gaps": {}, "stream": {}}
        for key, array in state.arrays.items():
            part, _, name = key.partition(".")
            own[part][name] = array
        self._gaps.restore(own["gaps"])
        saved = State(own["stream"], state.facts["stream"])
        self._stream = self._model.stream(saved, explained=False)
        self._apart = bool(state.facts["apart"])
