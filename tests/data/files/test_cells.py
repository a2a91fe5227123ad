"""Numbers as people write them, and words for missing ones."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.files.cells import (
    MISSING,
    Marks,
    blank_missing,
    find_marks,
    guard,
    is_missing,
    is_number,
    is_signed,
    read_labels,
    read_numbers,
    show,
    unguard,
)

AMERICAN, GERMAN = Marks(".", ","), Marks(",", ".")

POINT: dict[str, float | None] = {
    "1": 1, "+2.5": 2.5, " 3 ": 3, ".5": 0.5, "5.": 5, "1e3": 1000, "-inf": -math.inf,
    "Infinity": math.inf, "TRUE": 1, "false": 0, "\u22124.5": -4.5, "45%": 45, "45.5 %": 45.5,
    "\u221245 %": -45, "1 234.5": 1234.5, "1\u202f234\u202f567": 1234567, "1\u00a0234": 1234,
    "1'234.5": 1234.5, "-1\u2019234": -1234, "12 345 %": 12345,
    # no thousands: groups of another length, other marks, currency
    "12 34": None, "1 2345": None, "1234 567": None, "0 123": None, "1 234'567": None, "$5": None,
    "5 EUR": None, "1.234.567": None, "1e400": None, "-1e400": None, "1_000": None, "%": None,
    "5%%": None, "1,5": None, "0x1": None, "on": None,
}  # fmt: skip


def test_a_number_is_read_however_people_write_it() -> None:
    for cell in POINT:
        numbers, bad = read_numbers(pl.Series(["7", cell, "NA"]))
        assert numbers.to_list() == [7, POINT[cell], None]
        assert bad == (1 if POINT[cell] is None else None)


def test_commas_stand_between_thousands_where_they_are_known_to() -> None:
    cells = pl.Series(["1,234", "-1,234,567.5", "12,34", "0,123", "1,5"])
    assert read_numbers(cells)[0].null_count() == 5
    found, bad = read_numbers(cells, AMERICAN)
    assert found.to_list() == [1234, -1234567.5, None, None, None]
    assert bad == 2


def test_points_stand_between_thousands_among_decimal_commas() -> None:
    cells = pl.Series(["1,5", "1.234,5", "1 234,5", "1.234", "1.234.567", "3,5 %", "1.5", "1,2,3"])
    found, bad = read_numbers(cells, GERMAN)
    assert found.to_list() == [1.5, 1234.5, 1234.5, 1234, 1234567, 3.5, None, None]
    assert bad == 6


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_as_python_writes_it(number: float) -> None:
    numbers, bad = read_numbers(pl.Series([repr(number), repr(number).replace("-", "\u2212", 1)]))
    assert bad is None
    assert numbers[0] == number
    assert is_number(repr(number))


@given(st.integers(-(10**15), 10**15), st.sampled_from([",", " ", "'"]))
def test_thousands_marks_change_nothing(number: int, mark: str) -> None:
    cell = f"{number:,}".replace(",", mark)
    assert read_numbers(pl.Series([cell]), AMERICAN)[0].to_list() == [number]
    assert is_number(cell)


def test_words_for_missing_are_missing_in_any_case() -> None:
    assert {"#n/a", "#n/a n/a", "#value!", "#div/0!", "<na>", "null", "missing", "--"} <= {*MISSING}
    for word in MISSING:
        assert is_missing(f" {word.upper()} ")
        numbers, bad = read_numbers(pl.Series([word, word.upper(), "1"]))
        assert bad is None
        assert numbers.fill_nan(None).to_list() == [None, None, 1]
        assert blank_missing(pl.Series([word.upper(), "x "])).to_list() == [None, "x"]
    assert not is_missing("0")


def test_a_null_cell_is_missing() -> None:
    assert read_numbers(pl.Series([None, "1"], dtype=pl.String))[1] is None


def test_cells_tell_which_mark_is_the_decimal_one() -> None:
    cases: list[Any] = [
        (["1,5"], ";", GERMAN), (["0,123"], ";", GERMAN), (["1.234,5"], ";", GERMAN),
        (["1 234,5"], ";", GERMAN), (["1,5", "1.234"], ";", GERMAN),
        (["\u22121,5 %"], ";", GERMAN), (["12,5"], ",", GERMAN),
        (["1.5"], ";", AMERICAN), (["1,234.5"], ";", AMERICAN),
        (["1,5", "2.5"], ";", AMERICAN), (["1,234", "2.5"], ";", AMERICAN),
        (["1,234,567"], ";", AMERICAN), (["1.234.567"], ";", GERMAN),
        # told by nothing but the separator
        (["1,234"], ";", GERMAN), (["1,234"], ",", AMERICAN),
        (["1,234", "1.234"], ";", Marks()), (["1", "x"], ";", Marks()),
        (["1", "x"], ",", AMERICAN),
    ]  # fmt: skip
    for cells, separator, marks in cases:
        assert find_marks(cells, separator) == marks


def test_other_cells_are_no_numbers() -> None:
    for cell in ["", "x", "%", "1 2", "12:30", "2024-01-01", "#1", "1-2"]:
        assert not is_number(cell)


def test_a_cell_is_shown_on_one_line_and_not_too_long() -> None:
    cell: Any = "a\n" * 50
    assert "\n" not in show(cell)
    assert len(show("x" * 99)) == 42


CELLS = st.text(st.sampled_from("'=+-@\t\r\n5.eE x\uff1dü"))


def test_a_formula_gets_an_apostrophe_and_a_number_none() -> None:
    cases: list[Any] = [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+a", "'+a"),
        ("-a", "'-a"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\ta", "'\ta"),
        ("\ra", "'\ra"),
        ("\uff1d1", "'\uff1d1"),
        ("'=a", "''=a"),
        ("-5", "-5"),
        ("+1.5e-3", "+1.5e-3"),
        ("-.5", "-.5"),
        ("-5a", "'-5a"),
        ("'quoted'", "'quoted'"),
        ("a=b", "a=b"),
        ("2026-01-01", "2026-01-01"),
    ]
    for text, written in cases:
        assert guard(pl.Series([text])).to_list() == [written]


def test_a_missing_cell_stays_missing() -> None:
    cells = pl.Series(["=a", None], dtype=pl.String)
    assert guard(cells).to_list() == ["'=a", None]
    assert unguard(cells).to_list() == ["=a", None]


@given(st.lists(CELLS, min_size=1))
def test_what_is_written_comes_back(cells: list[str]) -> None:
    written = guard(pl.Series(cells, dtype=pl.String))
    assert unguard(written).to_list() == cells


def test_words_and_numbers_are_labels() -> None:
    cases: list[Any] = [
        ["0", "1", "0"], ["no", "YES", "No"], ["normal", "Anomaly", "NORMAL"], [0, 1, 0],
        ["Normal", "A ttack", "normal"], ["False", "true", "false"], [False, True, False],
        [0.0, 1.0, 0.0], ["inlier", "outlier", "nominal"], ["benign", "abnormal", "0.0"],
    ]  # fmt: skip
    for cells in cases:
        column = pl.Series(cells)
        assert is_signed(column) is False
        assert read_labels(column, signed=False).to_list() == [0, 1, 0]
        assert read_labels(column, signed=False).dtype == pl.Int8


def test_minus_one_is_anomalous_beside_one() -> None:
    for cells in (["1", "-1"], [1, -1], ["1.0", "\u22121.0"]):
        assert is_signed(pl.Series(cells)) is True
        assert read_labels(pl.Series(cells), signed=True).to_list() == [0, 1]
    # among signs nothing says what nought would be
    assert read_labels(pl.Series(["0", "normal", "attack"]), signed=True).to_list() == [None, 0, 1]


def test_ones_alone_do_not_tell() -> None:
    for cells in (["1", "", None, "1.0"], [1, 1], [None, None], [""]):
        assert is_signed(pl.Series(cells, dtype=None)) is None


def test_what_is_no_label_is_null() -> None:
    assert read_labels(pl.Series(["", "2", "x", None, "-1"]), signed=False).null_count() == 5
