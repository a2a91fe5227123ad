"""Columns of times in any form (ISO text, epoch numbers, dates, counters) → times.

The way of writing is found once, in a sample, so that every part of a file is read alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from subadjacent.data.files.cells import POINTS, Marks, blank_missing, read_numbers
from subadjacent.data.times import (
    DIGITS,
    EARLIEST,
    EPOCH_UNITS,
    GROUPS,
    LATEST,
    MONTHS,
    PATTERNS,
    has_date,
    pattern_of,
)

TimeUnit = Literal["us", "ns"]

EXAMPLES = (
    "times such as 2024-01-31 13:45:00 (all of them with an offset, or none), "
    "seconds or milliseconds since 1970, or a counter"
)

MICROSECOND_DIGITS = 6
"""Decimals of a second that microseconds hold."""

OUT_OF_RANGE = "a time outside the years 1 to 9999"

CENTURY_PIVOT = 69
"""Two-digit years from this one on are of the 1900s, those before it of the 2000s, as in POSIX."""

# a day after the year 1 begins and a day before 9999 ends, in microseconds since 1970: Python has
# no others, whatever their zone
FIRST, LAST = -62_135_510_400_000_000, 253_402_214_400_000_000

# a day after the first nanosecond and before the last that 64 bits can count, in microseconds
FIRST_NANO, LAST_NANO = -9_223_286_400_000_000, 9_223_286_400_000_000


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How a column writes its times, and what they become.

    Parameters
    ----------
    kind
        A layout (a key of ``PATTERNS``) or a format that was given, such as ``%d/%m/%Y``; a key
        of ``EPOCH_UNITS``; "dates" for a column that holds times already, or "counter" for plain
        numbers.
    unit
        The unit of the times: microseconds, or nanoseconds where they need it.
    zone
        Their time zone; None for local times without one.
    whole
        Whether numbers have no decimals.
    marks
        The marks within numbers.
    """

    kind: str
    unit: TimeUnit = "us"
    zone: str | None = None
    whole: bool = False
    marks: Marks = POINTS

    @property
    def is_clock(self) -> bool:
        """Whether these are moments, rather than numbers that count."""
        return self.kind != "counter"

    @property
    def is_text(self) -> bool:
        """Whether these are written in a layout or in a format."""
        return self.kind not in ("dates", "counter", *EPOCH_UNITS)

    @property
    def is_format(self) -> bool:
        """Whether these are written in a format that was given."""
        return self.is_text and self.kind not in PATTERNS

    @property
    def has_date(self) -> bool:
        """Whether these have dates; others are put on 1 January 1970."""
        return not self.is_text or has_date(self.kind)

    @property
    def description(self) -> str:
        """The form in plain words."""
        if self.kind in EPOCH_UNITS:
            return f"{self.kind} since 1970, in UTC"
        if self.kind == "counter":
            return "a counter, not dates"
        if not self.has_date:
            return "a clock without dates, all of one day, which is called 1970-01-01"
        zone = f"in {self.zone}" if self.zone else "without a time zone"
        if self.kind == DIGITS:
            return f"dates {zone}, since every row is one when read like 20240131 or 20240131134500"
        if self.kind in ("dates", "year first"):
            return f"dates {zone}"
        return f"dates {zone}, {'written as ' * self.is_format}{self.kind}"

    def read(self, column: pl.Series) -> pl.Series:
        """The times of a column; null where a cell is missing or not readable."""
        if column.dtype.is_temporal():
            return self._as_dates(column)
        if self.is_text:
            return self._from_text(column)
        return self._from_numbers(column)

    def _as_dates(self, column: pl.Series) -> pl.Series:
        times = column.cast(pl.Datetime(self.unit, getattr(column.dtype, "time_zone", None)))
        if self.unit == "us":
            # as numbers: not every version of Polars that is allowed can set a time to null
            ticks = times.to_physical()
            times = ticks.set(~ticks.is_between(FIRST, LAST), None).cast(times.dtype)
        return times if self.zone is None else times.dt.convert_time_zone(self.zone)

    def _from_text(self, column: pl.Series) -> pl.Series:
        times = _read_written(
            _as_text(column, self), self.kind, self.unit, zoned=self.zone is not None
        )
        return times if self.zone is None else times.dt.replace_time_zone(self.zone)

    def _from_numbers(self, column: pl.Series) -> pl.Series:
        if self.whole:
            numbers = _whole_numbers(column, self.marks)
        else:
            numbers = _floats(column, self.marks)
            numbers = numbers.set(numbers.is_infinite(), None)
        if self.kind == "counter":
            return numbers
        scale = (10**9 if self.unit == "ns" else 10**6) // EPOCH_UNITS[self.kind]
        # beyond this the product would not fit
        numbers = numbers.set(numbers.abs() > (2**63 - 1) // scale, None)
        ticks = numbers * scale if self.whole else (numbers * scale).round()
        ticks = ticks.cast(pl.Int64)
        if self.unit == "us":
            ticks = ticks.set(~ticks.is_between(FIRST, LAST), None)
        return ticks.cast(pl.Datetime(self.unit, self.zone))


def find_forms(sample: pl.Series, marks: Marks = POINTS) -> tuple[TimeForm, ...]:
    """The forms that read the most cells of a sample; none if no cell is read.

    There are several where dates can be read with the day or the month first, and where digits
    such as 20240131 are dates or count.
    """
    dtype = sample.dtype
    if isinstance(dtype, pl.Datetime):
        unit: TimeUnit = "ns" if dtype.time_unit == "ns" else "us"
        return (TimeForm("dates", unit, dtype.time_zone),)
    if dtype == pl.Date:
        return (TimeForm("dates"),)
    if dtype.is_numeric():
        return _number_forms(sample, marks)
    if dtype != pl.String:
        return ()
    cells = blank_missing(sample).drop_nulls()
    likely = [kind for kind, pattern in PATTERNS.items() if cells.str.contains(pattern).any()]
    forms = [text_form(kind, cells) for kind in likely if kind != DIGITS]
    counts = [form.read(cells).count() for form in forms]
    if not any(counts):
        return _number_forms(cells, marks)
    return tuple(form for form, count in zip(forms, counts, strict=True) if count == max(counts))


def text_form(kind: str, cells: pl.Series) -> TimeForm:
    """The form of a layout or format, with the zone and precision of its cells."""
    form = TimeForm(kind)
    groups = _find_parts(_as_text(cells, form), kind).select("year", "hour", "zone", "fraction")
    written = int((groups["year"].is_not_null() | groups["hour"].is_not_null()).sum())
    zoned = 2 * groups["zone"].count() > written
    fine = bool((groups["fraction"].str.len_chars() > MICROSECOND_DIGITS).any())
    return replace(form, unit="ns" if fine else "us", zone="UTC" if zoned else None)


def in_common(forms: list[TimeForm]) -> list[TimeForm] | None:
    """Forms of several files, made to give times of one type; None where they cannot."""
    if len({(form.is_clock, form.has_date, form.zone is None) for form in forms}) > 1:
        return None
    unit: TimeUnit = "ns" if any(form.unit == "ns" for form in forms) else "us"
    zones = {form.zone for form in forms}
    zone = zones.pop() if len(zones) == 1 else "UTC"
    counts = all(form.whole for form in forms)
    return [
        replace(form, unit=unit, zone=zone, whole=form.whole if form.is_clock else counts)
        for form in forms
    ]


def _read_written(cells: pl.Series, layout: str, unit: TimeUnit, *, zoned: bool) -> pl.Series:
    """The moments in cells, without a zone; those with an offset in UTC.

    Null where a cell does not fit the layout, holds a day that there is not, is before or after
    what can be told, or has an offset though ``zoned`` says otherwise, or none.
    """
    number = {
        group: pl.col(group).cast(pl.Int64, strict=False)
        for group in GROUPS
        if group not in ("name", "half", "zone", "sign")
    }
    hour, half = number["hour"].fill_null(0), pl.col("half").str.to_lowercase()
    # 12 AM is midnight, 12 PM noon
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * half.str.starts_with("p"))
    hours, minutes = number["hours"].fill_null(0), number["minutes"].fill_null(0)
    offset = 60 * hours + minutes
    offset = pl.when(pl.col("sign") == "-").then(-offset).otherwise(offset)
    moment = _day(number) + pl.duration(
        minutes=60 * hour + number["minute"].fill_null(0) - offset,
        seconds=number["second"].fill_null(0),
        time_unit="us",
    )
    bounds = (FIRST, LAST) if unit == "us" else (FIRST_NANO, LAST_NANO)
    legal = (
        pl.coalesce("year", "hour").is_not_null()
        & (half.is_null() | number["hour"].is_between(1, 12))
        & (hours < 24)
        & (minutes < 60)
        & (pl.col("zone").is_not_null() == zoned)
        & moment.to_physical().is_between(*bounds)
    )
    # only now, since nanoseconds hold fewer years
    moment = pl.when(legal).then(moment).cast(pl.Datetime(unit))
    fraction = pl.col("fraction").str.pad_end(9, "0").cast(pl.Int64, strict=False).fill_null(0)
    moment += pl.duration(nanoseconds=fraction, time_unit=unit)
    return _find_parts(cells, layout).select(moment.alias(cells.name)).to_series()


