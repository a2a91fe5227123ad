"""Where benchmark scripts and their reports are, and how tests read them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1] / "benchmarks"
REPORTS = FOLDER / "reports"
SCRIPTS = sorted(file.stem for file in FOLDER.glob("*.py"))

Load = Callable[[str], ModuleType]
Run = Callable[..., str]

# columns of a count of damaged files or folders that must be zero
BAD_OUTCOMES = ("not finite", "unhandled", "memory", "time", "crashed")


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def page_with(mark: str, folder: Path) -> Path:
    page = folder / "page.md"
    page.write_text(f"before\n<!-- {mark} -->\nold\n<!-- /{mark} -->\nafter\n", encoding="utf-8")
    return page
