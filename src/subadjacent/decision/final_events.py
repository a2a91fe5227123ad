"""Events of final evidence in a stream: those that a batch over the same rows finds.

Shapes: T rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.decision import Decision
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.machine import CLOSED, OngoingEvent
from subadjacent.decision.severity_stream import RowSeverity


class FinalEvents:
    """Runs the decision over final evidence as it comes.

    Parameters
    ----------
    decision
        What was requested, and what is normal.
    entity
        The series.
    blur
        Rows by which the model's averages spread an event.
    """

    def __init__(self, decision: Decision, entity: str | None, blur: int) -> None:
        self._severity = decision.stream(entity, blur)
        self._machine = decision.machine()
        # of the rows whose evidence is not final yet: whether a channel is silent, a segment begins
        self._silent = np.zeros(0, dtype=bool)
        self._starts = np.zeros(0, dtype=bool)

    @property
    def known_until(self) -> int:
        """Events that begin before this row are known by now."""
        return self._machine.known_until

    @property
    def ongoing(self) -> OngoingEvent | None:
        """The event that goes on by the last row whose evidence is decided on."""
        return self._machine.event

    def add(self, silent: NDArray[np.bool_], starts: NDArray[np.bool_]) -> None:
        """Note rows that came: whether a channel is silent, and whether a segment begins, (T,)."""
        self._silent = np.concatenate([self._silent, silent])
        self._starts = np.concatenate([self._starts, starts])

    def mark_silent(self, rows_ago: int, count: int) -> None:
        """Note that a channel has been silent for ``count`` rows before one, 0 the latest."""
        stop = len(self._silent) - rows_ago
        self._silent[max(stop - count, 0) : stop] = True

    def push(self, evidence: Evidence) -> list[OngoingEvent]:
        """Events that are over by the rows whose evidence is final now."""
        done, events = 0, []
        count = len(evidence.score)
        edges = [*np.flatnonzero(self._starts[:count]).tolist(), count]
        for edge in edges:
            if edge > done:
                events += self._push(evidence, done, edge)
            if edge < count:
                events += self.end_segment()
            done = edge
        self._silent, self._starts = self._silent[count:], self._starts[count:]
        return events

    def _push(self, evidence: Evidence, first: int, last: int) -> list[OngoingEvent]:
        rows = slice(first, last)
        strongest = None if evidence.strongest is None else evidence.strongest[rows]
        score = np.asarray(evidence.score[rows], dtype=np.float64)
        return self._follow(self._severity.push(score, strongest, self._silent[rows]))

    def end_segment(self) -> list[OngoingEvent]:
        """Events of the segment that ends here."""
        events = self._follow(self._severity.finish())
        return events + [change.event for change in self._machine.end_segment()]

    def _follow(self, rows: RowSeverity) -> list[OngoingEvent]:
        changes = rows.push_to(self._machine)
        return [change.event for change in changes if change.state == CLOSED]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        arrays = {f"severity/{name}": array for name, array in self._severity.state().items()}
        flags = {"silent": self._silent, "starts": self._starts}
        arrays |= {name: array.astype(np.uint8) for name, array in flags.items()}
        return arrays, {"machine": self._machine.state()}

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``, for the same decision."""
        own = {name.partition("/")[2]: array for name, array in arrays.items() if "/" in name}
        self._severity.restore(own)
        self._silent, self._starts = arrays["silent"] > 0, arrays["starts"] > 0
        self._machine.restore(facts["machine"])
