"""Dates and clocks as they are written, and formats that are given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import polars as pl
import pytest

from subadjacent.data.files.timestamps import TimeForm, find_forms, text_form
from subadjacent.data.times import (
    PATTERNS,
    WORDS,
    format_of,
    has_date,
    is_written_time,
    pattern_of_format,
)
from subadjacent.errors import InputError


def read(cell: str, kind: str) -> datetime | None:
    cells = pl.Series("time", [cell])
    times = text_form(kind, cells).read(cells)
    assert times.name == "time"
    moment = times[0]
    return moment.replace(tzinfo=None) if moment is not None and times.dtype.time_zone else moment  # type: ignore[attr-defined]


MARCH = datetime(2024, 3, 1)
MORNING = MARCH.replace(hour=7, minute=8, second=9)


def test_a_cell_is_read_by_its_layout() -> None:
    cases: list[Any] = [
        ("year first", "2024-03-01", MARCH),
        ("year first", "2024/3/1 7", MARCH.replace(hour=7)),
        ("year first", "2024.03.01T07:08", MARCH.replace(hour=7, minute=8)),
        ("year first", "2024-03-01 07:08:09,5", MORNING.replace(microsecond=500_000)),
        ("day first", "01/03/2024", MARCH),
        ("day first", "1.3.24", MARCH),
        ("day first", "1-3-2024, 07:08", MARCH.replace(hour=7, minute=8)),
        ("month first", "03/01/2024", MARCH),
        ("month first", "3/1/24 00", MARCH),
        ("month first", "3/1/2024 12:30 AM", MARCH.replace(minute=30)),
        ("month first", "3/1/2024 12:30 p.m.", MARCH.replace(hour=12, minute=30)),
        ("month first", "3/1/2024 1:30pm", MARCH.replace(hour=13, minute=30)),
        ("two-digit year first", "24-03-01", MARCH),
        ("day, name of month", "1 March 2024", MARCH),
        ("day, name of month", "01-Mar-2024 23:00", MARCH.replace(hour=23)),
        ("day, name of month", "01MAR24", MARCH),
        ("day, name of month", "1. sept 2024", datetime(2024, 9, 1)),
        ("name of month, day", "March 1, 2024 1 AM", MARCH.replace(hour=1)),
        ("name of month, day", "Mar 1 2024", MARCH),
        ("year, name of month", "2024-Mar-01", MARCH),
        ("digits and a clock", "20240301 7:08", MARCH.replace(hour=7, minute=8)),
        ("digits and digits", "20240301T070809.25Z", MORNING.replace(microsecond=250_000)),
        ("digits and digits", "20240301 0708", MARCH.replace(hour=7, minute=8)),
        ("digits", "20240301", MARCH),
        ("digits", "202403010708", MARCH.replace(hour=7, minute=8)),
        ("digits", "20240301070809", MORNING),
        ("clock", "07:08", datetime(1970, 1, 1, 7, 8)),
        ("clock", "7:08:09 PM", datetime(1970, 1, 1, 19, 8, 9)),
    ]  # fmt: skip
    for kind, cell, moment in cases:
        assert read(cell, kind) == moment
        assert is_written_time(f" {cell} ")
        # what a message tells the user to type reads the cell as well
        assert read(cell, format_of(kind, cell)) == moment


def test_a_cell_that_is_no_time_of_a_layout_is_null() -> None:
    cases: list[Any] = [
        ("day first", "31/02/2024"),
        ("day first", "01/13/2024"),
        ("month first", "13/01/2024"),
        # dots have the day first
        ("month first", "01.03.2024"),
        ("two-digit year first", "24.03.01"),
        ("month first", "3/1/2024 13:30 PM"),
        ("month first", "3/1/2024 0:30 AM"),
        ("day, name of month", "1 Marble 2024"),
        ("day, name of month", "30 Feb 2024"),
        ("year first", "2024-03-01 24:00"),
        ("year first", "2024-03-01 12:60"),
        ("year first", "2024-03-01 12:00:60"),
        ("year first", "2024-03-01 12:00 +24:00"),
        ("year first", "2024-03-01 12:00 +01:60"),
        ("year first", "2024-03-01x"),
        ("year first", "0000-03-01"),
        ("year first", "٢٠٢٤-03-01"),
        ("digits", "18990301"),
        ("digits", "21000301"),
        ("digits", "2024030107"),
        ("digits and digits", "20240301 708"),
        ("clock", "24:00"),
        ("clock", "7"),
    ]
    for kind, cell in cases:
        assert read(cell, kind) is None


def test_a_short_year_is_that_of_strptime() -> None:
    for short, year in [("68", 2068), ("69", 1969), ("00", 2000), ("99", 1999), ("24", 2024)]:
        assert read(f"31/01/{short}", "day first") == datetime(year, 1, 31)
        assert datetime.strptime(short, "%y").year == year


def test_offsets_are_taken_off() -> None:
    for cell in ("2024-03-01 01:30+01:30", "2024-02-29 19:00 -0500", "2024-03-01 00:00 gmt"):
        assert read(cell, "year first") == MARCH
    # a day that there is only elsewhere
    assert read("0001-01-01 00:00+12:00", "year first") is None


def test_nanoseconds_are_kept_and_hold_fewer_years() -> None:
    fine = TimeForm("year first", "ns")
    cells = pl.Series(["2024-03-01 00:00:00.000000001", "2500-01-01", "1500-01-01"])
    times = fine.read(cells)
    assert times.to_physical()[0] % 10**9 == 1
    assert times.is_null().to_list() == [False, True, True]


# any moment

WRITTEN = {
    "year first": ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"),
    "day first": ("%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d.%m.%y"),
    "month first": ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y"),
    "two-digit year first": ("%y-%m-%d", "%y/%m/%d"),
    "day, name of month": ("%d %B %Y", "%d-%b-%Y", "%d%b%Y", "%d-%b-%y"),
    "name of month, day": ("%B %d, %Y", "%b %d %Y"),
    "year, name of month": ("%Y-%b-%d", "%Y %B %d"),
}
CLOCKS = (
    "T%H:%M:%S.%f", " %H:%M:%S", " %H:%M", " %H", "", ", %I:%M:%S %p", " %I:%M %p", " %I %p",
    "T%H:%M:%S.%f%z", " %H:%M %z",
)  # fmt: skip
DIGIT_CLOCKS = {
    "digits": ("", "%H%M", "%H%M%S"),
    "digits and digits": ("T%H%M%S.%f", " %H%M", "T%H%M%S%z"),
    "digits and a clock": (" %H:%M:%S.%f", "T%H:%M", " %I:%M %p"),
}
FORMATS = [
    *(
        (kind, date + clock)
        for kind, dates in WRITTEN.items()
        for date in dates
        for clock in CLOCKS
    ),
    *((kind, "%Y%m%d" + clock) for kind, clocks in DIGIT_CLOCKS.items() for clock in clocks),
]


def test_hard_moments_read_back_in_every_layout_and_format() -> None:
    for kind in [*WRITTEN, *DIGIT_CLOCKS]:
        moments = [
            datetime(year, month, day, hour, minute, second, micro, tzinfo=zone)
            for year, month, day in ((2024, 2, 29), (2023, 12, 31), (2000, 1, 1), (1999, 10, 10))
            for hour, minute, second, micro in ((0, 0, 0, 0), (12, 0, 0, 1), (23, 59, 59, 999_999))
            for zone in (UTC, timezone(timedelta(hours=-5, minutes=-30)))
        ]
        for known, written in FORMATS:
            if known == kind:
                assert_reads_back(moments, kind, written)


def assert_reads_back(moments: list[datetime], kind: str, written: str) -> None:
    cells = [moment.strftime(written) for moment in moments]
    expected = [datetime.strptime(cell, written) for cell in cells]
    for form in (kind, written):
        column = pl.Series(cells)
        times = text_form(form, column).read(column).to_list()
        assert times == expected
    assert kind in {form.kind for form in find_forms(pl.Series(cells))}
    assert datetime.strptime(cells[0], format_of(kind, cells[0])) == expected[0]


def test_every_layout_is_tried_on_any_moment() -> None:
    assert {kind for kind, _ in FORMATS} == set(PATTERNS) - {"clock"}


# formats


def test_a_format_reads_what_it_says() -> None:
    cases: list[Any] = [
        ("%A, %d. %b %Y um %H Uhr", "Friday, 1. Mar 2024 um 7 Uhr", MARCH.replace(hour=7)),
        ("%a %b %d %H:%M:%S %Y", "Fri  Mar 01   07:00:00 2024", None),
        ("%a %b %d %H:%M:%S %Y", "Fri Mar 01 07:00:00 2024", MARCH.replace(hour=7)),
        ("%Y%m%d", "20240301", MARCH),
        ("%y%m%d", "240301", MARCH),
        ("%Y-%m", "2024-03", MARCH),
        ("100%% %Y.(%m)", "100% 2024.(03)", MARCH),
        ("%H:%M", "07:08", datetime(1970, 1, 1, 7, 8)),
        ("%d/%m/%Y", "01/03/2024 07:00", None),
    ]
    for written, cell, moment in cases:
        # spaces may be more than one, as in strptime
        expected = moment if "  " not in cell else MARCH.replace(hour=7)
        assert read(cell, written) == expected


def test_a_format_that_tells_no_time_is_refused() -> None:
    cases: list[Any] = [
        ("%d/%m/%Q", "must be made of %Y %y"),
        ("%Y-%m-%", "must be made of %Y %y"),
        ("%d/%d/%Y", "must name each part of a time once"),
        ("%Y %y", "must name each part of a time once"),
        ("%Y %I:%M", "must have %p (AM or PM) with %I and not with %H"),
        ("%Y %H:%M %p", "must have %p (AM or PM) with %I and not with %H"),
        ("%d/%m %H:%M", "must have a year (%Y or %y), or hours and no date at all"),
        ("%b %H:%M", "must have a year"),
        ("%M:%S", "must have a year"),
        ("", "must have a year"),
        ("digits", "must have a year"),
    ]
    for written, rule in cases:
        with pytest.raises(InputError) as caught:
            pattern_of_format(written)
        message = str(caught.value)
        assert rule in message
        assert message.endswith(f"got {written!r}: write it like %d/%m/%Y %H:%M")


def test_a_format_without_a_date_is_told() -> None:
    assert not has_date("clock")
    assert not has_date("%H:%M")
    assert has_date("%Y")
    assert has_date("digits")
    assert all(word in WORDS for word in ("%Y", "%H"))


def test_other_text_is_no_time() -> None:
    for cell in ["noon", "12", "1.5", "-3", "1/2", "2026-13-01", "a1", ""]:
        assert not is_written_time(cell)
