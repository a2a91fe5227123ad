"""Changes of a series' alarms that are known, but not reported yet."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from subadjacent.data.times import from_json, to_json
from subadjacent.decision.alarm_stream import alarm_from_json, alarm_to_json
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.machine import OngoingEvent


@dataclass(slots=True)
class PendingChanges:
    """Changes of alarms to report with a later row.

    Parameters
    ----------
    final_events
        Events of final evidence, and the row at which each confirms an alarm.
    permanent
        Events that proved permanent.
    unconfirmed
        The row at which each closed alarm is withdrawn if nothing confirms it, and its number.
    untold
        Alarms that changed at a row with another change.
    """

    final_events: list[tuple[int, OngoingEvent]] = field(default_factory=list)
    permanent: list[OngoingEvent] = field(default_factory=list)
    unconfirmed: list[tuple[int, int]] = field(default_factory=list)
    untold: deque[Alarm] = field(default_factory=deque)

    def due(self, row: int) -> list[OngoingEvent]:
        """The events of final evidence that confirm an alarm by a row; they wait no more."""
        if not self.final_events or self.final_events[0][0] > row:
            return []
        events = [event for at, event in self.final_events if at <= row]
        self.final_events = [(at, event) for at, event in self.final_events if at > row]
        return events

    def state(self) -> dict[str, Any]:
        """The changes as JSON holds them."""
        return {
            "final_events": [[at, asdict(event)] for at, event in self.final_events],
            "permanent": [asdict(event) for event in self.permanent],
            "unconfirmed": self.unconfirmed,
            "untold": [alarm_to_json(alarm, to_json) for alarm in self.untold],
        }

    @classmethod
    def restore(cls, saved: dict[str, Any]) -> Self:
        """The inverse of ``state``."""
        return cls(
            [(int(at), OngoingEvent(**event)) for at, event in saved["final_events"]],
            [OngoingEvent(**event) for event in saved["permanent"]],
            [(int(at), int(number)) for at, number in saved["unconfirmed"]],
            deque(alarm_from_json(alarm, from_json) for alarm in saved["untold"]),
        )
