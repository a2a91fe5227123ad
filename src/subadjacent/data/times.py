"""Times: the table of how they are written, and those of rows as numbers that can be compared.

A layout is a regular expression with named groups, by which ``files.timestamps`` reads whole
columns. Layouts that look alike, such as 01/02/2024 with the day or the month first,
are different ones; the rows of a file decide (``files.readings``). Rows that arrive one by one are
written as numbers, dates or ISO 8601.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache
from reprlib import repr as short
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.errors import InputError

EARLIEST, LATEST = 631_152_000, 4_102_444_800
"""1990 and 2100: numbers between them, in a unit of ``EPOCH_UNITS``, are dates."""

EPOCH_UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

GROUPS = (
    "year", "month", "name", "day", "hour", "minute", "second", "fraction", "half",
    "zone", "sign", "hours", "minutes",
)  # fmt: skip
"""Groups that a layout may have: ``half`` is AM or PM, ``name`` that of a month, the last three the
offset from UTC."""

# digits are those of ASCII: others would be read by one library and not by the next
_YEAR = r"(?P<year>[0-9]{4})"
_SHORT_YEAR = r"(?P<year>[0-9]{2})"
_ANY_YEAR = r"(?P<year>[0-9]{4}|[0-9]{2})"
_MONTH = r"(?P<month>1[0-2]|0?[1-9])"
_DAY = r"(?P<day>3[01]|[12][0-9]|0?[1-9])"
_NAME = "(?P<name>{})".format(
    "|".join(f"{month[:3]}(?:{month[3:]})?" if month[3:] else month for month in MONTHS)
    # the one month that has a shorter form of four letters
    .replace("sep(?:tember)?", "sep(?:t(?:ember)?)?")
)
_HOUR = r"(?P<hour>2[0-3]|[01]?[0-9])"
_MINUTE = r"(?P<minute>[0-5][0-9])"
_SECOND = r"(?P<second>[0-5][0-9])"
_FRACTION = r"(?P<fraction>[0-9]{1,9})"
_HALF = r"(?P<half>[ap]\.?m\.?)"
_OFFSET = r"(?P<zone>Z|UTC|GMT|(?P<sign>[+-])(?P<hours>[0-9]{2}):?(?P<minutes>[0-9]{2})?)"

_ZONE = rf"(?: *{_OFFSET})?$"
_MINUTES = rf":{_MINUTE}(?::{_SECOND}(?:[.,]{_FRACTION})?)?"
_CLOCK = rf",?[T ]+{_HOUR}(?:{_MINUTES})?(?: *{_HALF})?"
_END = rf"(?:{_CLOCK})?{_ZONE}"
# the years of digits without any mark, which could count as well
_DIGITS = r"(?i)^(?P<year>(?:19|20)[0-9]{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12][0-9]|3[01])"
_DIGIT_HOUR = r"(?P<hour>[01][0-9]|2[0-3])"

DIGITS, CLOCK = "digits", "clock"

PATTERNS = {
    "year first": rf"(?i)^{_YEAR}[-/.]{_MONTH}[-/.]{_DAY}{_END}",
    "day first": rf"(?i)^{_DAY}[-/.]{_MONTH}[-/.]{_ANY_YEAR}{_END}",
    "month first": rf"(?i)^{_MONTH}[-/]{_DAY}[-/]{_ANY_YEAR}{_END}",
    "two-digit year first": rf"(?i)^{_SHORT_YEAR}[-/]{_MONTH}[-/]{_DAY}{_END}",
    "day, name of month": rf"(?i)^{_DAY}[-/. ]*{_NAME}[-/., ]*{_ANY_YEAR}{_END}",
    "name of month, day": rf"(?i)^{_NAME}[-/. ]*{_DAY}[-/., ]+{_YEAR}{_END}",
    "year, name of month": rf"(?i)^{_YEAR}[-/. ]*{_NAME}[-/. ]*{_DAY}{_END}",
    "digits and a clock": rf"{_DIGITS}{_CLOCK}{_ZONE}",
    "digits and digits": rf"{_DIGITS}[T ]+{_DIGIT_HOUR}{_MINUTE}"
    rf"(?:{_SECOND}(?:[.,]{_FRACTION})?)?{_ZONE}",
    DIGITS: rf"{_DIGITS}(?:{_DIGIT_HOUR}{_MINUTE}{_SECOND}?)?$",
    CLOCK: rf"(?i)^{_HOUR}{_MINUTES}(?: *{_HALF})?$",
}
"""Layouts by name. Dots are written with the day first wherever they are, 1/2/2024 is not."""

WORDS = {
    "%Y": _YEAR, "%y": _SHORT_YEAR, "%m": _MONTH, "%d": _DAY, "%b": _NAME, "%B": _NAME,
    "%H": _HOUR, "%I": r"(?P<hour>1[0-2]|0?[1-9])", "%M": r"(?P<minute>[0-5]?[0-9])",
    "%S": r"(?P<second>[0-5]?[0-9])", "%f": _FRACTION, "%p": _HALF, "%z": _OFFSET,
    "%a": "[a-z]{2,9}", "%A": "[a-z]{2,9}", "%%": "%",
}  # fmt: skip
"""The words of strptime that a format may have."""


def pattern_of(layout: str) -> str:
    """The pattern of a layout by name, or of a format such as ``%d/%m/%Y %H:%M``."""
    return PATTERNS.get(layout) or pattern_of_format(layout)


def has_date(layout: str) -> bool:
    """Whether a layout or format says which day it is, and not only the clock."""
    return "(?P<year>" in pattern_of(layout)


def format_of(layout: str, cell: str) -> str:
    """A cell with directives of strptime in place of what a layout finds."""
    match = re.match(pattern_of(layout), cell.strip())
    if match is None:
        return layout
    words, end = "", 0
    # what stands in an offset is part of one word
    held = [group for group in GROUPS[:-3] if match.groupdict().get(group)]
    for group in sorted(held, key=match.start):
        words += match.string[end : match.start(group)] + _word(group, match)
        end = match.end(group)
    return words


def is_written_time(cell: str) -> bool:
    """Whether a cell can be read as a time by any layout."""
    return any(re.match(pattern, cell.strip()) for pattern in PATTERNS.values())


def _word(group: str, match: re.Match[str]) -> str:
    text = match[group]
    by_group = {
        "year": "%Y" if len(text) == 4 else "%y", "month": "%m", "day": "%d",
        "name": "%b" if len(text) == 3 else "%B",
        "hour": "%I" if match.groupdict().get("half") else "%H", "minute": "%M", "second": "%S",
        "fraction": "%f", "half": "%p", "zone": "%z",
    }  # fmt: skip
    return by_group[group]


@cache
def pattern_of_format(given: str) -> str:
    """The pattern of a format; refuses one that cannot be read, or has no time in it."""
    pieces = re.findall(r"%.?|[^%\s]+|\s+", given, re.DOTALL)
    words = [piece for piece in pieces if piece.startswith("%")]
    unknown = [word for word in words if word not in WORDS]
    groups = [group for word in words for group in re.findall(r"\?P<(\w+)>", WORDS.get(word, ""))]
    if unknown:
        raise _refused(f"be made of {' '.join(WORDS)} and other text", given)
    if len(set(groups)) < len(groups):
        raise _refused("name each part of a time once", given)
    if ("%I" in words) != ("%p" in words):
        raise _refused("have %p (AM or PM) with %I and not with %H", given)
    if "year" not in groups and ("hour" not in groups or {"month", "name", "day"} & set(groups)):
        raise _refused("have a year (%Y or %y), or hours and no date at all", given)
    return "(?i)^{}$".format(
        "".join(
            WORDS.get(piece) or (r"\s+" if piece.isspace() else re.escape(piece))
            for piece in pieces
        )
    )


def _refused(rule: str, given: str) -> InputError:
    return InputError.of(
        "time_format", f"must {rule}", f"got {given!r}", "write it like %d/%m/%Y %H:%M"
    )


Unit = Literal["seconds", "own"]

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
    for wrong, rule in (
        (~np.isfinite(ticks), "must be known in every row"),
        (np.abs(ticks) > LARGEST, f"must not exceed {LARGEST:g} in magnitude"),
    ):
        if wrong.any():
            row = int(wrong.argmax())
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
