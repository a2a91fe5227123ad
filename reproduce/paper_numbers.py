"""The numbers that the paper printed, read from ``published.toml``."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any


@lru_cache
def paper_tables() -> dict[str, Any]:
    """All tables of the paper: name of the table → group of numbers → columns and rows."""
    import tomllib

    text = (Path(__file__).parent / "published.toml").read_text("utf-8")
    return tomllib.loads(text)


def paper_value(table: str, group: str, row: str, column: str) -> float | None:
    """One number of the paper; None where the paper has a dash or no such cell."""
    numbers = paper_tables()[table].get(group)
    if numbers is None or row not in numbers["rows"] or column not in numbers["columns"]:
        return None
    value = float(numbers["rows"][row][numbers["columns"].index(column)])
    return None if math.isnan(value) else value
