"""Text of CSV files that a spreadsheet would run as a formula, such as an entity ``=cmd|…``.

As OWASP advises, an apostrophe is written before it, which spreadsheets take for "this is text".
Reading takes the apostrophe away again, so that what we wrote comes back as it was: a name that
has such apostrophes itself gets one more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# what begins a formula, behind any number of apostrophes; some programs take the wide forms of the
# four marks for the marks
_START = "[=+\\-@\t\r\uff0b\uff0d\uff1d\uff20]"
# -5 and +1.5e3 are numbers and no formulas
_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def guard(cells: pl.Series) -> pl.Series:
    """Text with an apostrophe before each cell that a spreadsheet would run."""
    formula = cells.str.contains(f"^'*{_START}") & ~cells.str.contains(f"^{_NUMBER}$")
    return ("'" + cells).zip_with(formula.fill_null(False), cells)


def unguard(cells: pl.Series) -> pl.Series:
    """The inverse of ``guard``."""
    return cells.str.replace(f"^'('*{_START})", "${1}")


def guard_name(name: str) -> str:
    """Do as ``guard`` for the name of a column."""
    formula = re.match(f"'*{_START}", name) and not re.fullmatch(_NUMBER, name)
    return f"'{name}" if formula else name


def unguard_name(name: str) -> str:
    """The inverse of ``guard_name``."""
    return re.sub(f"^'('*{_START})", r"\1", name)
