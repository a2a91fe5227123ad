"""Times of rows: numbers inside the service, ISO 8601 or numbers for clients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from subadjacent.data.clock import DAY, HOUR
from subadjacent.data.times import epoch_seconds, utc_seconds
from subadjacent.errors import InputError

FIRST_DATE = datetime(1, 1, 2, tzinfo=UTC)
LAST_DATE = datetime(9999, 12, 31, tzinfo=UTC)
"""Dates that are dates in UTC as well, whatever their zone, and after rounding."""


FURTHEST_ZONE = 14.0 * HOUR
"""Seconds that the clocks of a place are ahead of UTC at most."""


class TimeKind(StrEnum):
    """How the times of a series are written; a series has one kind."""

    none = "none"  # no times: rows are counted
    number = "number"  # plain numbers
    utc = "utc"  # ISO 8601 with a time zone, given in UTC
    local = "local"  # ISO 8601 without one


def read_time(value: Any) -> tuple[float, TimeKind]:
    """Read a time from JSON as a number, and its kind."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            seconds = epoch_seconds(number)
            return (number, TimeKind.number) if seconds is None else (seconds, TimeKind.utc)
    elif isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return utc_seconds(moment), TimeKind.local if moment.tzinfo is None else TimeKind.utc
        except (ValueError, OverflowError):
            pass
    rule = "must be a finite number or an ISO 8601 text such as 2026-01-31T12:00:00Z"
    raise InputError.of("time", rule, f"got {str(value)[:50]!r}")


def read_times(values: Sequence[Any]) -> tuple[list[float], TimeKind]:
    """Read the times of one batch of rows, which must all be of one kind."""
    times, kind = [], None
    for value in values:
        time, own = read_time(value)
        if kind is not None and own != kind:
            raise InputError.of("times", "must be of one kind in all rows", f"got {kind} and {own}")
        kind = own
        times.append(time)
    return times, kind or TimeKind.none


def check_dates(times: Sequence[float] | None, kind: TimeKind) -> None:
    """Refuse dates outside the years 1 to 9999."""
    if times is None or kind not in (TimeKind.utc, TimeKind.local):
        return
    first, last = FIRST_DATE.timestamp(), LAST_DATE.timestamp()
    if not all(first <= time <= last for time in times):
        raise InputError.of(
            "time", "must be a date between the years 1 and 9999", "got one at their very ends"
        )


def check_ahead(times: Sequence[float] | None, kind: TimeKind, days: float, now: float) -> None:
    """Refuse dates too far ahead of our clock: every row after them would be late.

    Dates without a zone are those of a clock that may be half a day ahead, or more.
    """
    if not times or kind not in (TimeKind.utc, TimeKind.local):
        return
    zone = FURTHEST_ZONE if kind is TimeKind.local else 0.0
    if times[-1] > now + days * DAY + zone:
        raise InputError.of(
            "time",
            f"must not be more than {days:g} days ahead of the service's clock, which is at "
            f"{show_time(float(int(now)), TimeKind.utc)}",
            f"got {show_time(times[-1], kind)}",
            "put the sender's clock right",
        )


def for_stream(times: Sequence[float], kind: TimeKind) -> list[Any] | None:
    """Times as a stream expects them."""
    if kind is TimeKind.none:
        return None
    if kind is TimeKind.number:
        return list(times)
    zone = UTC if kind is TimeKind.utc else None
    return [datetime.fromtimestamp(time, UTC).replace(tzinfo=zone) for time in times]


def from_stream(time: Any) -> float | None:
    """The inverse, of one time."""
    if isinstance(time, datetime):
        return utc_seconds(time)
    return None if time is None else float(time)


def show_time(time: float | datetime | None, kind: TimeKind) -> float | str | None:
    """A time of the tables or of a stream as clients read it."""
    if not isinstance(time, datetime):
        if time is None or kind is TimeKind.number or kind is TimeKind.none:
            return time
        time = datetime.fromtimestamp(time, UTC)
    if kind is TimeKind.local:
        return time.replace(tzinfo=None).isoformat()
    return time.isoformat().replace("+00:00", "Z")