def _find_parts(cells: pl.Series, layout: str) -> pl.DataFrame:
    """The groups of a layout in each cell, one column each."""
    groups = cells.str.strip_chars().str.extract_groups(pattern_of(layout)).struct.unnest()
    absent = [group for group in GROUPS if group not in groups.columns]
    return groups.with_columns(pl.lit(None, pl.String).alias(group) for group in absent)


def _day(number: dict[str, pl.Expr]) -> pl.Expr:
    """Midnights; those of 1970, January and the first of a month where nothing is said."""
    year = number["year"].fill_null(1970)
    century = pl.when(year < CENTURY_PIVOT).then(2000).otherwise(1900)
    year = pl.when(pl.col("year").str.len_chars() == 2).then(year + century).otherwise(year)
    by_name = {name[:3]: month for month, name in enumerate(MONTHS, 1)}
    name = pl.col("name").str.to_lowercase().str.head(3)
    month = pl.coalesce(number["month"], name.replace_strict(by_name, default=None), 1)
    # as text, so that a day that there is not becomes null
    day = pl.format(
        "{}-{}-{}", year.cast(pl.String).str.zfill(4), month, number["day"].fill_null(1)
    )
    return day.str.to_datetime("%Y-%m-%d", time_unit="us", strict=False)


def _as_text(cells: pl.Series, form: TimeForm) -> pl.Series:
    """Cells as a layout or format reads them: whole numbers without the decimals of libraries."""
    if cells.dtype == pl.String and form.kind != DIGITS:
        return cells
    return _whole_numbers(cells, form.marks).cast(pl.String)


