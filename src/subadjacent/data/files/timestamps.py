"""A column of times, however it is written (ISO text, epoch numbers, dates, a counter) → times.

The way of writing is found once, in a sample, so that every part of a file is read alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from subadjacent.data.files.cells import blank_missing, read_numbers

if TYPE_CHECKING:
    import polars as pl

_CLOCK = (
    r"(?:[T ]+(?<hour>\d{1,2}):(?<minute>\d{2})"
    r"(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)?"
    r"\s*(?<zone>Z|z|UTC|(?<sign>[+-])(?<hours>\d{2}):?(?<minutes>\d{2})?)?$"
)
PATTERNS = {
    "year first": r"^(?<year>\d{4})[-/](?<month>\d{1,2})[-/](?<day>\d{1,2})" + _CLOCK,
    "day first": r"^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})" + _CLOCK,
}
"""31.1.2024 is the day first wherever it is written; 1/2/2024 is not, and is not guessed."""

# 1990 and 2100: numbers of seconds between them are taken for dates, and so on
EARLIEST, LATEST = 631_152_000, 4_102_444_800
EPOCH_UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}

EXAMPLES = (
    "times such as 2024-01-31 13:45:00 (all of them with an offset, or none), "
    "seconds or milliseconds since 1970, or a counter"
)

Unit = Literal["us", "ns"]

# a day after the year 1 begins and a day before 9999 ends, in microseconds since 1970: Python has
# no others, whatever their zone; nanoseconds end long before
FIRST, LAST = -62_135_510_400_000_000, 253_402_214_400_000_000
BEYOND = "a time outside the years 1 to 9999"


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How a column writes its times, and what they become.

    Parameters
    ----------
    kind
        A key of ``PATTERNS``, a key of ``EPOCH_UNITS``, "dates" for a column that holds times
        already, or "counter" for plain numbers.
    unit
        What the times are counted in: microseconds, but for those that need finer ones.
    zone
        Their time zone; None for local times without one.
    whole
        Whether numbers have no decimals.
    decimal_comma
        Whether numbers have a comma for a decimal mark.
    """

    kind: str
    unit: Unit = "us"
    zone: str | None = None
    whole: bool = False
    decimal_comma: bool = False

    @property
    def is_clock(self) -> bool:
        """Whether these are moments, rather than numbers that count."""
        return self.kind != "counter"

    @property
    def said(self) -> str:
        """The form in plain words."""
        if self.kind in EPOCH_UNITS:
            return f"{self.kind} since 1970, in UTC"
        if self.kind == "counter":
            return "a counter, not dates"
        order = ", day first" if self.kind == "day first" else ""
        zone = f"in {self.zone}" if self.zone else "without a time zone"
        return f"dates {zone}{order}"

    def read(self, column: pl.Series) -> pl.Series:
        """The times of a column; null where a cell is missing, written otherwise or BEYOND."""
        if self.kind in PATTERNS:
            return self._from_text(column)
        if self.kind == "dates":
            return self._as_dates(column)
        return self._from_numbers(column)

    def _as_dates(self, column: pl.Series) -> pl.Series:
        import polars as pl

        times = column.cast(pl.Datetime(self.unit, getattr(column.dtype, "time_zone", None)))
        if self.unit == "us":
            times = times.set(~times.to_physical().is_between(FIRST, LAST), None)
        return times if self.zone is None else times.dt.convert_time_zone(self.zone)

    def _from_text(self, column: pl.Series) -> pl.Series:
        import polars as pl

        parts = column.str.strip_chars().str.extract_groups(PATTERNS[self.kind]).struct.unnest()
        number = {
            part: pl.col(part).cast(pl.Int64).fill_null(0)
            for part in ("hours", "minutes", "second")
        }
        day = pl.concat_str("year", "month", "day", separator="-")
        clock = pl.concat_str(
            pl.col("hour").fill_null("0"), pl.col("minute").fill_null("0"), pl.lit("0"),
            separator=":",
        )  # fmt: skip
        offset = pl.duration(hours=number["hours"], minutes=number["minutes"], time_unit=self.unit)
        moment = (
            pl.concat_str(day, clock, separator=" ").str.to_datetime(
                "%Y-%m-%d %H:%M:%S", time_unit=self.unit, strict=False
            )
            + pl.duration(
                seconds=number["second"],
                nanoseconds=pl.col("fraction").str.pad_end(9, "0").cast(pl.Int64).fill_null(0),
                time_unit=self.unit,
            )
            + pl.when(pl.col("sign") == "-").then(offset).otherwise(-offset)
        ).cast(pl.Datetime(self.unit))
        legal = (number["second"] < 60) & (number["minutes"] < 60) & (number["hours"] < 24)
        as_agreed = pl.col("zone").is_null() if self.zone is None else pl.col("zone").is_not_null()
        times = parts.select(pl.when(legal & as_agreed).then(moment).alias("time")).to_series()
        return times if self.zone is None else times.dt.replace_time_zone(self.zone)

    def _from_numbers(self, column: pl.Series) -> pl.Series:
        import polars as pl

        if self.whole:
            numbers = _whole_numbers(column, self.decimal_comma)
        else:
            numbers = _floats(column, self.decimal_comma)
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


