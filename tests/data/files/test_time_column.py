"""Which column is the time, and two columns that are one."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from subadjacent.data.files import Columns, Rows, open_files
from subadjacent.data.files.time_column import TimeColumn
from subadjacent.errors import InputError

MORNING, NOON = datetime(2024, 1, 31), datetime(2024, 1, 31, 12)


@pytest.fixture
def opened(tmp_path: Path):  # type: ignore[no-untyped-def]
    def load(content: str | dict[str, Any], time: str | None = None, **options: Any) -> Rows:
        path = tmp_path / "plant.csv"
        if isinstance(content, str):
            path.write_text(content)
        else:
            pl.DataFrame(content).write_parquet(path)
        return open_files([str(path)], Columns(time=time, **options))

    return load


def times(rows: Rows) -> list[Any]:
    return rows.whole().frame["timestamp"].to_list()


def test_a_name_may_mean_two_columns() -> None:
    columns = ("day", "clock", "a+b", "a", "b")
    assert TimeColumn.of("day+clock", columns).names == ("day", "clock")
    assert TimeColumn.of("day+clock", columns).name == "day+clock"
    assert TimeColumn.of("day", columns).names == ("day",)
    # a column of that name comes first
    assert TimeColumn.of("a+b", columns).names == ("a+b",)
    assert TimeColumn.of("a+b+day", columns).names == ("a+b", "day")
    assert TimeColumn.of("day+none", columns).names == ("day+none",)


def test_dates_and_clocks_are_joined(opened: Any) -> None:
    cases: list[Any] = [
        "date,time,a\n2024-01-31,00:00,1\n2024-01-31,12:00,2\n",
        "a,Time,Date\n1,00:00:00,31/01/2024\n2,12:00:00,31/01/2024\n",
        "Date;Time;a\n31/01/2024;00.00.00;1\n31/01/2024;12.00.00;2\n",
        "date,time,a\n31-Jan-2024,12:00 AM,1\n31-Jan-2024,12:00 PM,2\n",
        "date,time,a\n20240131,0:00,1\n20240131,12:00,2\n",
        "date,hour,a\n2024-01-31,0,1\n2024-01-31,12,2\n",
        {"date": [date(2024, 1, 31)] * 2, "time": [time(0), time(12)], "a": [1.0, 2.0]},
        {"date": [MORNING] * 2, "time": ["00:00", "12:00"], "a": [1.0, 2.0]},
    ]
    for content in cases:
        rows = opened(content)
        assert times(rows) == [MORNING, NOON]
        assert rows.channels == ("a",)
        (note,) = [note for note in rows.notes if "the time" in note]
        assert ", joined, are the time (found): dates without a time zone" in note
        assert rows.time in ("date+time", "Date+Time", "date+hour")
        # results have one column of times, and neither name fits it
        assert rows.named == Columns()


def test_others_are_joined_when_they_are_named(opened: Any) -> None:
    content = "Datum,Uhrzeit,a\n31.01.2024,00:00,1\n31.01.2024,12:00,2\n"
    rows = opened(content, "Datum+Uhrzeit")
    assert times(rows) == [MORNING, NOON]
    (note,) = rows.notes
    assert note.startswith("columns 'Datum' and 'Uhrzeit', joined, are the time (given): dates ")
    with pytest.raises(InputError, match=r"must have the time column 'Datum\+Zeit'; it has Datum"):
        opened(content, "Datum+Zeit")


def test_what_is_no_date_and_clock_is_not_joined(opened: Any) -> None:
    cases: list[Any] = [
        # dates that have a clock already, a count, hours that are none, a time by itself
        ("date,time,a\n2024-01-31 01:00,00:00,1\n2024-01-31 02:00,12:00,2\n", "date"),
        ("date,time,a\n2024-01-30,3,1\n2024-01-31,4,2\n", "date"),
        ("date,hour,a\n2024-01-30,30,1\n2024-01-31,40,2\n", "date"),
        ({"date": [MORNING, NOON], "time": ["00:00", "12:00"], "a": [1.0, 2.0]}, "date"),
        ("time,hour,a\n2024-01-30,3,1\n2024-01-31,4,2\n", "time"),
    ]
    for content, name in cases:
        assert opened(content).time == name


def test_a_clock_gives_way_to_dates_and_a_counter_to_a_clock(opened: Any) -> None:
    assert opened("time,ts,a\n12:00,2024-01-31,1\n13:00,2024-02-01,2\n").time == "ts"
    assert opened("ts,time,a\n1,12:00,1\n2,13:00,2\n").time == "time"
    assert opened("ts,date,a\n0,2024-01-01,1\n1,2024-01-02,1\n").time == "date"
    assert opened(
        "timestamp,date,time,a\n2024-01-31,2024-01-31,12:00,1\n", "timestamp"
    ).channels == ("a",)


def test_what_is_no_time_is_refused_with_its_place_and_the_way_out(opened: Any) -> None:
    pair = "date,time,a\n2024-01-31,00:00,1\n2024-01-31,{},2\n2024-02-01,00:00,3\n"
    day_first = {"time_format": "%d/%m/%Y"}
    cases: list[Any] = [
        (pair.format("late"), {}, r"line 3, column 'date\+time', must have times .*'2024-"),
        (pair.format(""), {}, r"line 3, column 'date\+time', .* it is empty: fill it"),
        (
            "date,clock,a\n31.01.2024,1,1\n31.01.2024,2,2\n",
            *({}, r"a clock stands in another column, name both .*date\+t"),
        ),
        # a date that has a clock does not ask for another
        (
            "date,a\n2024-01-31 12:00,1\n2024-01-31 12:00,2\n",
            *({}, "00 after 2024-01-31 12:00:00: drop duplicates, or name"),
        ),
        (
            "timestamp,date,time,a\n2024-01-31,2024-01-31,12:00,1\n",
            *({}, r"date\+time, timestamp could each be the time"),
        ),
        (
            "time,a\n23:59,1\n00:01,2\n",
            {},
            (
                r"line 3, column 'time': times must increase from row to row; got 00:01:00 after "
                r"23:59:00: a clock without dates tells the times of one day only, so add a "
                r"column of dates and name both as the time \(date\+time\), or remove this column$"
            ),
        ),
        (
            "time,a\n31/01/2024,1\n02/31/2024,2\n",
            day_first,
            (
                "plant.csv, line 3, column 'time', must be a time written as '%d/%m/%Y'; it holds "
                "'02/31/2024': correct it, or give another format, as in "
                "time_format='%d/%m/%Y %H:%M'$"
            ),
        ),
        (
            "time,a\n31/01/2024,1\n",
            *({"time_format": "%Y"}, "line 2, column 'time', must be a time written as '%Y'"),
        ),
        ("a,b\n1,2\n", day_first, "must have a time column, since a format of times is"),
        ("a,b\n1,2\n", {"time_format": "%Q"}, "time_format must be made of"),
    ]
    for content, options, message in cases:
        with pytest.raises(InputError, match=message):
            times(opened(content, **options))


# a clock without dates


def test_a_clock_without_dates_is_one_day(opened: Any) -> None:
    fine = {"time": [time(0), time(0, 0, 0, 250)], "a": [1.0, 2.0]}
    assert times(opened(fine))[1] == datetime(1970, 1, 1, 0, 0, 0, 250)
    for content in ["time,a\n00:00,1\n12:00,2\n", {"time": [time(0), time(12)], "a": [1.0, 2.0]}]:
        rows = opened(content)
        assert times(rows) == [datetime(1970, 1, 1), datetime(1970, 1, 1, 12)]
        assert rows.notes[0].endswith(
            "a clock without dates, all of one day, which is called 1970-01-01"
        )


def test_a_first_column_of_clocks_is_the_time_if_it_rises(opened: Any) -> None:
    assert opened("at,a\n00:10,1\n00:20,2\n").time == "at"
    # how long something took, which is no number either
    rows = opened("took,a\n00:20,1\n00:10,2\n")
    assert (rows.time, rows.channels) == (None, ("a",))


# a format


def test_a_format_is_read_and_said(opened: Any) -> None:
    rows = opened("a,time\n1,2024 31 Jan\n2,2024 1 Feb\n", time_format="%Y %d %b")
    assert times(rows) == [MORNING, datetime(2024, 2, 1)]
    assert rows.notes == (
        "column 'time' is the time (found): dates without a time zone, written as %Y %d %b",
    )


def test_a_format_holds_for_every_kind_of_column(opened: Any) -> None:
    cases: list[Any] = [
        ("when,a\n3101202400,1\n3101202412,2\n", {"time_format": "%d%m%Y%H"}),
        ("when,a\n31012024 00,1\n31012024 12,2\n", {"time_format": "%d%m%Y %H"}),
        ("a,when\n1,31012024 00\n2,31012024 12\n", {"time": "when", "time_format": "%d%m%Y %H"}),
        ("date,time,a\n31 1 2024,00,1\n31 1 2024,12,2\n", {"time": "date+time"}),
        ("date,time,a\n31 1 2024,00h,1\n31 1 2024,12h,2\n", {"time_format": "%d %m %Y %Hh"}),
        ({"time": [3101202400, 3101202412], "a": [1.0, 2.0]}, {"time_format": "%d%m%Y%H"}),
        ({"time": [MORNING, NOON], "a": [1.0, 2.0]}, {"time_format": "%d%m%Y%H"}),
    ]
    for content, options in cases:
        options.setdefault("time_format", "%d %m %Y %H")
        assert times(opened(content, **options)) == [MORNING, NOON]


def test_a_file_without_time_has_none(opened: Any) -> None:
    rows = opened("a,b\n1,2\n3,4\n")
    assert (rows.time, rows.named, rows.read_time("2024-01-31")) == (None, Columns(), None)


# times as the files write them


def test_a_time_is_read_as_the_files_write_theirs(opened: Any) -> None:
    cases: list[Any] = [
        ("31/01/2024 12:00", "01/02/2024", datetime(2024, 2, 1)),
        ("01/31/2024 12:00", "01/02/2024", datetime(2024, 1, 2)),
        ("20240131120000", "20240201000000", datetime(2024, 2, 1)),
        ("12:00:00", "13:00", datetime(1970, 1, 1, 13)),
        ("31/01/2024 12:00", "soon", None),
        # too small for the seconds of these years
        ("1700000000", "20240201", None),
        ("7", "8", None),
    ]
    for cell, text, moment in cases:
        assert opened(f"time,a\n{cell},1\n").read_time(text) == moment
    rows = opened("time,a\n2024 31,1\n", time_format="%Y %d")
    assert rows.read_time("2024 30") == datetime(2024, 1, 30)
    moment = opened("time,a\n1700000000,1\n").read_time("1700000060")
    assert moment.timestamp() == 1_700_000_060
