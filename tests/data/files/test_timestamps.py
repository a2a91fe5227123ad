"""Times, however a column writes them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from subadjacent.data.files.timestamps import TimeForm, find_forms, in_common

NOON = datetime(2024, 1, 31, 12)


def parsed(cells: list[Any], **options: Any) -> list[Any]:
    column = pl.Series(cells)
    form = find_form(column, **options)
    assert form is not None
    return form.read(column).to_list()


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-31T12:00:00",
        "2024-01-31 12:00:00",
        " 2024-01-31 12:00 ",
        "2024/01/31 12:00:00.000",
        "31.1.2024 12:00",
    ],
)
def test_text_without_a_zone_stays_without_one(text: str) -> None:
    assert parsed([text]) == [NOON]


@pytest.mark.parametrize(
    "text", ["2024-01-31T12:00:00Z", "2024-01-31 13:30:00+01:30", "2024-01-31 07:00-0500"]
)
def test_text_with_a_zone_becomes_utc(text: str) -> None:
    assert parsed([text]) == [NOON.replace(tzinfo=UTC)]


def test_offsets_that_change_with_daylight_saving_become_utc() -> None:
    times = parsed(["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"])
    assert times[1] - times[0] == timedelta(hours=1)


def test_fractions_and_nanoseconds_are_kept() -> None:
    assert parsed(["2024-01-31 12:00:00.25"]) == [NOON + timedelta(milliseconds=250)]
    form = find_form(pl.Series(["2024-01-31 12:00:00.000000001"]))
    assert form is not None
    assert form.unit == "ns"
    ticks = form.read(pl.Series(["2024-01-31 12:00:00.000000001"])).to_physical()
    assert ticks[0] % 10**9 == 1


@pytest.mark.parametrize(
    ("factor", "kind"),
    [(1, "seconds"), (10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_epoch_numbers_are_told_by_their_size(factor: int, kind: str, as_text: bool) -> None:
    number = int(NOON.replace(tzinfo=UTC).timestamp()) * factor
    column = pl.Series([str(number) if as_text else number])
    form = find_form(column)
    assert form is not None
    assert form.kind == kind
    assert form.read(column).to_list() == [NOON.replace(tzinfo=UTC)]


def test_the_last_digit_of_nanoseconds_is_kept() -> None:
    cells = ["1700000000000000001", "1700000000000000002"]
    form = find_form(pl.Series(cells))
    assert form is not None
    assert form.read(pl.Series(cells)).to_physical().to_list() == list(map(int, cells))


def test_epoch_seconds_may_have_decimals() -> None:
    assert parsed(["1706702400.5"]) == [NOON.replace(tzinfo=UTC, microsecond=500_000)]


def test_a_float_column_of_whole_seconds_is_read_exactly() -> None:
    assert parsed([1706702400.0, None]) == [NOON.replace(tzinfo=UTC), None]
    assert parsed(["1706702400.0"]) == [NOON.replace(tzinfo=UTC)]


def test_other_numbers_count() -> None:
    assert parsed(["0", "1", "2"]) == [0, 1, 2]
    assert parsed([0.0, 0.5]) == [0.0, 0.5]
    assert parsed(["0,5", "1,0"], decimal_comma=True) == [0.5, 1.0]


def test_numbers_beyond_the_calendar_are_not_times() -> None:
    form = TimeForm("seconds", zone="UTC", whole=True)
    assert form.read(pl.Series([10**15, 0])).to_list() == [None, datetime(1970, 1, 1, tzinfo=UTC)]


def test_dates_become_midnights() -> None:
    assert parsed([date(2024, 1, 31)]) == [datetime(2024, 1, 31)]


@pytest.mark.parametrize(
    "cell",
    ["hello", "2024-13-01", "2024-01-31 25:00", "2024-01-31 12:00:99", "2024-01-31 12:00Z", ""],
)
def test_a_cell_in_another_form_is_null(cell: str) -> None:
    form = find_form(pl.Series(["2024-01-31 12:00"]))
    assert form is not None
    assert form.read(pl.Series([cell])).to_list() == [None]


def test_a_whole_counter_takes_no_decimals() -> None:
    assert TimeForm("counter", whole=True).read(pl.Series(["3", "3.5"])).to_list() == [3, None]


@pytest.mark.parametrize("cells", [["a", "b"], ["", "NA"], ["1/2/2024"], [True]])
def test_what_is_no_time_has_no_form(cells: list[Any]) -> None:
    assert find_form(pl.Series(cells)) is None


def test_forms_of_several_files_agree_on_the_finest_unit_and_on_utc() -> None:
    berlin = find_form(pl.Series([NOON]).dt.replace_time_zone("Europe/Berlin"))
    nanoseconds = find_form(pl.Series([1_706_702_400_000_000_000]))
    assert berlin is not None
    assert nanoseconds is not None
    common = in_common([berlin, nanoseconds])
    assert common is not None
    assert {(form.unit, form.zone) for form in common} == {("ns", "UTC")}
    assert in_common([berlin, TimeForm("dates")]) is None
    assert in_common([TimeForm("counter"), TimeForm("dates")]) is None


@pytest.mark.parametrize("dtype", [pl.Datetime("us"), pl.Datetime("us", "UTC"), pl.Datetime("ms")])
def test_dates_that_python_does_not_have_are_none(dtype: pl.Datetime) -> None:
    ticks = 10**6 if dtype.time_unit == "us" else 10**3
    # the year 2026, one far beyond 9999, one before the first
    column = pl.Series([1_770_000_000 * ticks, 300_000_000_000 * ticks, -70_000_000_000 * ticks])
    times = column.cast(dtype)
    form = find_form(times)
    assert form is not None
    assert form.read(times).is_null().to_list() == [False, True, True]
