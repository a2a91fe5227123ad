"""Alarms while rows come in: opened once, updated, closed.

An event begins with a row whose reported severity reaches 1. It ends after a quiet period, in which
no row is loud; a departure that comes and goes is one event. An event that lasts becomes the new
normal. It is an alarm if the budget allows for it.
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

LOUD = 0.7
"""Severity of a loud row, one that keeps an event going; 1 begins an event. About one normal row in
400 is as severe where one false alarm in 5,000 rows is accepted."""

SHARE_OF_WORST, AFTERMATH = 0.4, 84
"""In the first 84 rows of an event, a loud row also needs this share of the event's highest
severity. Expectations are wrong for as long after an event (64 rows, averaged over 20), because
nothing is learned from it; that is no part of the event. Without a share, a jump of 20 rows early
in a stream stays open for 200 rows (reproduce/log.md, "When an alarm is over")."""

CLOSE_AFTER = 30
"""Rows without a loud one after which an event is over: in a batch, as many rows beside an event
may belong to it."""

ADAPT_AFTER = 300
"""Rows after which an event is the new normal, as a detector's ``adapt_after``."""

UPDATE_FACTOR = 2.0
"""An alarm is checked for an update when its rows or its severity are this many times those at the
last check: few times, however long it lasts."""


@dataclass(frozen=True, slots=True)
class LiveAlarm:
    """One alarm, as it is known now.

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
class Event:
    """The event that goes on now.

    ``number`` is that of its alarm, None while the budget allows for none. ``last`` is the last
    loud row. ``checked_rows`` and ``checked_severity`` are what it had at the last check.
    """

    first: int
    last: int
    severity: float
    number: int | None = None
    checked_rows: int = 0
    checked_severity: float = 0.0


class Notice(NamedTuple):
    """A change of an event's alarm at a row: ``what`` is one of ``STATES``.

    An update is a check due: ``AlarmBook`` drops it if the alarm has not changed.
    """

    row: int
    what: str
    event: Event
    permanent: bool = False


class Severities(NamedTuple):
    """What is known of rows that are followed, (B,) each.

    Parameters
    ----------
    reported
        Severity of the reported surprise: 1 begins an event.
    ongoing
        Severity of the surprise, reported or not: keeps an event going.
    since
        Rows before this one in which the event that it begins has been going on already.
    now
        Time or number of the row: what the budget counts.
    """

    reported: NDArray[np.float64]
    ongoing: NDArray[np.float64]
    since: NDArray[np.int64]
    now: NDArray[np.float64]


class AlarmProgress(NamedTuple):
    """What happened to alarms over some rows."""

    notices: list[Notice]
    alarmed: NDArray[np.bool_]  # (B,), whether an alarm is open
    calm: NDArray[np.bool_]  # (B,), rows outside of all events
    accepted: Event | None = None  # the event that is the new normal by the last row


class AlarmKeeper:
    """Follows severities row by row: what begins, goes on and ends."""

    def __init__(self, rules: AlarmRules) -> None:
        self.rules = rules
        self.budget = RollingBudget(rules.contamination)
        self.event: Event | None = None
        self.opened = 0

    @property
    def calm(self) -> bool:
        """Whether no event goes on, so that rows may be learned from."""
        return self.event is None

    def follow(self, row: int, rows: Severities, *, may_accept: bool = True) -> AlarmProgress:
        """Follow rows, the first of which is number ``row``.

        ``may_accept`` allows that an event becomes the new normal at the last of them.
        """
        count = len(rows.reported)
        alarmed, calm = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
        notices: list[Notice] = []
        if self.event is None and not (rows.reported >= 1).any():
            return AlarmProgress(notices, alarmed, calm)
        for place in range(count):
            if self.event is None:
                if rows.reported[place] < 1:
                    continue
                first = row + place - int(rows.since[place])
                self.event = Event(first, row + place, float(rows.reported[place]))
            calm[place] = False
            severity = max(float(rows.reported[place]), float(rows.ongoing[place]))
            notices += self._go_on(self.event, row + place, severity, rows, place)
            over = row + place - self.event.last >= self.rules.close_after
            alarmed[place] = self.event.number is not None and not over
            if over:
                notices += self._close(self.event, row + place, permanent=False)
        event = self.event
        if event is None or not may_accept or not self._is_new_normal(event, row + count - 1):
            return AlarmProgress(notices, alarmed, calm)
        # it is closed at this row, so that an update of the same row is left out
        notices = [notice for notice in notices if notice.row < row + count - 1 or _opens(notice)]
        notices += self._close(event, row + count - 1, permanent=True)
        return AlarmProgress(notices, alarmed, calm, event)

    def _go_on(
        self, event: Event, row: int, severity: float, rows: Severities, place: int
    ) -> list[Notice]:
        """Add a row to an event, and return the changes of its alarm."""
        reported = float(rows.reported[place])
        short = event.last - event.first < AFTERMATH
        loud = severity >= max(LOUD, SHARE_OF_WORST * event.severity if short else 0.0)
        if loud:
            event.last, event.severity = row, max(event.severity, reported)
        if event.number is None:
            # a row that is no part of the event says nothing of it, and may be its last
            return self._maybe_open(event, row, reported, float(rows.now[place])) if loud else []
        if self._is_check_due(event, row):
            self._note_check(event, row)
            return [Notice(row, UPDATED, replace(event))]
        return []

    def _maybe_open(self, event: Event, row: int, reported: float, now: float) -> list[Notice]:
        if reported < self.budget.min_severity(now):
            return []
        self.budget.spend(now)
        self.opened += 1
        event.number = self.opened
        self._note_check(event, row)
        return [Notice(row, OPENED, replace(event))]

    def _close(self, event: Event, row: int, *, permanent: bool) -> list[Notice]:
        self.event = None
        return [] if event.number is None else [Notice(row, CLOSED, replace(event), permanent)]

    def _note_check(self, event: Event, row: int) -> None:
        event.checked_rows = row + 1 - event.first
        event.checked_severity = event.severity

    def _is_new_normal(self, event: Event, row: int) -> bool:
        after = self.rules.adapt_after
        return after is not None and row + 1 - event.first >= after

    def _is_check_due(self, event: Event, row: int) -> bool:
        return (
            row + 1 - event.first >= UPDATE_FACTOR * event.checked_rows
            or event.severity >= UPDATE_FACTOR * event.checked_severity
        )

    def end(self) -> Event | None:
        """End the event that goes on, because it was found to be normal."""
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
        self.event = None if saved["event"] is None else Event(**saved["event"])
        self.opened = int(saved["opened"])
        self.budget.restore(saved["budget"])


def _opens(notice: Notice) -> bool:
    return notice.what == OPENED


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
