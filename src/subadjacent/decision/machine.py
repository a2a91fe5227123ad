"""Events while rows come in: they begin, go on and end; a batch runs the same machine.

An event begins with a row of severity 1 or more. It is over after ``close_after`` rows without
another one. Soon after an event, a weaker one is its aftermath and opens no alarm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

OPENED, UPDATED, CLOSED = STATES = ("opened", "updated", "closed")

CLOSE_AFTER = 100
"""Rows without a high-severity one after which an event is over. With 60, a fault that comes and
goes is more often told in pieces, and F1 of events is 1 to 5 points lower on four data sets
(reproduce/log.md, "One decision")."""

AFTERMATH_ROWS = 500.0
"""Rows in which the severity that a new event must exceed after the last one falls to a third."""

JOIN_WITHIN, MIN_SHARE_OF_WORST = 10, 0.4
"""A high-severity row goes on with an event if at most so many rows lie between, or if neither has
less than this share of the other's severity: a weak row some time after a strong event is no part
of it, and a strong one begins another."""

UPDATE_FACTOR = 2.0
"""An open alarm is told again when its rows or its severity are this many times those told last:
few times, however long it lasts."""


@dataclass(slots=True)
class OngoingEvent:
    """The ongoing event, both rows included.

    ``number`` is that of its alarm, None as long as it is only the aftermath of the event before.
    ``told_rows`` and ``told_severity`` are those of the last change that was told.
    """

    first: int
    last: int
    peak: int
    severity: float
    number: int | None = None
    told_rows: int = 0
    told_severity: float = 0.0


class EventChange(NamedTuple):
    """A change of an event at a row: ``state`` is one of ``STATES``."""

    row: int
    state: str
    event: OngoingEvent


class EventMachine:
    """Follows the severity of rows, and says where events begin, grow and end.

    Parameters
    ----------
    close_after
        Rows without a high-severity one after which an event is over.
    only_new
        Whether severity is that of what is new at a row, compared with the last event: it knows no
        aftermath, and how severe an event still is does not follow from it.
    """

    def __init__(self, close_after: int = CLOSE_AFTER, *, only_new: bool = False) -> None:
        self.close_after, self._only_new = close_after, only_new
        self.rows = 0
        self.opened = 0
        self.event: OngoingEvent | None = None
        # last row and severity of the event before
        self._before: tuple[int, float] | None = None

    def push(
        self,
        severity: NDArray[np.float64],
        is_high: NDArray[np.bool_],
        since: NDArray[np.int64] | None = None,
        silent: NDArray[np.bool_] | None = None,
    ) -> list[EventChange]:
        """Follow the next rows, (T,).

        Parameters
        ----------
        severity
            1 or more begins an event.
        is_high
            Rows that belong to an event that has begun; those of severity 1 are among them.
        since
            For a return to normal, which is recognised late: rows since it began, else 0. Within
            ``close_after`` rows of an event it is the end of that event, and opens none.
        silent
            Rows in which a channel is silent: never the aftermath of another event.
        """
        changes: list[EventChange] = []
        for place in np.flatnonzero(is_high).tolist():
            row, own = self.rows + place, float(severity[place])
            changes += self._close_before(row)
            if self.event is not None and not self._only_new and _is_apart(self.event, row, own):
                changes += self._close(self.event, row)
            if self.event is None:
                if own < 1:
                    continue
                begun = 0 if since is None else int(since[place])
                if begun and self._ends_last_event(row - begun):
                    continue
                self.event = OngoingEvent(row - begun, row, row, own)
            is_silent = silent is not None and bool(silent[place])
            changes += self._go_on(self.event, row, own, is_silent=is_silent)
        self.rows += len(severity)
        return changes + self._close_before(self.rows)

    def end_segment(self) -> list[EventChange]:
        """Close the ongoing event: no event reaches into the next segment."""
        return [] if self.event is None else self._close(self.event, self.rows - 1)

    def _go_on(
        self, event: OngoingEvent, row: int, severity: float, *, is_silent: bool
    ) -> list[EventChange]:
        """Add a row to the event; return the change of its alarm, if there is one."""
        is_weak = severity < MIN_SHARE_OF_WORST * event.severity
        if is_weak and _is_far(event, row) and not self._only_new and not is_silent:
            return []
        event.last = row
        if severity > event.severity:
            event.severity, event.peak = severity, row
        if event.number is None:
            if not is_silent and severity < self._least_severity(row):
                return []
            self.opened += 1
            event.number = self.opened
            return [self._tell(event, row, OPENED)]
        has_grown = (
            row + 1 - event.first >= UPDATE_FACTOR * event.told_rows
            or event.severity >= UPDATE_FACTOR * event.told_severity
        )
        return [self._tell(event, row, UPDATED)] if has_grown else []

    def _tell(self, event: OngoingEvent, row: int, state: str) -> EventChange:
        event.told_rows, event.told_severity = row + 1 - event.first, event.severity
        return EventChange(row, state, replace(event))

    def _ends_last_event(self, row: int) -> bool:
        """Whether a return to normal that begins at ``row`` is the end of the last event."""
        return self._before is not None and row - self._before[0] - 1 <= self.close_after

    def _least_severity(self, row: int) -> float:
        """The severity by which an event opens an alarm at a row."""
        if self._before is None or self._only_new:
            return 1.0
        last, severity = self._before
        return max(1.0, severity * math.exp((last - row) / AFTERMATH_ROWS))

    def _close_before(self, row: int) -> list[EventChange]:
        """Close the event if more than ``close_after`` rows lie between its last row and a row."""
        event = self.event
        if event is None or row - event.last - 1 <= self.close_after:
            return []
        return self._close(event, event.last + self.close_after + 1)

    def _close(self, event: OngoingEvent, row: int) -> list[EventChange]:
        self.event = None
        if event.number is None:
            return []
        self._before = event.last, event.severity
        return [EventChange(row, CLOSED, replace(event))]

    @property
    def known_until(self) -> int:
        """Events that begin before this row are over and known, or never will be."""
        known = self.rows - self.close_after - 1
        return known if self.event is None else min(known, self.event.first)

    def accept(self) -> OngoingEvent | None:
        """End the ongoing event, because a user marked it as normal."""
        event, self.event = self.event, None
        return event

    def state(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "rows": self.rows,
            "opened": self.opened,
            "event": None if self.event is None else asdict(self.event),
            "before": None if self._before is None else list(self._before),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """The inverse of ``state``, with the same settings."""
        self.rows, self.opened = int(saved["rows"]), int(saved["opened"])
        self.event = None if saved["event"] is None else OngoingEvent(**saved["event"])
        before = saved["before"]
        self._before = None if before is None else (int(before[0]), float(before[1]))


def _is_far(event: OngoingEvent, row: int) -> bool:
    """Whether so many rows lie between that only a row of like severity belongs to the event."""
    return row - event.last - 1 > JOIN_WITHIN


def _is_apart(event: OngoingEvent, row: int, severity: float) -> bool:
    """Whether a row is so much more severe than the event before it that it begins another."""
    return _is_far(event, row) and event.severity < MIN_SHARE_OF_WORST * severity


def open_rows(
    was_open: bool, changes: Sequence[EventChange], row: int, count: int
) -> NDArray[np.bool_]:
    """Rows at which an alarm is open, (B,); ``was_open`` before the first of them."""
    edges = [
        (change.row - row, change.state == OPENED)
        for change in changes
        if change.state in (OPENED, CLOSED)
    ]
    alarmed, done, is_open = np.zeros(count, dtype=bool), 0, was_open
    for place, opens in edges:
        alarmed[done:place] = is_open
        done, is_open = place, opens
    alarmed[done:] = is_open
    return alarmed
