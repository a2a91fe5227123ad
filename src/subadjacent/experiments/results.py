"""Results are files: one CSV a detector, a row a run."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from subadjacent.errors import InputError
from subadjacent.experiments.run import Run

Row = dict[str, str]

# how rows are ordered in a file, so that one more run changes one line of it
ORDER = ("protocol", "dataset", "settings", "train_share", "per_entity", "score", "seed")


class Results:
    """The rows under a folder; what is added is on disk, whole, when ``add`` returns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, Row] = {}
        for file in sorted(folder.glob("*.csv")):
            self._rows |= _read(file)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, run: Run) -> bool:
        return run.key in self._rows

    def get(self, run: Run) -> Row | None:
        """The row of a run, if it was made."""
        return self._rows.get(run.key)

    def value(self, run: Run, metric: str) -> float | None:
        """One number of a run, if it was made and has it."""
        found = (self.get(run) or {}).get(metric, "")
        return float(found) if found else None

    def add(self, run: Run, found: dict[str, Any]) -> None:
        """Write a run's row into its detector's file, in place of an older one."""
        row = {"key": run.key} | _identity(run) | {name: _text(one) for name, one in found.items()}
        self._rows[run.key] = row
        same = [one for one in self._rows.values() if one["detector"] == run.detector]
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self.folder / f"{run.detector}.csv", same)


def _identity(run: Run) -> Row:
    facts = asdict(run) | {"settings": json.dumps(dict(run.settings))}
    return {name: _text(value) for name, value in facts.items()}


def _text(value: Any) -> str:
    # six digits are more than seeds agree on, and keep files readable
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _read(file: Path) -> dict[str, Row]:
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values() or not row.get("key"):
            raise InputError(
                f"{file}, line {number} must have a key and one value a column; mend or delete it"
            )
    return {row["key"]: row for row in rows}


def _write(file: Path, rows: list[Row]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with unfinished.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: [row[name] for name in ORDER]))
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
