"""Times of rows (numbers, ISO 8601 text, dates) → numbers that can be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from reprlib import repr as short
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.errors import InputError

Unit = Literal["seconds", "own"]

EARLIEST, LATEST = 631_152_000, 4_102_444_800
"""1990 and 2100: numbers between them, in a unit of ``EPOCH_UNITS``, are dates."""

EPOCH_UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}

RULE = "must be numbers, dates, or text such as 2026-01-31T12:00"


class Times(NamedTuple):
    """Times of rows, (B,): seconds since 1970 for dates, else the numbers' own unit."""

    ticks: NDArray[np.float64]
    unit: Unit


def read_times(times: Sequence[Any] | NDArray[Any]) -> Times:
    """Times of any library as numbers.

    A date without a zone is in UTC. Text that is a number counts as one, as it does in a file.

    Raises
    ------
    InputError
        For a time that is missing or none, and for numbers among dates; it names the row.
    """
    # of whatever library: only numpy's own scalars are converted below
    try:
        found = np.asarray(times)
    except ValueError:
        # lists among them
        found = np.asarray(times, dtype=object)
    if found.ndim != 1:
        raise InputError.of("times", RULE, f"row 0 has {short(times[0])}")
    if found.dtype.kind == "M":
        ticks = found.astype("datetime64[ns]").astype(np.int64) / 1e9
        ticks[np.isnat(found)] = np.nan
        unit: Unit = "seconds"
    elif found.dtype.kind in "iuf":
        ticks, unit = found.astype(np.float64), "own"
    else:
        pairs = [_one(time, row) for row, time in enumerate(times)]
        units = {unit for _, unit in pairs}
        if len(units) > 1:
            raise InputError.of("times", "must be all dates or all numbers", "got some of each")
        ticks, unit = np.array([tick for tick, _ in pairs]), units.pop() if units else "own"
    wrong = np.flatnonzero(~np.isfinite(ticks))
    if len(wrong):
        row = int(wrong[0])
        raise InputError.of(
            "times", "must be known in every row", f"row {row} has {short(times[row])}"
        )
    large = np.flatnonzero(np.abs(ticks) > LARGEST)
    if len(large):
        row = int(large[0])
        rule = f"must not exceed {LARGEST:g} in magnitude"
        raise InputError.of("times", rule, f"row {row} has {short(times[row])}")
    return Times(ticks, unit)


def _one(time: Any, row: int) -> tuple[float, Unit]:
    if isinstance(time, str):
        return _text(time, row)
    if isinstance(time, np.datetime64):
        time = time.astype("datetime64[us]").item()
    if isinstance(time, datetime):
        # what stands for a missing date in pandas is a date as well, and equals nothing
        return utc_seconds(time) if time == time else math.nan, "seconds"
    if isinstance(time, date):
        return datetime(time.year, time.month, time.day, tzinfo=UTC).timestamp(), "seconds"
    if isinstance(time, int | float | np.number) and not isinstance(time, bool):
        return float(time), "own"
    raise InputError.of("times", RULE, f"row {row} has {short(time)}")


def _text(text: str, row: int) -> tuple[float, Unit]:
    try:
        return float(text), "own"
    except ValueError:
        pass
    try:
        return utc_seconds(datetime.fromisoformat(text.strip())), "seconds"
    except (ValueError, OverflowError):
        raise InputError.of("times", RULE, f"row {row} has {short(text)}") from None


def utc_seconds(moment: datetime) -> float:
    """Seconds since 1970; a date without a zone is in UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def epoch_seconds(number: float) -> float | None:
    """Seconds since 1970 in a number that counts a unit of ``EPOCH_UNITS``; None for others."""
    for scale in EPOCH_UNITS.values():
        if EARLIEST <= number / scale < LATEST:
            return round(number / scale, 6)
    return None


def to_json(time: Any) -> Any:
    """A time as a JSON value; ``from_json`` is the inverse."""
    if isinstance(time, np.datetime64):
        time = time.astype("datetime64[us]").item()
    if isinstance(time, date):
        return {"date": time.isoformat()}
    return time.item() if isinstance(time, np.generic) else time


def from_json(saved: Any) -> Any:
    """The inverse of ``to_json``: dates of numpy and pandas come back as Python's."""
    return datetime.fromisoformat(saved["date"]) if isinstance(saved, dict) else saved
