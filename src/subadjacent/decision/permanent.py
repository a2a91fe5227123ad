"""Permanent level shifts: events that a series did not come back from.

The baseline has shifted by the end of the event, and most rows long after it are still unlike the
training rows. A batch knows these rows; a stream waits for them.

Shapes: T rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.machine import CLOSE_AFTER, OngoingEvent

Flags = NDArray[np.bool_]

ROWS_AFTER = 4 * CLOSE_AFTER
"""Rows after an event by which it is known whether the series came back."""

ROWS_KEPT = 4_000
"""Rows that a stream remembers: of an event that lasts longer, the first are forgotten."""


def is_permanent(shifted: Flags, unlike: Flags, first: int, last: int) -> bool:
    """Whether a series does not come back from the event of rows ``first`` to ``last``.

    ``shifted`` marks rows whose baseline has shifted, ``unlike`` those unlike the training rows,
    (T,) each.
    """
    after = last + 1
    if shifted[first] or not shifted[last : after + CLOSE_AFTER].any():
        return False
    stays = unlike[after + CLOSE_AFTER : after + ROWS_AFTER]
    return not len(stays) or bool(np.median(stays))


class PermanentShifts:
    """Finds permanent shifts among the events of a stream, ``ROWS_AFTER`` rows after each."""

    def __init__(self) -> None:
        self._rows = 0
        # of the latest rows: whether the baseline has shifted, and whether they are unlike
        self._flags = np.zeros((2, 0), dtype=bool)
        self._waiting: list[OngoingEvent] = []

    def push(
        self, shifted: Flags, unlike: Flags, events: Sequence[OngoingEvent]
    ) -> list[OngoingEvent]:
        """Follow the next rows, and events that are over; return those known to be permanent."""
        self._rows += len(shifted)
        self._flags = np.concatenate([self._flags, [shifted, unlike]], axis=1)[:, -ROWS_KEPT:]
        self._waiting += events
        if not self._waiting or self._rows <= self._waiting[0].last + ROWS_AFTER:
            return []
        due = [event for event in self._waiting if self._rows > event.last + ROWS_AFTER]
        return self._decide(due)

    def finish(self) -> list[OngoingEvent]:
        """Decide on the events that wait by the rows that have come."""
        return self._decide(self._waiting)

    def _decide(self, due: Sequence[OngoingEvent]) -> list[OngoingEvent]:
        self._waiting = [event for event in self._waiting if event not in due]
        (shifted, unlike), oldest = self._flags, self._rows - self._flags.shape[1]
        return [
            event
            for event in due
            if event.last >= oldest
            and is_permanent(shifted, unlike, max(event.first - oldest, 0), event.last - oldest)
        ]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The state as arrays and JSON."""
        waiting = [asdict(event) for event in self._waiting]
        return {"flags": self._flags.astype(np.uint8)}, {"rows": self._rows, "waiting": waiting}

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        self._flags, self._rows = arrays["flags"] > 0, int(facts["rows"])
        self._waiting = [OngoingEvent(**event) for event in facts["waiting"]]
