"""Layouts of dates and times of day: patterns, and the moments that they find.

A pattern is a regular expression with named groups, as polars takes it. What it finds in a cell
(``GROUPS``) is put together by ``timestamps``. Ways that look alike, such as 01/02/2024 with the
day or the month first, are different layouts; which one a file is written in is decided elsewhere.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal

from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

GROUPS = (
    "year", "month", "name", "day", "hour", "minute", "second", "fraction", "half",
    "zone", "sign", "hours", "minutes",
)  # fmt: skip
"""What a pattern may find: ``half`` is AM or PM, ``name`` that of a month, the last three the
offset from UTC."""

# digits are those of ASCII: others would be read by one library and not by the next
_YEAR = r"(?<year>[0-9]{4})"
_SHORT_YEAR = r"(?<year>[0-9]{2})"
_ANY_YEAR = r"(?<year>[0-9]{4}|[0-9]{2})"
_MONTH = r"(?<month>1[0-2]|0?[1-9])"
_DAY = r"(?<day>3[01]|[12][0-9]|0?[1-9])"
_NAME = "(?<name>{})".format(
    "|".join(f"{month[:3]}(?:{month[3:]})?" if month[3:] else month for month in MONTHS)
    # the one month that has a shorter form of four letters
    .replace("sep(?:tember)?", "sep(?:t(?:ember)?)?")
)
_HOUR = r"(?<hour>2[0-3]|[01]?[0-9])"
_MINUTE = r"(?<minute>[0-5][0-9])"
_SECOND = r"(?<second>[0-5][0-9])"
_FRACTION = r"(?<fraction>[0-9]{1,9})"
_HALF = r"(?<half>[ap]\.?m\.?)"
_OFFSET = r"(?<zone>Z|UTC|GMT|(?<sign>[+-])(?<hours>[0-9]{2}):?(?<minutes>[0-9]{2})?)"

_ZONE = rf"(?: *{_OFFSET})?$"
_MINUTES = rf":{_MINUTE}(?::{_SECOND}(?:[.,]{_FRACTION})?)?"
_CLOCK = rf",?[T ]+{_HOUR}(?:{_MINUTES})?(?: *{_HALF})?"
_END = rf"(?:{_CLOCK})?{_ZONE}"
# the years of digits without any mark, which could count as well
_DIGITS = r"(?i)^(?<year>(?:19|20)[0-9]{2})(?<month>0[1-9]|1[0-2])(?<day>0[1-9]|[12][0-9]|3[01])"
_DIGIT_HOUR = r"(?<hour>[01][0-9]|2[0-3])"

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
    "%H": _HOUR, "%I": r"(?<hour>1[0-2]|0?[1-9])", "%M": r"(?<minute>[0-5]?[0-9])",
    "%S": r"(?<second>[0-5]?[0-9])", "%f": _FRACTION, "%p": _HALF, "%z": _OFFSET,
    "%a": "[a-z]{2,9}", "%A": "[a-z]{2,9}", "%%": "%",
}  # fmt: skip
"""The words of strptime that a format may have."""


def pattern_of(layout: str) -> str:
    """The pattern of a layout by name, or of a format such as ``%d/%m/%Y %H:%M``."""
    return PATTERNS.get(layout) or pattern_of_format(layout)


def has_date(layout: str) -> bool:
    """Whether a layout or format says which day it is, and not only the clock."""
    return "(?<year>" in pattern_of(layout)


def format_of(layout: str, cell: str) -> str:
    """A cell with directives of strptime in place of what a layout finds."""
    match = _in_python(pattern_of(layout)).match(cell.strip())
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
    return any(_in_python(pattern).match(cell.strip()) for pattern in PATTERNS.values())


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
def _in_python(pattern: str) -> re.Pattern[str]:
    # polars names a group (?<name>), Python (?P<name>)
    return re.compile(pattern.replace("(?<", "(?P<"))


@cache
def pattern_of_format(given: str) -> str:
    """The pattern of a format; refuses one that cannot be read, or says no time."""
    pieces = re.findall(r"%.?|[^%\s]+|\s+", given, re.DOTALL)
    words = [piece for piece in pieces if piece.startswith("%")]
    unknown = [word for word in words if word not in WORDS]
    groups = [group for word in words for group in re.findall(r"\?<(\w+)>", WORDS.get(word, ""))]
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


Unit = Literal["us", "ns"]

CENTURY_PIVOT = 69
"""Two-digit years from this one on are of the 1900s, those before it of the 2000s, as in POSIX."""

# a day after the year 1 begins and a day before 9999 ends, in microseconds since 1970: Python has
# no others, whatever their zone
FIRST, LAST = -62_135_510_400_000_000, 253_402_214_400_000_000

# a day after the first nanosecond and before the last that 64 bits can count, in microseconds
FIRST_NANO, LAST_NANO = -9_223_286_400_000_000, 9_223_286_400_000_000

WORDS_IN_GROUPS = ("name", "half", "zone", "sign")
"""Groups that do not hold numbers."""


def read_written(cells: pl.Series, layout: str, unit: Unit, *, zoned: bool) -> pl.Series:
    """The moments in cells, without a zone; those with an offset in UTC.

    Null where a cell does not fit the layout, holds a day that there is not, is before or after
    what can be told, or has an offset though ``zoned`` says otherwise, or none.
    """
    import polars as pl

    groups = find_parts(cells, layout)
    number = {
        group: pl.col(group).cast(pl.Int64, strict=False)
        for group in GROUPS
        if group not in WORDS_IN_GROUPS
    }
    hours, minutes = number["hours"].fill_null(0), number["minutes"].fill_null(0)
    shift = 60 * hours + minutes
    moment = _day(number) + pl.duration(
        minutes=_minute_of_day(number)
        - pl.when(pl.col("sign") == "-").then(-shift).otherwise(shift),
        seconds=number["second"].fill_null(0),
        time_unit="us",
    )
    bounds = (FIRST, LAST) if unit == "us" else (FIRST_NANO, LAST_NANO)
    legal = (
        pl.coalesce("year", "hour").is_not_null()
        & (pl.col("half").is_null() | number["hour"].is_between(1, 12))
        & (hours < 24)
        & (minutes < 60)
        & (pl.col("zone").is_not_null() == zoned)
        & moment.to_physical().is_between(*bounds)
    )
    # only now, since nanoseconds hold fewer years
    moment = pl.when(legal).then(moment).cast(pl.Datetime(unit))
    fraction = pl.col("fraction").str.pad_end(9, "0").cast(pl.Int64, strict=False).fill_null(0)
    moment += pl.duration(nanoseconds=fraction, time_unit=unit)
    return groups.select(moment.alias(cells.name)).to_series()


def find_parts(cells: pl.Series, layout: str) -> pl.DataFrame:
    """The groups of a layout's pattern in each cell, one column each."""
    import polars as pl

    groups = cells.str.strip_chars().str.extract_groups(pattern_of(layout)).struct.unnest()
    absent = [group for group in GROUPS if group not in groups.columns]
    return groups.with_columns(pl.lit(None, pl.String).alias(group) for group in absent)


def _day(number: dict[str, pl.Expr]) -> pl.Expr:
    import polars as pl

    year = number["year"].fill_null(1970)
    century = pl.when(year < CENTURY_PIVOT).then(2000).otherwise(1900)
    year = pl.when(pl.col("year").str.len_chars() == 2).then(year + century).otherwise(year)
    by_name = {name[:3]: month for month, name in enumerate(MONTHS, 1)}
    name = pl.col("name").str.to_lowercase().str.head(3)
    month = pl.coalesce(number["month"], name.replace_strict(by_name, default=None), 1)
    day = pl.concat_str(
        year.cast(pl.String).str.zfill(4),
        month.cast(pl.String),
        number["day"].fill_null(1).cast(pl.String),
        separator="-",
    )
    return day.str.to_datetime("%Y-%m-%d", time_unit="us", strict=False)


def _minute_of_day(number: dict[str, pl.Expr]) -> pl.Expr:
    import polars as pl

    hour, half = number["hour"].fill_null(0), pl.col("half").str.to_lowercase()
    # 12 AM is midnight, 12 PM noon
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * half.str.starts_with("p"))
    return 60 * hour + number["minute"].fill_null(0)
