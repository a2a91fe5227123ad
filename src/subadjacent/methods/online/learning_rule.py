"""Which rows the learner learns from: all but those of an event.

An event begins with a row whose new-event severity reaches 1. It ends after ``CLOSE_AFTER`` rows
without a high-severity one, and becomes the new normal after ``ADAPT_AFTER`` rows. Severities are
those of the learner's fixed return period: evidence does not depend on the rate of false alarms
that somebody requested.

Shapes: B rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HIGH_SEVERITY = 0.7
"""Severity of a row that keeps an event going; 1 begins an event. About one normal row in 400 is as
severe where one false alarm in 5,000 rows is accepted."""

MIN_SHARE_OF_WORST, AFTERMATH_ROWS = 0.4, 84
"""In the first 84 rows of an event, such a row also needs this share of the event's highest
severity. Expectations are wrong for as long after an event (64 rows, averaged over 20), because
nothing is learned from it; that is no part of the event. Without a share, a jump of 20 rows early
in a stream stays open for 200 rows (reproduce/log.md, "When an alarm is over")."""

CLOSE_AFTER = 30
"""Rows without a high-severity one after which an event is over."""

ADAPT_AFTER = 300
"""Rows after which an event is the new normal."""


class Progress(NamedTuple):
    """Which rows are outside of all events, (B,), and what is the new normal by the last row.

    ``accepted`` is the number of the first row of an event that lasted; None as a rule.
    """

    normal: NDArray[np.bool_]
    accepted: int | None = None


class LearningRule:
    """Follows events row by row."""

    def __init__(self) -> None:
        # the first and the last high-severity row of the event, and its highest severity
        self._first: int | None = None
        self._last = 0
        self._worst = 0.0

    def follow(self, row: int, new_event: Array, ongoing: Array, *, may_accept: bool) -> Progress:
        """Follow rows, the first of which is number ``row``, by their two severities, (B,).

        ``may_accept`` allows that an event becomes the new normal at the last of them.
        """
        normal = np.ones(len(new_event), dtype=bool)
        if self._first is None and not (new_event >= 1).any():
            return Progress(normal)
        severities = zip(new_event.tolist(), ongoing.tolist(), strict=True)
        for place, (severity, severity_of_any) in enumerate(severities):
            if self._first is None:
                if severity < 1:
                    continue
                self._first, self._last, self._worst = row + place, row + place, severity
            normal[place] = False
            short = self._last - self._first < AFTERMATH_ROWS
            needed = max(HIGH_SEVERITY, MIN_SHARE_OF_WORST * self._worst if short else 0.0)
            if max(severity, severity_of_any) >= needed:
                self._last, self._worst = row + place, max(self._worst, severity)
            if row + place - self._last >= CLOSE_AFTER:
                self._first = None
        end = row + len(normal)
        if self._first is None or not may_accept or end - self._first < ADAPT_AFTER:
            return Progress(normal)
        accepted, self._first = self._first, None
        return Progress(normal, accepted)

    def end(self) -> None:
        """End the event, if there is one, because a user marked it as normal."""
        self._first = None

    def state(self) -> dict[str, NDArray[Any]]:
        """The event as an array, empty if there is none; ``restore`` is the inverse."""
        event = [] if self._first is None else [self._first, self._last, self._worst]
        return {"event": np.array(event, dtype=np.float64)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the event by a saved one."""
        event = state["event"].tolist()
        if event:
            first, last, self._worst = event
            self._first, self._last = int(first), int(last)
        else:
            self._first = None
