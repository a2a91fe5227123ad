"""A table as data: cells with what we measured, and what the paper printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

PERCENT = 100.0
# why a cell may be empty: the dataset is not there; it is, but the run was not made
NOT_HERE, NOT_RUN = "no data", "not run"


@dataclass(frozen=True, slots=True)
class Cell:
    """One value a seed, what the paper has there, and why there is no value if there is none."""

    values: tuple[float, ...] = ()
    paper: float | None = None
    missing: str = ""
    digits: int = 1

    @property
    def mean(self) -> float:
        """Over the seeds; nan without any."""
        return float(np.mean(self.values)) if self.values else math.nan

    @property
    def spread(self) -> float:
        """Standard deviation over the seeds; nan with fewer than two."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else math.nan


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows and columns of cells, with a title and what a reader must know.

    Parameters
    ----------
    name
        For files: letters, digits and dashes.
    title
        A sentence that says what is measured, and how.
    corner
        What the rows' labels are.
    columns
        One label a column.
    rows
        A label and one cell a column.
    notes
        Sentences below the table.
    """

    name: str
    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    notes: tuple[str, ...] = ()


@lru_cache
def paper_tables() -> dict[str, Any]:
    """Every number that the paper's tables hold."""
    import tomllib

    text = files("subadjacent.experiments").joinpath("published.toml").read_text("utf-8")
    return tomllib.loads(text)


def paper_value(table: str, group: str, row: str, column: str) -> float | None:
    """One number of the paper's, or None where it has none."""
    found = paper_tables()[table].get(group)
    if found is None or row not in found["rows"] or column not in found["columns"]:
        return None
    value = float(found["rows"][row][found["columns"].index(column)])
    return None if math.isnan(value) else value
