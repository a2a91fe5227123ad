"""Times, however a column writes them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl

from subadjacent.data.files.cells import Marks
from subadjacent.data.files.timestamps import TimeForm, find_forms, in_common

NOON = datetime(2024, 1, 31, 12)


def parsed(cells: list[Any], **options: Any) -> list[Any]:
    column = pl.Series(cells)
    return only_form(column, **options).read(column).to_list()


def only_form(column: pl.Series, **options: Any) -> TimeForm:
    (form,) = find_forms(column, **options)
    return form


def kinds(*cells: str) -> list[str]:
    return [form.kind for form in find_forms(pl.Series(cells))]


def test_cells_are_read_in_the_form_that_fits_them() -> None:
    utc = NOON.replace(tzinfo=UTC)
    seconds = int(utc.timestamp())
    cases: list[Any] = [
        # offsets become UTC, also where they change with daylight saving
        (["2024-01-31T12:00:00Z"], [utc]),
        (["2024-01-31 13:30:00+01:30"], [utc]),
        (["2024-01-31 07:00-0500"], [utc]),
        (["2024-01-31T13:00+01:00", "2024-01-31T13:00+00:00"], [utc, utc + timedelta(hours=1)]),
        (["2024-01-31 12:00:00.25"], [NOON + timedelta(milliseconds=250)]),
        # the unit of numbers is told by their size
        *(([form(seconds * 10**digits)], [utc]) for digits in (0, 3, 6, 9) for form in (str, int)),
        (["1706702400.5"], [utc.replace(microsecond=500_000)]),
        ([1706702400.0, None], [utc, None]),
        (["1706702400.0"], [utc]),
        (["0", "1", "2"], [0, 1, 2]),
        ([0.0, 0.5], [0.0, 0.5]),
        ([date(2024, 1, 31)], [datetime(2024, 1, 31)]),
    ]
    for cells, times in cases:
        assert parsed(cells) == times
    assert parsed(["0,5", "1,0"], marks=Marks(",", ".")) == [0.5, 1.0]


def test_the_last_digit_of_nanoseconds_is_kept() -> None:
    for cell, last in [("2024-01-31 12:00:00.000000001", 1), ("1700000000000000002", 2)]:
        form = only_form(pl.Series([cell]))
        assert form.unit == "ns"
        assert form.read(pl.Series([cell])).to_physical()[0] % 10**9 == last


def test_numbers_beyond_the_calendar_are_not_times() -> None:
    form = TimeForm("seconds", zone="UTC", whole=True)
    assert form.read(pl.Series([10**15, 0])).to_list() == [None, datetime(1970, 1, 1, tzinfo=UTC)]


def test_a_whole_counter_takes_no_decimals() -> None:
    assert TimeForm("counter", whole=True).read(pl.Series(["3", "3.5"])).to_list() == [3, None]


def test_what_is_no_time_has_no_form() -> None:
    for cells in [["a", "b"], ["", "NA"], ["31/31/2024"], ["2024-02-30"], [True]]:
        assert find_forms(pl.Series(cells)) == ()


def test_forms_of_several_files_agree_on_the_finest_unit_and_on_utc() -> None:
    berlin = only_form(pl.Series([NOON]).dt.replace_time_zone("Europe/Berlin"))
    nanoseconds = only_form(pl.Series([1_706_702_400_000_000_000]))
    common = in_common([berlin, nanoseconds])
    assert common is not None
    assert {(form.unit, form.zone) for form in common} == {("ns", "UTC")}
    assert in_common([berlin, TimeForm("dates")]) is None
    assert in_common([TimeForm("counter"), TimeForm("dates")]) is None


def test_dates_that_python_does_not_have_are_none() -> None:
    for dtype in [pl.Datetime("us"), pl.Datetime("us", "UTC"), pl.Datetime("ms")]:
        ticks = 10**6 if dtype.time_unit == "us" else 10**3
        # the year 2026, one far beyond 9999, one before the first
        column = pl.Series(
            [1_770_000_000 * ticks, 300_000_000_000 * ticks, -70_000_000_000 * ticks]
        )
        times = column.cast(dtype)
        form = only_form(times)
        assert form.read(times).is_null().to_list() == [False, True, True]


def test_dates_that_can_be_read_in_several_ways_have_several_forms() -> None:
    assert kinds("01/02/2024") == ["day first", "month first"]
    assert kinds("06/01/14 00") == ["day first", "month first", "two-digit year first"]
    assert kinds("01.02.2024") == ["day first"]
    # one cell tells
    assert kinds("01/02/2024", "31/01/2024", "02/02/2024") == ["day first"]
    assert kinds("01/02/2024", "01/31/2024") == ["month first"]
    # a cell that is wrong does not
    assert kinds("01/02/2024", "soon", "") == ["day first", "month first"]
    # those that most cells are written in
    assert kinds("31/01/2024", "01/31/2024", "30/01/2024") == ["day first"]


def test_digits_are_dates_or_count() -> None:
    assert kinds("20240131", "20240201") == ["digits", "counter"]
    assert kinds("20240131", "20240132") == ["counter"]
    assert kinds("20240131.5", "20240201") == ["counter"]
    assert kinds("20240131134500", "20240131") == ["digits", "counter"]
    # seconds since 1970 have ten digits in these years, and hours would have as many
    assert kinds("2024013113") == ["seconds"]
    numbers = pl.Series([20240131.0, None, 20240201.0])
    form = find_forms(numbers)[0]
    assert form.read(numbers).to_list() == [datetime(2024, 1, 31), None, datetime(2024, 2, 1)]
    text = pl.Series(["20240131.0", " 20240201"])
    assert find_forms(text)[0].read(text).to_list() == [datetime(2024, 1, 31), datetime(2024, 2, 1)]


def test_the_zone_is_that_of_most_cells() -> None:
    mixed = ["2024-01-31 12:00Z", "2024-01-31 12:00", "2024-01-31 12:00Z"]
    assert parsed(mixed) == [NOON.replace(tzinfo=UTC), None, NOON.replace(tzinfo=UTC)]
    assert parsed(mixed[:2]) == [None, NOON]


def test_a_form_is_said_in_plain_words() -> None:
    cases: list[Any] = [
        ("2024-01-31", "dates without a time zone"),
        ("2024-01-31Z", "dates in UTC"),
        ("31/01/2024", "dates without a time zone, day first"),
        ("31 Jan 2024", "dates without a time zone, day, name of month"),
        ("12:00", "a clock without dates, all of one day, which is called 1970-01-01"),
        ("1700000000", "seconds since 1970, in UTC"),
        ("1700000000000", "milliseconds since 1970, in UTC"),
        ("1700000000000000", "microseconds since 1970, in UTC"),
        ("1700000000000000000", "nanoseconds since 1970, in UTC"),
        ("17", "a counter, not dates"),
    ]
    for cell, said in cases:
        assert only_form(pl.Series([cell])).description == said
        assert not only_form(pl.Series([cell])).is_format
    assert TimeForm("digits").description.endswith("when read like 20240131 or 20240131134500")
    assert TimeForm("%d/%m/%Y").description == "dates without a time zone, written as %d/%m/%Y"
    assert TimeForm("%d/%m/%Y").is_format


def test_clocks_and_dates_have_nothing_in_common() -> None:
    assert in_common([TimeForm("clock"), TimeForm("year first")]) is None
    assert in_common([TimeForm("day first"), TimeForm("year first")]) is not None
