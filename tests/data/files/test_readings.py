"""One reading for all rows of all files, or a question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from subadjacent.data.files import Columns, Rows, open_files
from subadjacent.data.files.readings import BLOCK_ROWS
from subadjacent.errors import InputError

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def moments(start: datetime, count: int, step: timedelta) -> list[datetime]:
    return [start + number * step for number in range(count)]


@pytest.fixture
def opened(tmp_path: Path):  # type: ignore[no-untyped-def]
    def load(*files: Sequence[str], header: str = "time,a", **columns: str) -> Rows:
        paths = []
        for number, cells in enumerate(files):
            path = tmp_path / f"{number}.csv"
            path.write_text(header + "\n" + "".join(f"{cell},1\n" for cell in cells))
            paths.append(str(path))
        return open_files(paths, Columns(**columns))

    return load


def written(times: Sequence[datetime], layout: str) -> list[str]:
    return [time.strftime(layout) for time in times]


def times(rows: Rows) -> list[Any]:
    return rows.whole().frame["timestamp"].to_list()


def asked(*files: Sequence[str], opened: Any, **columns: str) -> str:
    with pytest.raises(InputError) as caught:
        opened(*files, **columns)
    return str(caught.value)


def test_one_late_cell_decides_for_all_rows(opened: Any) -> None:
    """The first block leaves it open: all days of a year up to the twelfth, many times over."""
    rows = range(BLOCK_ROWS + 2_000)
    minutes = [datetime(2024, 1, 1) + number * timedelta(seconds=40) for number in rows]
    assert minutes[-1].day == 11
    cells = [*written(minutes, "%d/%m/%Y %H:%M:%S"), "31/01/2024 00:00:00"]
    rows = opened(cells)
    assert times(rows) == [*minutes, datetime(2024, 1, 31)]
    (note,) = rows.notes
    assert note == "column 'time' is the time (found): dates without a time zone, day first"
    # and without it there is a question
    assert "must be readable as a time in one way" in asked(cells[:-1], opened=opened)


def test_two_readings_that_both_increase_are_shown(opened: Any) -> None:
    cells = ["01/01/2024 00:00", "01/01/2024 12:00", "02/01/2024 00:00", "03/01/2024 00:00"]
    assert asked(cells, opened=opened).endswith(
        "0.csv, line 4, column 'time', must be readable as a time in one way; '02/01/2024 00:00' "
        "is 2024-01-02 00:00:00 (day first) or 2024-02-01 00:00:00 (month first), and the times "
        "of all rows increase both ways: give time_format='%d/%m/%Y %H:%M' or "
        "time_format='%m/%d/%Y %H:%M'"
    )


def test_the_only_reading_that_increases_is_taken(opened: Any) -> None:
    for layout, kind, other in [
        ("%d/%m/%Y", "day first", "month first"),
        ("%m-%d-%Y", "month first", "day first"),
    ]:
        days = [
            datetime(2024, 1, 8),
            datetime(2024, 1, 9),
            datetime(2024, 2, 1),
            datetime(2024, 2, 2),
        ]
        rows = opened(written(days, layout))
        assert times(rows) == days
        assert rows.notes[0].endswith(f", {kind} (times would not increase with the {other})")


def test_readings_that_increase_neither_way_are_shown(opened: Any) -> None:
    message = asked(["02/01/2024", "01/02/2024", "01/01/2024"], opened=opened)
    assert "and the times of all rows increase neither way: give time_format=" in message


def test_readings_that_do_not_differ_are_one(opened: Any) -> None:
    hours = moments(datetime(2024, 1, 1), 24, HOUR)
    assert times(opened(written(hours, "%d/%m/%Y %H:%M"))) == hours


def test_short_years_have_three_readings(opened: Any) -> None:
    hours = moments(datetime(2014, 6, 1), 24 * 14, HOUR)
    assert times(opened(written(hours, "%m/%d/%y %H"))) == hours
    # the years tell: 13 is no month, and with it first 06 would be the year
    message = asked(["06/01/14 00", "06/02/14 00"], opened=opened)
    assert "2014-01-06 00:00:00 (day first) or 2014-06-01 00:00:00 (month first)" in message
    assert "time_format='%d/%m/%y %H' or time_format='%m/%d/%y %H'" in message


def test_a_reading_that_does_not_increase_is_not_asked_about(opened: Any) -> None:
    message = asked(["01/02/05", "02/01/05"], opened=opened)
    assert "(month first) or 2001-02-05 00:00:00 (two-digit year first), and" in message
    assert "day first" not in message.replace("month first", "")


def test_readings_are_compared_entity_by_entity(opened: Any) -> None:
    days = [datetime(2024, 1, 9), datetime(2024, 1, 10), datetime(2024, 2, 1)]
    cells = [f"{cell},{name}" for name in "xy" for cell in written(days, "%d/%m/%Y")]
    rows = opened(cells, header="time,item_id,a")
    assert times(rows) == days * 2
    assert opened(cells, header="time,machine,a", entity="machine").whole().frame.height == 6


def test_a_cell_that_no_reading_takes_is_named(opened: Any) -> None:
    cells = [*written(moments(datetime(2024, 1, 1), 5, DAY), "%d/%m/%Y"), "01.13.2024"]
    message = asked(cells, opened=opened)
    assert "line 7, column 'time', must have times such as" in message
    assert "it holds '01.13.2024': correct it, or name another column" in message


def test_the_reading_that_goes_furthest_names_the_cell(opened: Any) -> None:
    many = ["01/02/2024"] * 1_000
    message = asked([*many, "01/31/2024", "31/01/2024", "30/01/2024"], opened=opened)
    assert "line 1003, column 'time', must have times such as" in message
    assert "all written alike (month first); it holds '31/01/2024'" in message


def test_one_file_tells_what_another_leaves_open(opened: Any) -> None:
    first, second = moments(datetime(2024, 1, 1), 12, DAY), moments(datetime(2024, 1, 13), 5, DAY)
    files = [written(days, "%d/%m/%Y") for days in (first, second)]
    assert times(opened(*files)) == first + second
    assert "must be readable as a time in one way" in asked(files[0], opened=opened)


def test_files_that_leave_it_open_alone_may_decide_together(opened: Any) -> None:
    # each in one month: both readings of either increase, but not from one file to the next
    first, second = moments(datetime(2024, 1, 8), 3, DAY), moments(datetime(2024, 2, 1), 3, DAY)
    files = [written(days, "%d/%m/%Y") for days in (first, second)]
    assert times(opened(*files)) == first + second
    assert "both ways" in asked(files[0], opened=opened)


def test_files_that_have_no_reading_in_common_are_read_apart(opened: Any) -> None:
    first, second = moments(datetime(2024, 1, 13), 5, DAY), moments(datetime(2024, 2, 13), 5, DAY)
    rows = opened(written(first, "%d/%m/%Y"), written(second, "%Y-%m-%d"))
    assert times(rows) == first + second
    other = opened(written(first, "%d/%m/%Y"), written(second, "%m/%d/%Y %H:%M:%S.0000000"))
    assert times(other) == first + second


def test_files_of_one_layout_may_be_written_more_or_less_finely(opened: Any) -> None:
    first, second = moments(datetime(2024, 1, 8), 3, DAY), moments(datetime(2024, 2, 1), 3, DAY)
    fine = written(second, "%d/%m/%Y 00:00:00.000000000")
    assert times(opened(written(first, "%d/%m/%Y"), fine)) == first + second


# digits


def test_digits_are_dates_where_every_row_is_one(opened: Any) -> None:
    days = moments(datetime(2020, 1, 1), 1_500, DAY)
    rows = opened(written(days, "%Y%m%d"))
    assert times(rows) == days
    assert "since every row is one when read like 20240131" in rows.notes[0]


def test_a_counter_that_begins_like_dates_is_a_counter(opened: Any) -> None:
    days = written(moments(datetime(2020, 1, 1), 1_500, DAY), "%Y%m%d")
    rows = opened([*days, "20240399"])
    assert times(rows) == [*map(int, days), 20_240_399]
    assert "the time (found): a counter, not dates, since '20240399' (" in rows.notes[0]
    assert rows.notes[0].endswith("0.csv, line 1502) is no date")
    assert times(opened(map(str, range(20_240_101, 20_240_601))))[-1] == 20_240_600


def test_digits_of_several_files_count_where_one_of_them_does(opened: Any) -> None:
    assert times(opened(["20240101", "20240102"], ["20240199"])) == [20240101, 20240102, 20240199]


def test_digits_without_a_name_are_dates_in_the_first_column_of_a_bare_file(opened: Any) -> None:
    days = moments(datetime(2020, 1, 1), 40, DAY)
    assert times(opened(written(days, "%Y%m%d"), header="")) == days
    # a name that does not say so leaves them a channel
    assert opened(written(days, "%Y%m%d"), header="reading,a").time is None
