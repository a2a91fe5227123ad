"""Clocks: durations such as "1h30m", and the interval and gaps of rows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from numbers import Real
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError, require_whole

JITTER = 0.05
"""A row may come this share of the interval early or late and still be on time."""

IRREGULAR = 0.01
"""A clock with more than this share of its differences off, and at least two, is refused."""

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
SHORTEST_MONTH = 28 * DAY

SECONDS: dict[str, float] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hr", "hour", "hours"), HOUR),
    **dict.fromkeys(("d", "day", "days"), DAY),
    **dict.fromkeys(("w", "week", "weeks"), 7 * DAY),
    **dict.fromkeys(("month", "months"), 30 * DAY),
    **dict.fromkeys(("y", "year", "years"), 365 * DAY),
}

# pandas reads these as months, everyone else as minutes and milliseconds
AMBIGUOUS = frozenset({"M", "MS"})

PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")


def duration(value: str | float | timedelta | np.timedelta64, *, name: str = "duration") -> float:
    """Seconds in a text such as "90s", "1h30m" or "2 hours", or in a number.

    A unit alone means one of it. A month has 30 days and a year 365. Case does not matter,
    except that "M" and "MS" are refused: they may mean months.
    """
    try:
        seconds = _seconds(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(
            f"{name} must be a time longer than none, such as '90s', '5min', '1h30m', '2 days' "
            f"or '1week', or a number of seconds; got {value!r}"
        )
    return seconds


def _seconds(value: object) -> float:
    if isinstance(value, str):
        return _seconds_in_text(value.strip())
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, np.timedelta64):
        # numpy counts it among the integers: float() would forget its unit
        return float(value / np.timedelta64(1, "s"))
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    raise TypeError(value)


def _seconds_in_text(text: str) -> float:
    text = f"1{text}" if text.isalpha() else text
    pieces = PIECE.findall(text)
    if PIECE.sub("", text) or not all(
        unit.lower() in SECONDS and unit not in AMBIGUOUS for _, unit in pieces
    ):
        raise ValueError(text)
    return sum(float(number) * SECONDS[unit.lower()] for number, unit in pieces)


@dataclass(frozen=True, slots=True)
class Clock:
    """How rows follow one another.

    Parameters
    ----------
    interval
        From one row to the next: the median difference. None for fewer than two rows.
    starts
        First row of every unbroken segment; begins with 0.
    unit
        "seconds" for dates; "own" for plain numbers, whose unit is not known.
    """

    interval: float | None
    starts: tuple[int, ...] = (0,)
    unit: Literal["seconds", "own"] = "seconds"

    @property
    def seconds(self) -> float | None:
        """The interval where it is known to be in seconds."""
        return self.interval if self.unit == "seconds" else None


class Order(NamedTuple):
    """Which rows follow all rows before them; the others repeat a time or are late."""

    accepted: NDArray[np.bool_]
    duplicate: NDArray[np.bool_]
    before: NDArray[np.float64]
    """The latest time before each row."""


def find_order(times: NDArray[np.float64], last: float = -math.inf) -> Order:
    """The order of rows as they arrive, after a row at time ``last``."""
    before = np.maximum.accumulate(np.concatenate([[last], times]))[:-1]
    return Order(times > before, times == before, before)


class Steps(NamedTuple):
    """Time differences between rows compared with the interval, one entry per step."""

    broken: NDArray[np.bool_]  # a gap too long to be bridged: a segment begins
    irregular: NDArray[np.bool_]  # too early, or between two ticks
    ticks: NDArray[np.float64]  # intervals in the step, at least one


def compare_steps(steps: NDArray[np.float64], interval: float, fill_limit: int) -> Steps:
    """Compare steps with the interval.

    A step is on time when it is within ``JITTER`` of the interval from one interval, or from a
    few: a gap of at most ``fill_limit`` missing rows is bridged, a longer one breaks the segment.
    """
    slack = JITTER * interval
    broken = steps > (fill_limit + 1) * interval + slack
    ticks = np.maximum(np.rint(steps / interval), 1)
    return Steps(broken, ~broken & (np.abs(steps - ticks * interval) > slack), ticks)


def median_step(steps: NDArray[np.float64]) -> float:
    """The median step, the lower one of two: gaps only ever lengthen steps."""
    middle = (len(steps) - 1) // 2
    return float(np.partition(steps, middle)[middle])


def read_clock(times: NDArray[Any], *, fill_limit: int, name: str) -> Clock:
    """Interval and unbroken segments of rows at the given times.

    Of the rows that are off the clock (``compare_steps``), a few stay where they are; more than
    ``IRREGULAR`` of them are refused.

    Parameters
    ----------
    times
        One a row, datetime64 or numbers.
    fill_limit
        Missing rows that may be bridged in one gap.
    name
        The name of the rows in messages.

    Raises
    ------
    InputError
        When a time is missing, comes twice or goes back, or when the clock is irregular.
    """
    require_whole("fill_limit", fill_limit, least=0)
    _check_times(times, name)
    dates = times.dtype.kind == "M"
    unit: Literal["seconds", "own"] = "seconds" if dates else "own"
    if len(times) < 2:
        return Clock(None, unit=unit)
    steps = _differences(times)
    interval = median_step(steps)
    broken, irregular, _ = compare_steps(steps, interval, fill_limit)
    off = int(np.count_nonzero(irregular))
    if off >= 2 and off > IRREGULAR * len(steps):
        _refuse_irregular(steps, interval, off, name, dates)
    return Clock(interval, (0, *(np.flatnonzero(broken) + 1).tolist()), unit)


def _check_times(times: NDArray[Any], name: str) -> None:
    """Refuse times that are missing, of another type, or do not increase."""
    if times.ndim != 1 or times.dtype.kind not in "Miuf":
        raise InputError.of(
            f"times of {name}",
            "must be dates (datetime64) or numbers, one a row",
            f"got {times.dtype} of shape {times.shape}",
        )
    unknown = np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    if unknown.any():
        row = int(unknown.argmax())
        raise InputError.of(
            f"times of {name}",
            "must be known in every row",
            f"row {row} has {times[row]}",
            "drop it first",
        )
    backward = times[1:] <= times[:-1]
    if backward.any():
        row = int(backward.argmax()) + 1
        before, later = times[row - 1], times[row]
        way_out = "drop duplicates" if later == before else "sort the rows by time"
        raise InputError.of(
            f"times of {name}",
            "must increase from row to row",
            f"row {row} has {later} after {before}",
            f"{way_out} first",
        )


def _differences(times: NDArray[Any]) -> NDArray[np.float64]:
    """Differences of increasing times: seconds for dates, else the numbers' own unit."""
    if times.dtype.kind == "M":
        if np.datetime_data(times.dtype)[0] in ("Y", "M"):
            # months and years have no length of their own
            times = times.astype("datetime64[D]")
        steps = np.diff(times) / np.timedelta64(1, "s")
    elif times.dtype.kind == "f":
        steps = np.diff(times.astype(np.float64))
    else:
        # modulo 2**64 the difference of two increasing integers is exact, whatever their type
        steps = np.diff(times.astype(np.uint64)).astype(np.float64)
    return np.asarray(steps, dtype=np.float64)


def _refuse_irregular(
    steps: NDArray[np.float64], interval: float, off: int, name: str, dates: bool
) -> NoReturn:
    months = dates and interval >= SHORTEST_MONTH
    unit, size = (" days", DAY) if months else (" seconds" if dates else "", 1.0)
    got = (
        f"the differences have median {interval / size:g}, smallest {steps.min() / size:g} and "
        f"largest {steps.max() / size:g}{unit}, and {off} of {len(steps)} are off"
    )
    if months:
        way_out = (
            "months differ in seconds, so leave the times out (no time column, no dates in the "
            "index), and give lengths of time as numbers of rows"
        )
    elif dates:
        every = _frame_duration(interval)
        way_out = (
            f'resample first, in pandas frame.resample("{every}").mean(), '
            f'in polars frame.group_by_dynamic(time, every="{every}").agg(pl.all().mean())'
        )
    else:
        way_out = f"resample first to one row every {interval:g}, with numpy.interp for instance"
    raise InputError.of(f"times of {name}", "must tick regularly", got, way_out)


def _frame_duration(seconds: float) -> str:
    """Whole seconds, milliseconds or microseconds, as both pandas and polars read them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{round(seconds / size)}{unit}"
    return f"{max(1, round(seconds / 1e-6))}us"
