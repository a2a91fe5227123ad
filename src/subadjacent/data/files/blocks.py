"""Some rows of a file: where each stands, what its cells hold, and whether its times increase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.files.formulas import unguard
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl

MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "?")
"""Words for a missing value, in lower case."""

MISSING_SHOWN = "empty, NA, N/A, NaN, null, None, - or ?"

LONGEST_QUOTE = 40
"""Characters of a cell that a message shows."""

HOUR = 3600
"""Seconds that clocks are put back by for winter."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, and where each of them stands in it."""

    frame: pl.DataFrame
    file: str
    rows: list[int] | range
    unit: str = "line"

    def place(self, row: int) -> str:
        """Where a row of the frame is, as messages say it."""
        return f"{self.file}, {self.unit} {self.rows[row]}"

    def numbers(self, column: str, *, decimal_comma: bool) -> pl.Series:
        """A column as floats; refuses a cell that is neither a number nor missing."""
        import polars as pl

        cells = self.frame[column]
        if cells.dtype != pl.String:
            return cells.cast(pl.Float64)
        numbers, bad = read_numbers(cells, decimal_comma=decimal_comma)
        if bad is not None:
            raise InputError(
                f"{self.place(bad)}, column {column!r}, must hold a number, or {MISSING_SHOWN} "
                f"where it is missing; it holds {show(cells[bad])}: "
                f"correct it, or remove the column"
            )
        return numbers

    def entities(self, column: str) -> pl.Series:
        """A column as names of entities; refuses an empty cell."""
        import polars as pl

        names = unguard(self.frame[column].cast(pl.String)).str.strip_chars()
        empty = names.is_null() | (names == "")
        if empty.any():
            raise InputError(
                f"{self.place(int(empty.arg_max() or 0))}, column {column!r}, must name an entity; "
                f"it is empty: fill it in, or delete that row"
            )
        return names

    def labels(self, column: str, *, decimal_comma: bool) -> NDArray[np.int8]:
        """A column as labels; refuses a cell that is neither 0 nor 1, true nor false."""
        import polars as pl

        cells = self.frame[column]
        numbers = (
            read_numbers(cells, decimal_comma=decimal_comma)[0]
            if cells.dtype == pl.String
            else cells.cast(pl.Float64, strict=False)
        )
        wrong = ~numbers.is_in((0.0, 1.0)).fill_null(False)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise InputError(
                f"{self.place(row)}, column {column!r}, must hold 0 or 1, or true or false, since "
                f"it is the label; it holds {show(cells[row])}: correct it, or rename the column"
            )
        return numbers.cast(pl.Int8).to_numpy()


def show(cell: Any) -> str:
    """A cell as messages quote it: on one line, and not too long."""
    text = str(cell)
    return repr(text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…")


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


class TimeOrder:
    """Checks that times increase from row to row, each entity for itself, from block to block."""

    def __init__(self, column: str) -> None:
        self._column = column
        # the last time of every entity so far
        self._last: pl.DataFrame | None = None

    def check(self, block: Block, times: pl.Series, entities: pl.Series | None) -> None:
        """Refuse a time that is not after the one before it."""
        import polars as pl

        names = pl.Series([None] * len(times), dtype=pl.String) if entities is None else entities
        rows = pl.DataFrame({"time": times, "entity": names}).with_row_index("row")
        last = rows.select("entity", last="time").clear() if self._last is None else self._last
        before = pl.col("time").shift(1).over("entity")
        rows = rows.join(
            last, on="entity", how="left", nulls_equal=True, maintain_order="left"
        ).with_columns(before=pl.coalesce(before, "last"))
        wrong = rows.filter(pl.col("time") <= pl.col("before"))
        if len(wrong):
            first = wrong.row(0, named=True)
            self._refuse(block, first["row"], first["time"], first["before"], first["entity"])
        latest = rows.select("entity", last="time")
        self._last = pl.concat([last, latest]).unique("entity", keep="last")

    def _refuse(self, block: Block, row: int, here: Any, before: Any, entity: Any) -> None:
        back = before - here
        seconds = back.total_seconds() if hasattr(back, "total_seconds") else None
        local = seconds is not None and here.tzinfo is None
        if local and seconds is not None and 0 <= seconds <= HOUR and here.hour <= 3:
            way_out = (
                "if clocks were put back there for winter, write times in UTC or with their "
                "offset; else sort the rows by time and drop duplicates"
            )
        elif here == before:
            way_out = "drop duplicates, or name the entity column if rows belong to several"
        else:
            way_out = "sort the rows by time, or name the entity column if rows belong to several"
        of = "" if entity is None else f" of {entity!r}"
        raise InputError(
            f"{block.place(row)}, column {self._column!r}: times{of} must increase from row to "
            f"row; got {here} after {before}: {way_out}"
        )
