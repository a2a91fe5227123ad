"""Limits on the rows and columns of a request, ignored columns included."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterable
from pathlib import Path

from subadjacent.data.files.columnar import ColumnarFile
from subadjacent.data.files.opening import open_bytes
from subadjacent.data.files.table_layout import SEPARATORS
from subadjacent.errors import InputError
from subadjacent.service.problems import Refusal

OTHER_COLUMNS = 100
"""Columns of a request beyond the channels of a series: times, labels, ignored ones."""

OTHER_LINES = 1_000
"""Lines of a file that are not rows: titles, comments, empty lines."""

MAX_FITTED_ROWS = 10_000_000
"""Rows of a file to fit on: those of ten channels fill 800 MB."""

MAX_CELLS = 20_000_000
"""Rows times columns of a JSON body: 160 MB of numbers. Missing values count: a small body may have
many of them."""


def max_columns(channels: int) -> int:
    """The most columns of a request, given the most channels of a series."""
    return channels + OTHER_COLUMNS


def check_cells(rows: int, columns: int, most: int) -> None:
    """Refuse rows of JSON that are too wide, or too many for their width."""
    _check_columns(columns, most)
    if rows * columns > MAX_CELLS:
        raise Refusal(
            413,
            f"a request may have {MAX_CELLS:,} values, missing ones too; this one has "
            f"{rows:,} rows of {columns:,}: send it in parts",
        )


def check_table(path: Path, *, max_rows: int, max_columns: int) -> None:
    """Refuse a CSV or Parquet file that is too wide or too long, before it is read.

    Every column costs a millisecond to read, and a few compressed kilobytes may hold more rows
    than fit into memory.
    """
    import polars as pl

    if ColumnarFile.accepts(path):
        try:
            file = ColumnarFile(path, "the body")
        except (InputError, pl.exceptions.PolarsError):
            # damaged: the reader says so
            return
        _check_columns(len(file.columns), max_columns)
        _check_rows(file.length, max_rows)
        return
    try:
        with open_bytes(path, "the body") as lines:
            _check_lines(lines, max_rows, max_columns)
    except (EOFError, OSError, lzma.LZMAError, zlib.error):
        # damaged, too
        return


def _check_lines(lines: Iterable[bytes], max_rows: int, max_columns: int) -> None:
    for number, line in enumerate(lines):
        # a shorter line cannot have too many cells
        if len(line) > max_columns:
            marks = max(line.count(separator.encode()) for separator in SEPARATORS)
            _check_columns(max(marks + 1, len(line.split())), max_columns)
        _check_rows(number - OTHER_LINES, max_rows)


def _check_rows(count: int, most: int) -> None:
    if count > most:
        raise Refusal(413, f"a request may hold {most:,} rows; this one has more: send it in parts")


def _check_columns(count: int, most: int) -> None:
    if count > most:
        raise Refusal(
            413,
            f"rows may have {most:,} columns; these have {count:,}: send those that you need",
        )
