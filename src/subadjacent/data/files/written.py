"""Cells of text → moments, by the pattern of a layout or of a format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from subadjacent.data.files.layouts import GROUPS, MONTHS, pattern_of

if TYPE_CHECKING:
    import polars as pl

Unit = Literal["us", "ns"]

CENTURY_TURNS = 69
"""Two-digit years from this one on are of the 1900s, those before it of the 2000s, as in POSIX."""

# a day after the year 1 begins and a day before 9999 ends, in microseconds since 1970: Python has
# no others, whatever their zone
FIRST, LAST = -62_135_510_400_000_000, 253_402_214_400_000_000

# a day after the first nanosecond and before the last that 64 bits can count, in microseconds
FIRST_FINE, LAST_FINE = -9_223_286_400_000_000, 9_223_286_400_000_000

WORDS_IN_GROUPS = ("name", "half", "zone", "sign")
"""Groups that do not hold numbers."""


def read_written(cells: pl.Series, layout: str, unit: Unit, *, zoned: bool) -> pl.Series:
    """The moments that cells hold, without a zone; those with an offset are put in UTC.

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
    bounds = (FIRST, LAST) if unit == "us" else (FIRST_FINE, LAST_FINE)
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
    """The groups of a layout's pattern in each cell, as text: a column for each of ``GROUPS``."""
    import polars as pl

    groups = cells.str.strip_chars().str.extract_groups(pattern_of(layout)).struct.unnest()
    absent = [group for group in GROUPS if group not in groups.columns]
    return groups.with_columns(pl.lit(None, pl.String).alias(group) for group in absent)


def _day(number: dict[str, pl.Expr]) -> pl.Expr:
    import polars as pl

    year = number["year"].fill_null(1970)
    century = pl.when(year < CENTURY_TURNS).then(2000).otherwise(1900)
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
