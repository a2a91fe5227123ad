"""Scores of a fitted model as rows come: at once from the past alone, and final ones.

Final scores are those of a batch over the same rows. What a batch does to missing values
(``data.gaps``) only later rows tell: whether a gap is short, so that it is filled, or long, so
that the rows of it are scored by themselves. Rows wait for that here, at most ``fill_limit`` of
them, and then for the rows that the model looks ahead at.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import GapFiller
from subadjacent.methods.method import Model, State
from subadjacent.methods.stream import ModelStream

Array = NDArray[np.float64]


class PartsStream:
    """A segment in its parts, each scored by itself: where a channel is missing for long or not."""

    def __init__(self, stream: ModelStream, *, apart: bool = False) -> None:
        self.stream = stream
        self.apart = apart

    def push(self, rows: Array, apart: NDArray[np.bool_]) -> list[Array]:
        """Scores that became final."""
        if len(rows) and not self.apart and not apart.any():
            return [self.stream.push(rows).score]
        found = []
        edges = np.flatnonzero(np.diff(apart, prepend=self.apart))
        for begin, end in zip([0, *edges], [*edges, len(rows)], strict=True):
            if begin < end:
                if bool(apart[begin]) != self.apart:
                    found.append(self.finish())
                    self.apart = bool(apart[begin])
                found.append(self.stream.push(rows[begin:end]).score)
        return found

    def push_each(self, rows: Array, apart: NDArray[np.bool_]) -> list[Array]:
        """The score of each row as the last of its segment, for models that look ahead."""
        found = []
        for row, is_apart in zip(rows, apart, strict=True):
            scores = [*self.push(row[None], np.array([is_apart])), self.stream.waiting().score]
            found.append(np.concatenate(scores)[-1:])
        return found

    def finish(self) -> Array:
        """Scores of the rows that wait: the segment ends here."""
        return np.asarray(self.stream.finish().score, dtype=np.float64)


class ModelScores:
    """What a fitted model says of the rows of one series as they come.

    Parameters
    ----------
    model, twin
        The model, and the same one with no look at later rows; None where there is none, and what
        the model says of the last row of a segment stands for it.
    fill_limit
        Of the detector.
    """

    def __init__(self, model: Model, twin: Model | None, fill_limit: int) -> None:
        self._each = twin is None and model.reach.after != 0
        twin = model if twin is None else twin
        self._models = model, twin
        self._typical = np.asarray(model.typical_values, dtype=np.float64)
        self._gaps = GapFiller(self._typical, fill_limit)
        self._final = PartsStream(model.stream(explained=False))
        self._at_once = PartsStream(twin.stream(explained=False))

    def at_once(
        self, values: Array, missing: NDArray[np.bool_] | None = None, *, start: bool = False
    ) -> Array:
        """Scores from the past alone, (B,), of rows of one segment that were filled as they came.

        ``missing`` says which values are missing for long by now, (B, C), where any is; ``start``,
        whether the first row begins a segment.
        """
        if start:
            self._at_once.finish()
        apart = np.zeros(len(values), dtype=bool)
        if missing is not None:
            values = np.where(missing, self._typical, values)
            apart = np.asarray(missing.any(axis=1))
        push = self._at_once.push_each if self._each else self._at_once.push
        return joined(push(values, apart))

    def final(self, rows: Array, *, start: bool = False) -> Array:
        """Scores that became final, of rows of one segment, NaN for missing values."""
        ended = [self._end_segment()] if start else []
        return joined(ended + self._final.push(*self._gaps.settle(rows)))

    def finish(self) -> Array:
        """Scores of all rows that wait; what comes next is a new segment."""
        self._at_once.finish()
        return self._end_segment()

    def _end_segment(self) -> Array:
        none = np.zeros((0, len(self._typical)))
        found = self._final.push(*self._gaps.settle(none, ends=True))
        found.append(self._final.finish())
        self._gaps.begin()
        return joined(found)

    def state(self) -> State:
        """Where both streams stand."""
        arrays = {f"gaps.{name}": array for name, array in self._gaps.state().items()}
        facts: dict[str, Any] = {}
        for name, parts in (("final", self._final), ("at_once", self._at_once)):
            state = parts.stream.state()
            arrays |= {f"{name}.{key}": array for key, array in state.arrays.items()}
            facts[name] = {"stream": state.facts, "apart": parts.apart}
        return State(arrays, facts)

    def restore(self, state: State) -> None:
        """The inverse of ``state``, for the same models."""
        self._gaps.restore(_within(state.arrays, "gaps"))
        streams = []
        for name, model in zip(("final", "at_once"), self._models, strict=True):
            facts = state.facts[name]
            saved = State(_within(state.arrays, name), facts["stream"])
            stream = model.stream(saved, explained=False)
            streams.append(PartsStream(stream, apart=bool(facts["apart"])))
        self._final, self._at_once = streams


def joined(scores: list[Array]) -> Array:
    """Scores of rows that follow each other; mostly there is one part of them."""
    if len(scores) == 1:
        return np.asarray(scores[0], dtype=np.float64)
    return np.concatenate([np.zeros(0), *scores])


def _within(arrays: dict[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """Arrays whose names begin with a word, by the rest of their names."""
    return {
        key.partition(".")[2]: array
        for key, array in arrays.items()
        if key.partition(".")[0] == name
    }
