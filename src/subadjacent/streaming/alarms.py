"""Alarms while rows come in: opened once, updated, closed.

An event begins with a row whose new-event severity reaches 1. It ends after ``close_after`` rows
without a high-severity one; a departure that comes and goes is one event. An event that lasts
becomes the new normal. It is an alarm if the budget allows for it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import MOST_ROWS, require_whole
from subadjacent.scoring.causes import Cause
from subadjacent.streaming.budget import Contamination, RollingBudget

OPENED, UPDATED, CLOSED = STATES = ("opened", "updated", "closed")

HIGH_SEVERITY = 0.7
"""Severity of a row that keeps an event going; 1 begins an event. About one normal row in 400 is as
severe where one false alarm in 5,000 rows is accepted."""

MIN_SHARE_OF_WORST, AFTERMATH_ROWS = 0.4, 84
"""In the first 84 rows of an event, such a row also needs this share of the event's highest
severity. Expectations are wrong for as long after an event (64 rows, averaged over 20), because
nothing is learned from it; that is no part of the event. Without a share, a jump of 20 rows early
in a stream stays open for 200 rows (reproduce/log.md, "When an alarm is over")."""

CLOSE_AFTER = 30
"""Rows without a high-severity one after which an event is over: in a batch, as many rows beside
an event may belong to it."""

ADAPT_AFTER = 300
"""Rows after which an event is the new normal, as a detector's ``adapt_after``."""

UPDATE_FACTOR = 2.0
"""An alarm is checked for an update when its rows or its severity are this many times those at the
last check: few times, however long it lasts."""


@dataclass(frozen=True, slots=True)
class LiveAlarm:
    """One alarm of a stream, as of the latest row.

    ``number`` counts the alarms of its series from 1; ``state`` is one of ``STATES``. ``start``
    and ``end`` are times, or row numbers where rows have none; ``first`` and ``last`` are always
    row numbers. ``severity`` is the highest of its rows. ``permanent`` says that it was closed
    because the series did not come back, so that it counts as normal from then on.
    """

    number: int
    state: str
    entity: str | None
    start: Any
    end: Any
    first: int
    last: int
    severity: float
    kind: str
    sentence: str
    causes: tuple[Cause, ...] = ()
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class AlarmRules:
    """When alarms open and close.

    Parameters
    ----------
    close_after
        Rows without a high-severity one after which an alarm is closed.
    adapt_after
        Rows after which an event is the new normal; None: never.
    contamination
        Alarms to open at most: "auto" (no limit), a share of the rows, or "1/week".
    """

    close_after: int = CLOSE_AFTER
    adapt_after: int | None = ADAPT_AFTER
    contamination: Contamination = "auto"

    def __post_init__(self) -> None:
        require_whole("close_after", self.close_after, least=1, most=MOST_ROWS)
        if self.adapt_after is not None:
            require_whole("adapt_after", self.adapt_after, least=1, most=MOST_ROWS)
        RollingBudget(self.contamination)


@dataclass(slots=True)
class OngoingEvent:
    """The ongoing event.

    ``number`` is that of its alarm, None while the budget allows for none. ``last`` is the last
    high-severity row. ``checked_rows`` and ``checked_severity`` are what it had at the last check.
    """

    first: int
    last: int
    severity: float
    number: int | None = None
    checked_rows: int = 0
    checked_severity: float = 0.0


class AlarmChange(NamedTuple):
    """A change of an event's alarm at a row: ``state`` is one of ``STATES``.

    An update is a check due: ``AlarmStore`` drops it if the alarm has not changed.
    """

    row: int
    state: str
    event: OngoingEvent
    permanent: bool = False


class Severities(NamedTuple):
    """Severities of rows, (B,) each.

    Parameters
    ----------
    new_event
        Severity of the new-event surprise: 1 begins an event.
    ongoing
        Severity of the surprise, of a new event or not: keeps an event going.
    since
        Rows before this one in which the event that it begins has been going on already.
    now
        Time or number of the row: what the budget counts.
    """

    new_event: NDArray[np.float64]
    ongoing: NDArray[np.float64]
    since: NDArray[np.int64]
    now: NDArray[np.float64]


class AlarmProgress(NamedTuple):
    """Changes of alarms over some rows."""

    changes: list[AlarmChange]
    alarmed: NDArray[np.bool_]  # (B,), whether an alarm is open
    normal: NDArray[np.bool_]  # (B,), rows outside of all events
    accepted: OngoingEvent | None = None  # the event that is the new normal by the last row


