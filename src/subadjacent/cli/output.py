"""What commands print: results on standard output, as JSON or CSV."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import polars as pl

STANDARD_OUTPUT = "-"


def print_json(document: Any) -> None:
    """One JSON document on one line of standard output."""
    from subadjacent.workflow.tables import as_json

    typer.echo(json.dumps(as_json(document), ensure_ascii=False))


def put_table(table: pl.DataFrame, target: str) -> None:
    """Write a table to a CSV or Parquet file, or as CSV to standard output."""
    from subadjacent.workflow.writing import write_table

    if target == STANDARD_OUTPUT:
        sys.stdout.write(table.write_csv())
    else:
        write_table(table, Path(target))
