"""Alarms while rows come in: opened once, updated, closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from subadjacent.scoring.causes import Cause

OPENED, UPDATED, CLOSED = STATES = ("opened", "updated", "closed")


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
