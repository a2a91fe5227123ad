"""Results are files: one CSV a detector, a row a run.

A row is on disk when ``add`` returns, and a file is never half-written: a kill between two runs
loses nothing, a kill in a run loses that run.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from subadjacent.errors import InputError
from subadjacent.experiments.run import Run

Row = dict[str, str]

# how rows are ordered in a file, so that one more run changes one line of it
ORDER = ("protocol", "dataset", "settings", "train_share", "per_entity", "score", "seed")
IDENTITY = ("key", "detector", "quick", *ORDER)
WAY_OUT = "mend it, or delete it and its runs are made again"


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
        try:
            return float(found) if found else None
        except ValueError as error:
            raise InputError(
                f"{metric} must be a number in {self._file(run)}, row {run.key}; got {found!r}"
            ) from error

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Those without a row, each once."""
        return [run for run in dict.fromkeys(runs) if run not in self]

    def datasets(self, *, quick: bool = False) -> set[str]:
        """Those that any run was made on."""
        return {row["dataset"] for row in self._rows.values() if row["quick"] == str(quick)}

    def hours(self) -> dict[str, float]:
        """How long all runs took, by what they were made on."""
        found: dict[str, float] = {}
        for row in self._rows.values():
            seconds = float(row.get("seconds") or 0)
            name = row.get("hardware") or "unknown hardware"
            found[name] = found.get(name, 0) + seconds / 3600
        return found

    def add(self, run: Run, found: dict[str, Any]) -> None:
        """Write a run's row into its detector's file, in place of an older one."""
        row = {"key": run.key} | _identity(run) | {name: _text(one) for name, one in found.items()}
        file = self._file(run)
        # another command may have added rows since
        if file.exists():
            self._rows |= _read(file)
        self._rows[run.key] = row
        same = [one for one in self._rows.values() if one["detector"] == run.detector]
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(file, same)

    def _file(self, run: Run) -> Path:
        return self.folder / f"{run.detector}.csv"


def _identity(run: Run) -> Row:
    facts = asdict(run) | {"settings": json.dumps(dict(run.settings))}
    return {name: _text(value) for name, value in facts.items()}


def _text(value: Any) -> str:
    # six digits are more than seeds agree on, and keep files readable
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _read(file: Path) -> dict[str, Row]:
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


def _write(file: Path, rows: list[Row]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    # one name for it: what a kill leaves behind is written over, not added to
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        with unfinished.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: [row[name] for name in ORDER]))
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