class AlarmTracker:
    """Tracks events and their alarms row by row."""

    def __init__(self, rules: AlarmRules) -> None:
        self.rules = rules
        self.budget = RollingBudget(rules.contamination)
        self.event: OngoingEvent | None = None
        self.opened = 0

    @property
    def normal(self) -> bool:
        """Whether no event goes on, so that rows may be learned from."""
        return self.event is None

    def follow(self, row: int, rows: Severities, *, may_accept: bool = True) -> AlarmProgress:
        """Follow rows, the first of which is number ``row``.

        ``may_accept`` allows that an event becomes the new normal at the last of them.
        """
        count = len(rows.new_event)
        alarmed, normal = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
        changes: list[AlarmChange] = []
        if self.event is None and not (rows.new_event >= 1).any():
            return AlarmProgress(changes, alarmed, normal)
        for place in range(count):
            if self.event is None:
                if rows.new_event[place] < 1:
                    continue
                first = row + place - int(rows.since[place])
                self.event = OngoingEvent(first, row + place, float(rows.new_event[place]))
            normal[place] = False
            severity = max(float(rows.new_event[place]), float(rows.ongoing[place]))
            changes += self._go_on(self.event, row + place, severity, rows, place)
            over = row + place - self.event.last >= self.rules.close_after
            alarmed[place] = self.event.number is not None and not over
            if over:
                changes += self._close(self.event, row + place, permanent=False)
        event = self.event
        if event is None or not may_accept or not self._is_new_normal(event, row + count - 1):
            return AlarmProgress(changes, alarmed, normal)
        # it is closed at this row, so that an update of the same row is left out
        changes = [change for change in changes if change.row < row + count - 1 or _opens(change)]
        changes += self._close(event, row + count - 1, permanent=True)
        return AlarmProgress(changes, alarmed, normal, event)

    def _go_on(
        self, event: OngoingEvent, row: int, severity: float, rows: Severities, place: int
    ) -> list[AlarmChange]:
        """Add a row to an event, and return the changes of its alarm."""
        severity_of_new = float(rows.new_event[place])
        short = event.last - event.first < AFTERMATH_ROWS
        is_high = severity >= max(
            HIGH_SEVERITY, MIN_SHARE_OF_WORST * event.severity if short else 0.0
        )
        if is_high:
            event.last, event.severity = row, max(event.severity, severity_of_new)
        if event.number is None:
            # a row that is no part of the event says nothing of it, and may be its last
            return (
                self._maybe_open(event, row, severity_of_new, float(rows.now[place]))
                if is_high
                else []
            )
        if self._is_check_due(event, row):
            self._note_check(event, row)
            return [AlarmChange(row, UPDATED, replace(event))]
        return []

    def _maybe_open(
        self, event: OngoingEvent, row: int, severity: float, now: float
    ) -> list[AlarmChange]:
        if severity < self.budget.min_severity(now):
            return []
        self.budget.spend(now)
        self.opened += 1
        event.number = self.opened
        self._note_check(event, row)
        return [AlarmChange(row, OPENED, replace(event))]

    def _close(self, event: OngoingEvent, row: int, *, permanent: bool) -> list[AlarmChange]:
        self.event = None
        return [] if event.number is None else [AlarmChange(row, CLOSED, replace(event), permanent)]

    def _note_check(self, event: OngoingEvent, row: int) -> None:
        event.checked_rows = row + 1 - event.first
        event.checked_severity = event.severity

    def _is_new_normal(self, event: OngoingEvent, row: int) -> bool:
        after = self.rules.adapt_after
        return after is not None and row + 1 - event.first >= after

    def _is_check_due(self, event: OngoingEvent, row: int) -> bool:
        return (
            row + 1 - event.first >= UPDATE_FACTOR * event.checked_rows
            or event.severity >= UPDATE_FACTOR * event.checked_severity
        )

    def end(self) -> OngoingEvent | None:
        """End the ongoing event, because a user marked it as normal."""
        event, self.event = self.event, None
        return event

    def state(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "event": None if self.event is None else asdict(self.event),
            "opened": self.opened,
            "budget": self.budget.state(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """The inverse of ``state``, with the same rules."""
        self.event = None if saved["event"] is None else OngoingEvent(**saved["event"])
        self.opened = int(saved["opened"])
        self.budget.restore(saved["budget"])


def _opens(change: AlarmChange) -> bool:
    return change.state == OPENED


def alarm_to_json(alarm: LiveAlarm, time: Any) -> dict[str, Any]:
    """An alarm as JSON holds it; ``time`` turns times into what JSON has."""
    record = asdict(alarm)
    record["start"], record["end"] = time(alarm.start), time(alarm.end)
    for cause in record["causes"]:
        cause["at"] = time(cause["at"])
    return record


def alarm_from_json(saved: dict[str, Any], time: Any) -> LiveAlarm:
    """The inverse of ``alarm_to_json``; reads what versions before 0.3 saved, too."""
    if "for_good" in saved:
        saved = {**saved, "permanent": saved["for_good"]}
        del saved["for_good"]
    causes = tuple(Cause(**cause | {"at": time(cause["at"])}) for cause in saved["causes"])
    times = {"start": time(saved["start"]), "end": time(saved["end"])}
    return LiveAlarm(**saved | times | {"causes": causes})
