"""Numbers, times, axes and the held rows, in the browser that runs them."""

from __future__ import annotations

from typing import Any

import pytest

from service.page.browsing import CHROMIUM, Module

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

JAN = 1_767_225_600_000  # 2026-01-01T00:00:00Z
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@pytest.fixture(scope="module")
def written(module: Any) -> Module:
    found: Module = module("format.js")
    return found


@pytest.fixture(scope="module")
def axis(module: Any) -> Module:
    found: Module = module("axis.js")
    return found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (39_200, "39,200"),
        (0.01337, "0.01337"),
        (3.9, "3.9"),
        (-0.0, "0"),
        (12345.678, "12,346"),
        (100, "100"),
        (1e13, "1e+13"),
        (2.5e-9, "2.5e-9"),
        (None, "\N{EN DASH}"),
    ],
)
def test_numbers_are_written_as_people_do(written: Module, value: float, text: str) -> None:
    assert written("(m, value) => m.number(value ?? NaN)", value) == text


def test_numbers_along_an_axis_have_the_digits_in_which_they_differ(written: Module) -> None:
    assert written("m => m.along([0, 0.5, 1])") == ["0.0", "0.5", "1.0"]
    assert written("m => m.along([0, 20000, 40000])") == ["0", "20,000", "40,000"]
    assert written("m => m.along([5])") == ["5"]
    assert written("m => [2.345, 0.96, 123.4].map(m.severity)") == ["2.3", "1.0", "123"]


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-01-01T00:00:00Z", JAN),
        ("2026-01-01T01:00:00+01:00", JAN),
        ("2026-01-01T00:00:00", JAN),  # hours as the data has them, wherever the reader is
        ("2026-01-01 00:00", JAN),
        ("2026-01-01", JAN),
        # the service writes seconds since 1970 as dates: a counter is no date, however far it is
        (JAN, None),
        (123_456_789, None),
        (17, None),
        ("soon", None),
        ("2026-99-99T00:00", None),
        (None, None),
    ],
)
def test_times_are_read_however_they_are_written(written: Module, value: Any, time: Any) -> None:
    assert written("(m, value) => m.timeOf(value)", value) == time


def test_times_are_written_with_seconds_only_where_there_are_any(written: Module) -> None:
    assert written("(m, at) => m.moment(at)", JAN + 61_000) == "2026-01-01 00:01:01"
    assert written("(m, at) => m.moment(at)", JAN + 60_000) == "2026-01-01 00:01"
    assert written("m => m.moment(NaN)") == "\N{EN DASH}"
    assert written("(m, at) => m.place(at, 'time')", JAN) == "2026-01-01 00:00"
    kinds = written("m => ['number', 'row'].map(kind => m.place(1234.5, kind))")
    assert kinds == ["1234.5", "row 1,235"]
    assert written("m => [m.when('2026-01-01', 3), m.when(12, 12), m.when(12.5, 3)]") == [
        "2026-01-01 00:00",
        "row 12",
        "12.5",
    ]


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (6_960_000, "1 h 56 min"),
        (HOUR, "1 h"),
        (DAY + 2 * HOUR, "1 d 2 h"),
        (61_000, "1 min 1 s"),
        (59_000, "59 s"),
        (10, "under 1 s"),
    ],
)
def test_durations_have_their_two_largest_units(
    written: Module, milliseconds: int, text: str
) -> None:
    assert written("(m, long) => m.lasting(long)", milliseconds) == text


def test_ticks_of_values_are_round_and_few(axis: Module) -> None:
    assert axis("m => m.valueTicks(0, 10, 5)") == [
        [0, "0"], [2, "2"], [4, "4"], [6, "6"], [8, "8"], [10, "10"]
    ]  # fmt: skip
    assert axis("m => m.valueTicks(0.13, 0.31, 3).map(one => one[1])") == ["0.2", "0.3"]
    # at least two, though a finer step is needed for them
    assert axis("m => m.valueTicks(6, 14, 3).map(one => one[1])") == ["6", "8", "10", "12", "14"]
    assert axis("m => [m.niceStep(10, 5), m.niceStep(11, 5), m.niceStep(0, 5)]") == [2, 5, 1]


def test_limits_have_room_and_are_round(axis: Module) -> None:
    assert axis("m => m.roundLimits(0.3, 9.7)") == [-1, 11]
    assert axis("m => m.roundLimits(5, 5)") == [4.5, 5.5]
    assert axis("m => m.roundLimits(Infinity, -Infinity)") == [0, 1]


@pytest.mark.parametrize(
    ("span", "texts"),
    [
        (30 * 1000, ["01 Jan", "00:00:10", "00:00:20", "00:00:30"]),
        (4 * HOUR, ["01 Jan", "01:00", "02:00", "03:00", "04:00"]),
        (3 * DAY, ["01 Jan", "02 Jan", "03 Jan", "04 Jan"]),
        (120 * DAY, ["2026", "Feb", "Mar", "Apr", "May"]),
        (4 * 365 * DAY, ["2026", "2027", "2028", "2029"]),
    ],
)
def test_ticks_of_time_stand_at_round_times(axis: Module, span: int, texts: list[str]) -> None:
    found = axis("(m, from, to) => m.timeTicks(from, to, 5, 'time')", JAN, JAN + span)
    assert [text for _, text in found] == texts
    assert all(JAN <= at <= JAN + span for at, _ in found)


def test_ticks_of_rows_are_whole(axis: Module) -> None:
    found = axis("m => m.timeTicks(0, 3, 9, 'row')")
    assert [text for _, text in found] == ["0", "1", "2", "3"]
    assert axis("m => m.timeTicks(0, 1, 2, 'number').map(one => one[1])") == ["0.0", "0.5", "1.0"]
