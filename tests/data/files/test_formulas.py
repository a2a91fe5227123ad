"""Text that a spreadsheet would run: guarded in what is written, and back as it was."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.files.cells import guard, guard_name, unguard, unguard_name

CELLS = st.text(st.sampled_from("'=+-@\t\r\n5.eE x\uff1dü"))


@pytest.mark.parametrize(
    ("text", "written"),
    [
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
    ],
)
def test_a_formula_gets_an_apostrophe_and_a_number_none(text: str, written: str) -> None:
    assert guard(pl.Series([text])).to_list() == [written]
    assert guard_name(text) == written


def test_a_missing_cell_stays_missing() -> None:
    cells = pl.Series(["=a", None], dtype=pl.String)
    assert guard(cells).to_list() == ["'=a", None]
    assert unguard(cells).to_list() == ["=a", None]


@given(st.lists(CELLS, min_size=1))
def test_what_is_written_comes_back(cells: list[str]) -> None:
    written = guard(pl.Series(cells, dtype=pl.String))
    assert unguard(written).to_list() == cells
    assert [unguard_name(guard_name(cell)) for cell in cells] == cells
    assert [guard_name(cell) for cell in cells] == written.to_list()
