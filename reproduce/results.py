"""Results are CSV files: one file for each detector, one row for each run.

A row is on disk when ``add`` returns, and a file is never half-written: a process that is killed
loses the run that it was making, and nothing else.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reproduce.run import RETIRED, Run
from subadjacent.durable import whole_file
from subadjacent.errors import InputError

StoredRow = dict[str, str]

# columns that rows are sorted by, so that a new run changes one line of its file
ORDER = ("protocol", "dataset", "settings", "train_share", "per_entity", "score", "seed")
IDENTITY = ("key", "detector", "quick", *ORDER)
WAY_OUT = "mend it, or delete it and its runs are made again"


class Results:
    """The rows of all files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, StoredRow] = {}
        for file in sorted(folder.glob("*.csv")):
            self._rows |= _read(file)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, run: Run) -> bool:
        return run.key in self._rows

    def get(self, run: Run) -> StoredRow | None:
        """The row of a run, if it was made."""
        return self._rows.get(run.key)

    def value(self, run: Run, metric: str) -> float | None:
        """One number of a run, if it was made and has it."""
        text = (self.get(run) or {}).get(metric, "")
        try:
            return float(text) if text else None
        except ValueError as error:
            raise InputError(
                f"{metric} must be a number in {self._file(run)}, row {run.key}; got {text!r}"
            ) from error

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Runs without a row that can be made, each once."""
        return [
            run for run in dict.fromkeys(runs) if run not in self and run.detector not in RETIRED
        ]

    def datasets(self, *, quick: bool = False) -> set[str]:
        """Datasets that have rows."""
        return {row["dataset"] for row in self._rows.values() if row["quick"] == str(quick)}

    def hours(self) -> dict[str, float]:
        """Hours that all runs took, by hardware."""
        hours: dict[str, float] = {}
        for row in self._rows.values():
            seconds = float(row.get("seconds") or 0)
            name = row.get("hardware") or "unknown hardware"
            hours[name] = hours.get(name, 0) + seconds / 3600
        return hours

    def add(self, run: Run, measured: dict[str, Any]) -> None:
        """Write a run's row into its detector's file, in place of an older one."""
        row = (
            {"key": run.key}
            | _identity(run)
            | {name: _text(value) for name, value in measured.items()}
        )
        file = self._file(run)
        # another command may have added rows since
        if file.exists():
            self._rows |= _read(file)
        self._rows[run.key] = row
        same = [stored for stored in self._rows.values() if stored["detector"] == run.detector]
        _write(file, same)

    def _file(self, run: Run) -> Path:
        return self.folder / f"{run.detector}.csv"


def _identity(run: Run) -> StoredRow:
    facts = asdict(run) | {"settings": json.dumps(dict(run.settings))}
    return {name: _text(value) for name, value in facts.items()}


def _text(value: Any) -> str:
    # six digits are more than seeds agree on, and keep files readable
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _read(file: Path) -> dict[str, StoredRow]:
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            rows = list(reader)
            lacking = [name for name in IDENTITY if name not in (reader.fieldnames or ())]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file} must be a CSV file of results ({error}); {WAY_OUT}") from error
    if lacking:
        raise InputError(f"{file} must have a column {lacking[0]!r}; {WAY_OUT}")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values() or not row["key"]:
            raise InputError(
                f"{file}, line {number} must have a key and one value a column; {WAY_OUT}"
            )
    return {row["key"]: row for row in rows}


def _write(file: Path, rows: list[StoredRow]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with whole_file(file) as draft, draft.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: [row[name] for name in ORDER]))
