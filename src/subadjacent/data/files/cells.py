"""Cells of a table as text → numbers; what counts as missing, and how a cell is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "?")
"""Words for a value that is not there, in lower case."""

MISSING_SHOWN = "empty, NA, N/A, NaN, null, None, - or ?"

LONGEST = 40


def show(cell: Any) -> str:
    """A cell as messages quote it: on one line, and not too long."""
    text = str(cell)
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def is_missing(cell: str) -> bool:
    """Whether a cell holds one of the words for missing."""
    return cell.strip().lower() in MISSING


def blank_missing(cells: pl.Series) -> pl.Series:
    """Text without surrounding spaces, and null where it is a word for missing."""
    import polars as pl

    bare = cells.cast(pl.String).str.strip_chars()
    return bare.set(bare.str.to_lowercase().is_in(MISSING), None)


def read_numbers(cells: pl.Series, *, decimal_comma: bool = False) -> tuple[pl.Series, int | None]:
    """Text as floats, and the place of the first cell that is neither number nor missing.

    ``true`` and ``false`` are 1 and 0. Where commas are decimal marks a point is refused, since
    it would stand between thousands.
    """
    import polars as pl

    bare = cells.str.strip_chars()
    if decimal_comma:
        pointed = bare.str.contains(".", literal=True).fill_null(False)
        bare = bare.set(pointed, "a decimal point").str.replace(",", ".", literal=True)
    numbers = bare.cast(pl.Float64, strict=False)
    if numbers.null_count() == cells.null_count():
        return numbers, None
    rest = bare.str.to_lowercase()
    for word, value in (("true", 1.0), ("false", 0.0)):
        numbers = numbers.set((rest == word).fill_null(False), value)
    # "-" has been missing all along; a null cell is missing as well
    bad = numbers.is_null() & ~rest.fill_null("").is_in(MISSING)
    return numbers, bad.arg_max() if bad.any() else None
