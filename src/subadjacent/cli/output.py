"""The output of all commands: results on standard output, remarks on standard error.

Nothing else in this folder writes to a stream: here names that came from outside are made safe.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from subadjacent.showing import in_json, visible

if TYPE_CHECKING:
    import polars as pl

STANDARD_STREAM = "-"
"""What stands for standard input or output in place of a file."""


class ListFormat(StrEnum):
    """How a list is printed."""

    table = "table"
    json = "json"
    csv = "csv"


def tell(text: str, *, quiet: bool = False) -> None:
    """A remark for people, on standard error; nothing if ``quiet``."""
    if not quiet:
        typer.echo(visible(text), err=True)


def print_text(text: str) -> None:
    """Lines for people on standard output."""
    typer.echo(visible(text))


def print_json(document: Any) -> None:
    """One JSON document on one line of standard output."""
    from subadjacent.data.documents import as_json

    typer.echo(in_json(json.dumps(as_json(document), ensure_ascii=False)))


def write_nowhere() -> None:
    """Discard further output when its reader has closed the pipe, without an error from Python."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_lines(documents: Iterable[str]) -> None:
    """Write JSON documents to standard output, one per line, without delay."""
    text = "".join(f"{document}\n" for document in documents)
    if text:
        sys.stdout.write(in_json(text))
        sys.stdout.flush()


def print_csv(text: str) -> None:
    """CSV on standard output: as it is for programs, safe to show on a terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


def put_table(table: pl.DataFrame, target: str) -> None:
    """Write a table to a CSV or Parquet file, or as CSV to standard output."""
    from subadjacent.workflow.writing import as_csv, write_table

    if target == STANDARD_STREAM:
        print_csv(as_csv(table))
    else:
        write_table(table, Path(target))


def print_list(rows: Sequence[dict[str, Any]], columns: Sequence[str], form: ListFormat) -> None:
    """One line for each: some columns as a table for people, or all as JSON objects or CSV."""
    if form is ListFormat.json:
        for row in rows:
            print_json(row)
    elif form is ListFormat.csv:
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows(row.values() for row in rows)
        print_csv(lines.getvalue())
    else:
        print_text(_table(rows, columns))


def _table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    cells = [tuple(columns), *(tuple(str(row[name]) for name in columns) for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns) - 1)]
    return "\n".join(
        "  ".join(
            [*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[-1]]
        )
        for line in cells
    )
