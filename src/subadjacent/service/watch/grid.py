"""Times at which rows are queried: multiples of the step, so that a restart asks for the same.

All times are whole milliseconds since 1970, as the server counts them: seconds as fractions would
drift from the grid.
"""

from __future__ import annotations

from collections.abc import Iterator

MILLISECONDS = 1_000
"""In a second."""

MAX_POINTS = 11_000
"""Points of one series that the server gives in one answer; it refuses to give more."""

MAX_VALUES = 500_000
"""Values queried in one answer, of all series together: some 15 MB of JSON."""

DEFAULT_POINTS = 1_000
"""Points to query while the number of series is unknown."""


def last_tick(now: int, step: int, offset: int = 0) -> int:
    """The last time on the grid that is at least ``offset`` ago.

    >>> last_tick(now=125_000, step=60_000)
    120000
    >>> last_tick(now=125_000, step=60_000, offset=10_000)
    60000
    """
    return (now - offset) // step * step


def wait_for_next(now: int, step: int, offset: int = 0) -> int:
    """Milliseconds until a new time on the grid is ``offset`` ago.

    >>> wait_for_next(now=125_000, step=60_000)
    55000
    """
    return last_tick(now, step, offset) + step + offset - now


def points_at_once(series: int) -> int:
    """Points of each series that one answer may hold."""
    if series == 0:
        return DEFAULT_POINTS
    return min(MAX_POINTS, max(1, MAX_VALUES // series))


def next_part(first: int, last: int, step: int, points: int) -> tuple[int, int]:
    """The first ``points`` times from ``first`` to ``last``, both included: their ends.

    >>> next_part(0, 50, step=10, points=4)
    (0, 30)
    """
    return first, min(last, first + (points - 1) * step)


def last_part(first: int, last: int, step: int, points: int) -> tuple[int, int]:
    """The last ``points`` times from ``first`` to ``last``, both included: their ends.

    >>> last_part(0, 50, step=10, points=4)
    (20, 50)
    """
    return max(first, last - (points - 1) * step), last


def ticks(first: int, last: int, step: int) -> range:
    """Every time from ``first`` to ``last``, both included."""
    return range(first, last + 1, step)


def chunks(count: int, most: int) -> Iterator[slice]:
    """Slices of at most ``most`` that cover ``count`` in order."""
    return (slice(start, min(start + most, count)) for start in range(0, count, most))
