"""Some rows of a file: their places, the values of cells, and whether times increase."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.data.files.cells import (
    LABELS_SHOWN,
    POINTS,
    Marks,
    blank_missing,
    read_labels,
    read_numbers,
    show,
    unguard,
)
from subadjacent.errors import InputError

BLOCK_ROWS = 20_000
"""Rows that are read at a time when all are needed."""

MIDNIGHT = time()
"""The clock of dates that have none."""

HOUR = 3600
"""Seconds that clocks are put back by for winter."""


def is_numbers(dtype: pl.DataType) -> bool:
    """Whether cells of a type are numbers already, or all missing."""
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, with the line or row number of each."""

    frame: pl.DataFrame
    file: str
    rows: list[int] | range
    unit: str = "line"
    marks: Marks = POINTS

    def place(self, row: int) -> str:
        """The place of a row of the frame in the file, for messages."""
        return f"{self.file}, {self.unit} {self.rows[row]}"

    def without(self, words: Sequence[str]) -> Block:
        """A copy with cells emptied that hold one of some words, in any case.

        A word that is a number stands for that number, however a cell writes it.
        """
        if not words:
            return self
        blanked = [self._blank(column, words) for column in self.frame.get_columns()]
        return replace(self, frame=self.frame.with_columns(blanked))

    def holds_text(self, column: str) -> bool:
        """Whether fewer than half of the cells that hold something are numbers."""
        cells = self.frame[column]
        if is_numbers(cells.dtype):
            return False
        numbers, bad = self._read(cells)
        filled = blank_missing(cells).count()
        return bad is not None and 2 * numbers.fill_nan(None).count() < filled

    def first_text(self, column: str) -> str:
        """The first cell that is neither a number nor missing, and where it is."""
        cells = self.frame[column]
        row = self._read(cells)[1] or 0
        return f"{self.unit} {self.rows[row]}, column {column!r}, holds {show(cells[row])}"

    def numbers(self, column: str) -> pl.Series:
        """A column as floats; refuses a cell that is neither a number nor missing."""
        cells = self.frame[column]
        if is_numbers(cells.dtype):
            return cells.cast(pl.Float64)
        numbers, bad = self._read(cells)
        if bad is not None:
            raise InputError(
                f"{self.place(bad)}, column {column!r}, must hold a number of at most {LARGEST:g}, "
                f"or nothing where it is missing; it holds {show(cells[bad])}: correct it, leave "
                f"the column out (--ignore {column!r}), or let such cells count as missing "
                f"(--missing {show(str(cells[bad]).strip())})"
            )
        return numbers

    def _read(self, cells: pl.Series) -> tuple[pl.Series, int | None]:
        return read_numbers(cells.cast(pl.String), self.marks)

    def _blank(self, cells: pl.Series, words: Sequence[str]) -> pl.Series:
        lowered = [word.strip().lower() for word in words]
        values = read_numbers(pl.Series(lowered, dtype=pl.String))[0].drop_nulls().to_list()
        if cells.dtype.is_numeric():
            return cells.set(cells.cast(pl.Float64).is_in(values), None)
        if cells.dtype not in (pl.String, pl.Categorical, pl.Enum):
            return cells
        text = cells.cast(pl.String)
        matches = text.str.strip_chars().str.to_lowercase().is_in(lowered)
        return text.set(matches | self._read(text)[0].is_in(values), None)

    def entities(self, column: str) -> pl.Series:
        """A column as names of entities; refuses an empty cell."""
        names = unguard(self.frame[column].cast(pl.String)).str.strip_chars()
        empty = names.is_null() | (names == "")
        if empty.any():
            raise InputError(
                f"{self.place(int(empty.arg_max() or 0))}, column {column!r}, must name an entity; "
                f"it is empty: fill it in, or delete that row"
            )
        return names

    def labels(self, column: str, *, signed: bool) -> NDArray[np.int8]:
        """A column as labels, 1 for anomalous; refuses a cell that is not a label."""
        cells = self.frame[column]
        labels = read_labels(cells, signed=signed)
        if labels.null_count():
            row = int(labels.is_null().arg_max() or 0)
            raise InputError(
                f"{self.place(row)}, column {column!r}, must hold {LABELS_SHOWN}, since it is the "
                f"label; it holds {show(cells[row])}: correct it, or leave the column out "
                f"(--ignore {column!r})"
            )
        return labels.to_numpy()


class Source(ABC):
    """One file of a table; ``name`` is its name in messages.

    ``notes`` say what was found out about it; ``unnamed`` are columns that its header leaves empty.
    """

    columns: tuple[str, ...]
    schema: dict[str, Any]
    unnamed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    has_header = True

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name

    @classmethod
    @abstractmethod
    def accepts(cls, path: Path) -> bool:
        """Whether a file may be of this format."""

    @property
    @abstractmethod
    def length(self) -> int:
        """About how many rows there are."""

    @abstractmethod
    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        """All rows in order, at most ``rows`` at a time."""

    def sample(self, rows: int) -> Block:
        """The first rows, without columns of nested values; refuses a file that has none."""
        flat = tuple(name for name, dtype in self.schema.items() if not dtype.is_nested())
        for block in self.blocks(rows, flat):
            return block
        raise InputError(f"{self.name} must have rows of data; it has a header and nothing else")


class TimeOrder:
    """Checks that the times of each entity increase, from block to block."""

    def __init__(self, column: str, *, dated: bool = True) -> None:
        self._column, self._dated = column, dated
        # the last time of every entity so far
        self._last: pl.DataFrame | None = None

    def check(self, block: Block, times: pl.Series, entities: pl.Series | None) -> None:
        """Refuse a time that is not after the one before it."""
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

    def _refuse(self, block: Block, row: int, later: Any, before: Any, entity: Any) -> None:
        back = before - later
        seconds = back.total_seconds() if hasattr(back, "total_seconds") else None
        local = seconds is not None and later.tzinfo is None
        if not self._dated:
            later, before = later.time(), before.time()
            way_out = (
                "a clock without dates tells the times of one day only, so add a column of dates "
                "and name both as the time (date+time), or remove this column"
            )
        elif later == before and seconds is not None and later.time() == MIDNIGHT:
            way_out = (
                "if a clock stands in another column, name both as the time (date+time); else "
                "drop duplicates, or name the entity column if rows belong to several"
            )
        elif local and seconds is not None and 0 <= seconds <= HOUR and later.hour <= 3:
            way_out = (
                "if clocks were put back there for winter, write times in UTC or with their "
                "offset; else sort the rows by time and drop duplicates"
            )
        elif later == before:
            way_out = "drop duplicates, or name the entity column if rows belong to several"
        else:
            way_out = "sort the rows by time, or name the entity column if rows belong to several"
        of = "" if entity is None else f" of {entity!r}"
        raise InputError(
            f"{block.place(row)}, column {self._column!r}: times{of} must increase from row to "
            f"row; got {later} after {before}: {way_out}"
        )