def find_form(sample: pl.Series, *, decimal_comma: bool = False) -> TimeForm | None:
    """The form most of a sample's cells are written in; None where no cell has one."""
    import polars as pl

    dtype = sample.dtype
    if isinstance(dtype, pl.Datetime):
        unit: Unit = "ns" if dtype.time_unit == "ns" else "us"
        return TimeForm("dates", unit, dtype.time_zone)
    if dtype == pl.Date:
        return TimeForm("dates")
    if dtype.is_numeric():
        return _number_form(sample, decimal_comma)
    if dtype != pl.String:
        return None
    cells = blank_missing(sample).drop_nulls()
    if cells.is_empty():
        return None
    counts = {kind: int(cells.str.contains(pattern).sum()) for kind, pattern in PATTERNS.items()}
    kind = max(counts, key=counts.__getitem__)
    if not counts[kind]:
        return _number_form(cells, decimal_comma)
    parts = cells.str.extract_groups(PATTERNS[kind]).struct.unnest().drop_nulls("year")
    fine = (parts["fraction"].str.len_chars() > 6).any()
    return TimeForm(kind, "ns" if fine else "us", None if parts["zone"][0] is None else "UTC")


def in_common(forms: list[TimeForm]) -> list[TimeForm] | None:
    """Forms of several files, made to give times of one type; None where they cannot."""
    if len({(form.is_clock, form.zone is None) for form in forms}) > 1:
        return None
    unit: Unit = "ns" if any(form.unit == "ns" for form in forms) else "us"
    zones = {form.zone for form in forms}
    zone = zones.pop() if len(zones) == 1 else "UTC"
    counts = all(form.whole for form in forms)
    return [
        replace(form, unit=unit, zone=zone, whole=form.whole if form.is_clock else counts)
        for form in forms
    ]


def _number_form(cells: pl.Series, decimal_comma: bool) -> TimeForm | None:
    numbers = _floats(cells, decimal_comma).drop_nulls()
    if numbers.is_empty() or len(numbers) < len(cells.drop_nulls()):
        return None
    whole = len(_whole_numbers(cells, decimal_comma).drop_nulls()) == len(numbers)
    for kind, scale in EPOCH_UNITS.items():
        plausible = numbers.is_between(EARLIEST * scale, LATEST * scale).all()
        if plausible and (whole or kind == "seconds"):
            unit: Unit = "ns" if kind == "nanoseconds" else "us"
            return TimeForm(kind, unit, "UTC", whole, decimal_comma)
    return TimeForm("counter", whole=whole, decimal_comma=decimal_comma)


def _floats(cells: pl.Series, decimal_comma: bool) -> pl.Series:
    import polars as pl

    if cells.dtype != pl.String:
        return cells.cast(pl.Float64).fill_nan(None)
    return read_numbers(cells, decimal_comma=decimal_comma)[0].fill_nan(None)


def _whole_numbers(cells: pl.Series, decimal_comma: bool) -> pl.Series:
    """Cells as 64-bit integers, exactly; null where one is missing or has decimals."""
    import polars as pl

    if cells.dtype.is_integer():
        return cells.cast(pl.Int64, strict=False)
    # 1700000000.0, as libraries write a column that once had a gap
    floats = _floats(cells, decimal_comma)
    rounded = floats.set((floats % 1 != 0).fill_null(True), None).cast(pl.Int64, strict=False)
    if cells.dtype != pl.String:
        return rounded
    # nanoseconds have more digits than a float
    exact = cells.str.strip_chars().cast(pl.Int64, strict=False)
    return exact.zip_with(exact.is_not_null(), rounded)
