"""Alarms while rows come in: opened once, updated, closed.

An event begins with a row whose severity reaches 1, and ends once no row has been above a lower
level for a quiet period; so what comes and goes is one event. An event that lasts becomes the new
normal. It is an alarm if the budget allows for it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import MOST_ROWS, require_whole
from subadjacent.scoring.causes import Cause
from subadjacent.streaming.budget import Budget, Wanted

OPENED, UPDATED, CLOSED = STATES = ("opened", "updated", "closed")

LOUD = 0.7
"""What a row of an event needs to keep it going, where 1 begins one: about one normal row in 400
has as much where one false alarm in 5,000 rows is accepted."""

LEFT, AFTERMATH = 0.4, 84
"""What a row needs as a share of the event's worst, where that is more, until the event has lasted
so many rows: what is expected remembers an event as long (64 rows, averaged over 20), and what a
great one leaves behind, while nothing is learned, is no part of it. With less of a share, a jump of
20 rows early in a stream stays open for 200 rows (docs/log.md, "When an alarm is over")."""

QUIET = 30
"""Rows without a loud one after which an event is over: as many as the rows beside an event that
may belong to it in a batch."""

LASTING = 300
"""Rows after which what an event brought is the new normal, as a detector's ``adapt_after``."""

MORE = 2.0
"""An alarm is looked at again when it has lasted, or is as severe as, this many times what it was
when it was last looked at: few times, however long it lasts."""


