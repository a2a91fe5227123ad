"""Where a table begins, what separates its cells, and what its columns are called."""

from __future__ import annotations

from typing import Any

import pytest

from subadjacent.data.files.table_layout import find_layout
from subadjacent.errors import InputError

ROWS = "2024-01-01,1,2\n2024-01-02,3,4\n"


def test_a_plain_table_by_hand() -> None:
    layout = find_layout("time,a,\n" + ROWS, "x.csv")
    assert (layout.separator, layout.columns) == (",", ("time", "a", "column_3"))
    assert layout.unnamed == {"column_3"}
    assert (layout.has_header, layout.named_by, layout.first_line) == (True, 1, 2)
    assert (layout.marks, layout.notes) == ((".", ","), ())


def test_the_header_is_the_fullest_line_above_the_rows() -> None:
    cases: list[Any] = [
        ("", 1, 2, ()),
        ("\n\n", 3, 4, ()),
        ("Plant A\n", 2, 3, ("line 1 above the header is left out",)),
        ("Plant A, hall 2\nof 2024\n\n", 4, 5, ("lines 1 to 2 above the header are left out",)),
        ("Station,42\n", 2, 3, ("line 1 above the header is left out",)),
        (",P1,\n", 2, 3, ("line 1 above the header is left out",)),
        ("# by me\n#group,x,y\n", 3, 4, ("lines that begin with # are left out",)),
    ]
    for head, header, first, said in cases:
        layout = find_layout(head + "time,a,b\n" + ROWS, "x.csv")
        assert layout.columns == ("time", "a", "b")
        assert (layout.named_by, layout.first_line, layout.notes) == (header, first, said)


def test_lines_of_words_where_rows_have_numbers_are_units() -> None:
    cases: list[Any] = [
        ("s,m/s,°C\n", 3, "line 2 below the header is left out: no numbers"),
        (",m/s,%\n", 3, "line 2 below the header is left out: no numbers"),
        ("TS,m/s,°C\n,Avg,Smp\n", 4, "lines 2 to 3 below the header are left out: no numbers"),
        # a third one is no unit any more, and missing values and names of entities are none
        ("x,y,z\nx,y,z\nx,y,z\n", 4, "lines 2 to 3 below the header are left out: no numbers"),
        ("NA,NA,NA\n", 2, ""),
        ("?,,\n", 2, ""),
    ]
    for below, first, said in cases:
        layout = find_layout("time,a,b\n" + below + ROWS, "x.csv")
        assert (layout.named_by, layout.first_line) == (1, first)
        assert layout.notes == ((said,) if said else ())


def test_an_entity_with_nothing_measured_is_no_line_of_units() -> None:
    assert find_layout("id,a\npump,\npump,1\n", "x.csv").first_line == 2
    assert find_layout("id,a\npump,x\npump,y\n", "x.csv").first_line == 2


def test_a_first_line_of_values_is_a_row() -> None:
    for text in ["1,2\n3,4\n", "2024-01-01,2\n2024-01-02,3\n", "12:30,5\n12:31,6\n", "45%,1 234\n"]:
        layout = find_layout(text, "x.csv")
        assert (layout.has_header, layout.first_line) == (False, 1)
        assert layout.columns == ("column_1", "column_2")


def test_names_may_be_numbers_below_a_title_too() -> None:
    for title, line in (("", 1), ("Plant\n", 2)):
        layout = find_layout(title + "time,1,2\n" + ROWS, "x.csv")
        assert (layout.columns, layout.named_by) == (("time", "1", "2"), line)


def test_the_last_comment_is_the_header_where_no_other_line_is() -> None:
    layout = find_layout("# made by me\n# a,b\n1,2\n3,4\n", "x.csv")
    assert (layout.columns, layout.named_by, layout.first_line) == (("a", "b"), 2, 3)
    assert layout.notes[-1] == "line 2 is the header, though it begins with #"
    assert find_layout("# a,b,c\n1,2\n3,4\n", "x.csv").columns == ("column_1", "column_2")
    assert find_layout("# 1,2\n1,2\n3,4\n", "x.csv").columns == ("column_1", "column_2")


def test_a_line_with_as_many_cells_is_a_row_below_the_header_whatever_it_begins_with() -> None:
    layout = find_layout("id,a\n#1,2\n#1,3\n", "x.csv")
    assert not layout.is_comment("#1,2")
    assert layout.is_comment("# pump changed")
    assert not layout.is_comment("pump changed")
    assert layout.notes == ()
    assert find_layout("a,b\n#N/A,2\n1,2\n", "x.csv").first_line == 2
    assert not layout.is_comment("#N/A")


def test_the_separator_cuts_most_lines_into_as_many_cells() -> None:
    cases: list[Any] = [
        ("a,b\n1,2\n", ","), ("a;b\n1,5;2\n", ";"), ("a\tb\n1\t2\n", "\t"), ("a|b\n1|2\n", "|"),
        ("a b\n1  2\n", " "), ("  1 2   3\n 1 2 3  \n", " "), ("a\n1\n", ","),
        ("water level\n1\n2\n", ","), ('"x;y",b\n1,2\n', ","), ("Plant; A\na,b\n1,2\n3,4\n", ","),
    ]  # fmt: skip
    for text, separator in cases:
        assert find_layout(text, "x.csv").separator == separator


def test_a_header_in_quotes_may_run_over_lines() -> None:
    layout = find_layout('"a\nin m","b"\n1,2\n3,4\n', "x.csv")
    assert (layout.columns, layout.named_by, layout.first_line) == (("a\nin m", "b"), 1, 3)


def test_a_name_twice_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match="every column once; line 2 has 'a' more than once"):
        find_layout("Plant\na,b,a\n1,2,3\n4,5,6\n", "x.csv")