def _number_forms(cells: pl.Series, marks: Marks) -> tuple[TimeForm, ...]:
    numbers = _floats(cells, marks).drop_nulls()
    if numbers.is_empty() or len(numbers) < len(cells.drop_nulls()):
        return ()
    whole = len(_whole_numbers(cells, marks).drop_nulls()) == len(numbers)
    for kind, scale in EPOCH_UNITS.items():
        plausible = numbers.is_between(EARLIEST * scale, LATEST * scale).all()
        if plausible and (whole or kind == "seconds"):
            unit: TimeUnit = "ns" if kind == "nanoseconds" else "us"
            return (TimeForm(kind, unit, "UTC", whole, marks),)
    counter = TimeForm("counter", whole=whole, marks=marks)
    digits = TimeForm(DIGITS, marks=marks)
    dated = digits.read(cells).count() == len(numbers)
    return (digits, counter) if dated else (counter,)


def _floats(cells: pl.Series, marks: Marks) -> pl.Series:
    if cells.dtype != pl.String:
        return cells.cast(pl.Float64).fill_nan(None)
    return read_numbers(cells, marks)[0].fill_nan(None)


def _whole_numbers(cells: pl.Series, marks: Marks) -> pl.Series:
    """Cells as 64-bit integers, exactly; null where one is missing or has decimals."""
    if cells.dtype.is_integer():
        return cells.cast(pl.Int64, strict=False)
    # 1700000000.0, as libraries write a column that once had a gap
    floats = _floats(cells, marks)
    rounded = floats.set((floats % 1 != 0).fill_null(True), None).cast(pl.Int64, strict=False)
    if cells.dtype != pl.String:
        return rounded
    # nanoseconds have more digits than a float
    exact = cells.str.strip_chars().cast(pl.Int64, strict=False)
    return exact.zip_with(exact.is_not_null(), rounded)
