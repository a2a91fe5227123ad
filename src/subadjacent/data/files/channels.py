"""Which columns of a file are its channels: those of numbers, without any that are left out."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from subadjacent.data.files.blocks import Block
from subadjacent.data.files.cells import blank_missing, read_numbers
from subadjacent.data.names import ROW_NAMES, columns_named
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SHOWN = 6
"""Columns that a message names."""

TEXT = "it holds text"


def columns_of(file: str, columns: Sequence[str], names: Sequence[str], what: str) -> list[str]:
    """The columns that a user named, one or several with commas between them.

    Refuses a name that the file does not have, with the nearest it has; ``what`` says what the
    columns are for.
    """
    chosen: list[str] = []
    for name in names:
        # a name may have commas of its own
        candidates = [name] if name in columns else [piece.strip() for piece in name.split(",")]
        for candidate in filter(None, candidates):
            if candidate not in columns:
                raise InputError(
                    f"{file} must have the columns {what}; it has no {candidate!r}: "
                    f"{_nearest(candidate, columns)}"
                )
            chosen.append(candidate)
    return list(dict.fromkeys(chosen))


def without_numbers(sample: Block, columns: Sequence[str]) -> dict[str, str]:
    """The columns that hold no numbers, and what each holds instead.

    A column is text when fewer than half of the cells that hold something are numbers; otherwise
    it is one of numbers, and a cell that is none is for its reader to refuse.
    """
    import polars as pl

    reasons, flat = {}, set(sample.frame.columns)
    for column in columns:
        if column not in flat:
            reasons[column] = "it holds several values in each cell"
            continue
        cells = sample.frame[column]
        dtype = cells.dtype
        text = dtype in (pl.String, pl.Categorical, pl.Enum)
        if not (text or dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            reasons[column] = f"it holds {dtype}"
        elif not blank_missing(cells).count():
            reasons[column] = f"it is empty in the first {len(cells):,} rows"
        elif sample.holds_text(column):
            reasons[column] = TEXT
    return reasons


def row_numbers(sample: Block, columns: Sequence[str], unnamed: Collection[str]) -> dict[str, str]:
    """The columns that count the rows, and have a name that row numbers have, or none."""
    called, flat = columns_named(ROW_NAMES, columns), set(sample.frame.columns)
    counting = [
        column
        for column in columns
        if (column in called or column in unnamed)
        and column in flat
        and counts_rows(sample.frame[column])
    ]
    return dict.fromkeys(counting, "it counts the rows")


def counts_rows(column: pl.Series) -> bool:
    """Whether each number is one more than the one before it."""
    import polars as pl

    numbers, bad = read_numbers(column.cast(pl.String))
    steps = numbers.diff()[1:]
    return bad is None and len(steps) > 0 and bool((steps == 1).fill_null(False).all())


def refuse_none(sample: Block, left_out: Mapping[str, str]) -> None:
    """Refuse a file without channels; where its columns hold text, show a cell of each."""
    texts = [sample.first_text(column) for column, why in left_out.items() if why == TEXT]
    if texts:
        raise InputError(
            f"{sample.file} must have at least one column of numbers; "
            f"{some(texts, '; ')}: check the separator and the header"
        )
    raise InputError(
        f"{sample.file} must have at least one column of numbers beside time, entity and "
        f"label; it has none: add the measurements"
    )


def say_left_out(left_out: Mapping[str, str]) -> list[str]:
    """One note for all columns that are left out for one reason."""
    notes = []
    for why in dict.fromkeys(left_out.values()):
        columns = [repr(column) for column, reason in left_out.items() if reason == why]
        if len(columns) == 1:
            notes.append(f"column {columns[0]} is left out: {why}")
        else:
            reason_of_each = why.replace("it ", "each ", 1)
            notes.append(f"columns {some(columns)} are left out: {reason_of_each}")
    return notes


def some(names: Sequence[str], between: str = ", ") -> str:
    """The first of several names, for messages."""
    more = len(names) - SHOWN
    return between.join(names[:SHOWN]) + (f"{between}and {more} more" if more > 0 else "")


def _nearest(name: str, columns: Sequence[str]) -> str:
    by_case = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), by_case, n=3)
    if near:
        return "the nearest are " + ", ".join(repr(by_case[match]) for match in near)
    return f"it has {some([repr(column) for column in columns])}"