@dataclass(frozen=True, slots=True)
class LiveAlarm:
    """One alarm, as it is known now.

    ``number`` counts the alarms of its series from 1; ``state`` is one of ``STATES``. ``start``
    and ``end`` are times, or row numbers where rows have none; ``first`` and ``last`` are always
    row numbers. ``severity`` is the highest of its rows. ``for_good`` says that it was closed
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
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class AlarmRules:
    """When alarms open and close.

    Parameters
    ----------
    quiet
        Rows without a loud one after which an alarm is closed.
    adapt_after
        Rows after which what lasts is the new normal; None: never.
    budget
        Alarms to open at most: "1/week", or a number of rows for one alarm in so many.
    """

    quiet: int = QUIET
    adapt_after: int | None = LASTING
    budget: Wanted = None

    def __post_init__(self) -> None:
        require_whole("quiet", self.quiet, least=1, most=MOST_ROWS)
        if self.adapt_after is not None:
            require_whole("adapt_after", self.adapt_after, least=1, most=MOST_ROWS)
        Budget(self.budget)


@dataclass(slots=True)
class Event:
    """What goes on now.

    ``number`` is None while the budget does not allow for an alarm. ``last`` is the last loud row.
    ``looked`` are the rows and the severity that it had when it was last looked at.
    """

    first: int
    last: int
    severity: float
    number: int | None = None
    looked_rows: int = 0
    looked_severity: float = 0.0


class Notice(NamedTuple):
    """Something to be told of an event at a row; ``looked`` again is told only if it is news."""

    row: int
    what: str
    event: Event
    for_good: bool = False


class Severities(NamedTuple):
    """What is known of rows that are followed, (B,) each.

    Parameters
    ----------
    news
        Severity: 1 begins an event.
    lasting
        The same without regard to what the last rows said already: keeps an event going.
    since
        Rows that what is told of a row has been going on before it.
    now
        Time or number of the row: what the budget counts.
    """

    news: NDArray[np.float64]
    lasting: NDArray[np.float64]
    since: NDArray[np.int64]
    now: NDArray[np.float64]


class Walk(NamedTuple):
    """What came of following some rows."""

    notices: list[Notice]
    alarmed: NDArray[np.bool_]  # (B,), whether an alarm is open
    calm: NDArray[np.bool_]  # (B,), rows outside of all events
    accepted: Event | None = None  # what has lasted so long that it is normal by the last row


class AlarmKeeper:
    """Follows severities row by row: what begins, goes on and ends."""

    def __init__(self, rules: AlarmRules) -> None:
        self.rules = rules
        self.budget = Budget(rules.budget)
        self.event: Event | None = None
        self.opened = 0

    @property
    def calm(self) -> bool:
        """Whether nothing goes on, so that rows may be learned from."""
        return self.event is None

    def follow(self, row: int, rows: Severities, *, may_accept: bool = True) -> Walk:
        """Follow rows, the first of which is number ``row``.

        ``may_accept`` says that what lasts may be taken for normal at the last of them.
        """
        count = len(rows.news)
        alarmed, calm = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
        notices: list[Notice] = []
        if self.event is None and not (rows.news >= 1).any():
            return Walk(notices, alarmed, calm)
        for place in range(count):
            if self.event is None:
                if rows.news[place] < 1:
                    continue
                first = row + place - int(rows.since[place])
                self.event = Event(first, row + place, float(rows.news[place]))
            calm[place] = False
            here = max(float(rows.news[place]), float(rows.lasting[place]))
            told = self._go_on(self.event, row + place, here, rows, place)
            notices += told
            over = row + place - self.event.last >= self.rules.quiet
            alarmed[place] = self.event.number is not None and not over
            if over:
                notices += self._close(self.event, row + place, for_good=False)
        event = self.event
        if event is None or not may_accept or not self._lasts(event, row + count - 1):
            return Walk(notices, alarmed, calm)
        # it is closed at this row: there is nothing else to be told of it
        notices = [notice for notice in notices if notice.row < row + count - 1 or _is_new(notice)]
        notices += self._close(event, row + count - 1, for_good=True)
        return Walk(notices, alarmed, calm, event)

    def _go_on(
        self, event: Event, row: int, here: float, rows: Severities, place: int
    ) -> list[Notice]:
        """Take a row of an event into account; what is to be told of it."""
        news = float(rows.news[place])
        short = event.last - event.first < AFTERMATH
        if here >= max(LOUD, LEFT * event.severity if short else 0.0):
            event.last, event.severity = row, max(event.severity, news)
        if event.number is None:
            return self._maybe_open(event, row, news, float(rows.now[place]))
        if self._is_due(event, row):
            self._look(event, row)
            return [Notice(row, UPDATED, replace(event))]
        return []

    def _maybe_open(self, event: Event, row: int, news: float, now: float) -> list[Notice]:
        if news < self.budget.bar(now):
            return []
        self.budget.spend(now)
        self.opened += 1
        event.number = self.opened
        self._look(event, row)
        return [Notice(row, OPENED, replace(event))]

    def _close(self, event: Event, row: int, *, for_good: bool) -> list[Notice]:
        self.event = None
        return [] if event.number is None else [Notice(row, CLOSED, replace(event), for_good)]

    def _look(self, event: Event, row: int) -> None:
        event.looked_rows = row + 1 - event.first
        event.looked_severity = event.severity

    def _lasts(self, event: Event, row: int) -> bool:
        after = self.rules.adapt_after
        return after is not None and row + 1 - event.first >= after

    def _is_due(self, event: Event, row: int) -> bool:
        return (
            row + 1 - event.first >= MORE * event.looked_rows
            or event.severity >= MORE * event.looked_severity
        )

    def end(self) -> Event | None:
        """End what goes on, for it was found to be normal."""
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


def _is_new(notice: Notice) -> bool:
    return notice.what == OPENED


def alarm_to_json(alarm: LiveAlarm, time: Any) -> dict[str, Any]:
    """An alarm as JSON holds it; ``time`` turns times into what JSON has."""
    record = asdict(alarm)
    record["start"], record["end"] = time(alarm.start), time(alarm.end)
    for cause in record["causes"]:
        cause["at"] = time(cause["at"])
    return record


def alarm_from_json(saved: dict[str, Any], time: Any) -> LiveAlarm:
    """The inverse of ``alarm_to_json``."""
    causes = tuple(Cause(**cause | {"at": time(cause["at"])}) for cause in saved["causes"])
    times = {"start": time(saved["start"]), "end": time(saved["end"])}
    return LiveAlarm(**saved | times | {"causes": causes})
