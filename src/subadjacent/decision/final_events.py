"""Events of final evidence in a stream: those that a batch over the same rows finds.

Shapes: T rows.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.decision import Decision
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.machine import CLOSED, OngoingEvent
from subadjacent.decision.permanent import PermanentShifts
from subadjacent.decision.severity_stream import RowSeverity
from subadjacent.decision.silence_stream import SilentRows


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
        self._entity, self._blur = entity, blur
        self._severity = decision.stream(entity, blur)
        self._machine = decision.machine()
        self._shifts = PermanentShifts()
        # events that proved permanent since they were last asked for
        self._permanent: list[OngoingEvent] = []
        # of the rows whose evidence is not final yet: whether a channel is silent, a segment begins
        self._silent = np.zeros(0, dtype=bool)
        self._starts = np.zeros(0, dtype=bool)

    def decide_by(self, decision: Decision) -> None:
        """Go on with another requested rate."""
        severity, machine = self._severity.state(), self._machine.state()
        self._severity = decision.stream(self._entity, self._blur)
        self._severity.restore(severity)
        self._machine = decision.machine()
        self._machine.restore(machine)

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

    def mark_since(self, silent: SilentRows) -> None:
        """Note since when channels have been missing at the rows that came last.

        A gap counts as long from its first row on, and is known to be later.
        """
        back = np.where(silent.missing, silent.since, 0).max(axis=1)
        for place in np.flatnonzero(back).tolist():
            self.mark_silent(len(back) - 1 - place, int(back[place]) + 1)

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
        last = [change.event for change in self._machine.end_segment()]
        none = np.zeros(0, dtype=bool)
        self._permanent += self._shifts.push(none, none, last)
        return events + last

    def _follow(self, rows: RowSeverity) -> list[OngoingEvent]:
        changes = rows.push_to(self._machine)
        events = [change.event for change in changes if change.state == CLOSED]
        self._permanent += self._shifts.push(rows.shifted, rows.unlike, events)
        return events

    def permanent(self, *, ends: bool = False) -> list[OngoingEvent]:
        """Events that proved permanent since this was last called; ``ends``: no rows will come."""
        found = self._permanent + (self._shifts.finish() if ends else [])
        self._permanent = []
        return found

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        arrays = {f"severity/{name}": array for name, array in self._severity.state().items()}
        flags = {"silent": self._silent, "starts": self._starts}
        arrays |= {name: array.astype(np.uint8) for name, array in flags.items()}
        shifts, facts = self._shifts.state()
        arrays |= {f"shifts/{name}": array for name, array in shifts.items()}
        return arrays, {
            "machine": self._machine.state(),
            "shifts": facts,
            "permanent": [asdict(event) for event in self._permanent],
        }

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``, for the same decision."""
        own: dict[str, dict[str, NDArray[Any]]] = {}
        for key, array in arrays.items():
            part, _, name = key.rpartition("/")
            own.setdefault(part, {})[name] = array
        self._severity.restore(own["severity"])
        self._shifts.restore(own["shifts"], facts["shifts"])
        self._permanent = [OngoingEvent(**event) for event in facts["permanent"]]
        self._silent, self._starts = arrays["silent"] > 0, arrays["starts"] > 0
        self._machine.restore(facts["machine"])
