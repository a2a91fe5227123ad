"""The command, run on the file of a case, and what it found beside what was planted."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from examples.gallery.case import SEED, Case, Drawn, Planted

import subadjacent
from subadjacent.cli.main import run as command
from subadjacent.data.files import Columns, FileRows, open_files
from subadjacent.detectors.assessment import Assessment

# rows beside a planted event in which an alarm still counts as right, as in `evaluate`
MARGIN = 5
# share of the rows that `detect` fits on, by default
FITTED = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a case: the command line, what it said, its alarms, and the assessment."""

    case: Case
    drawn: Drawn
    line: str
    said: str
    alarms: list[dict[str, Any]]
    assessment: Assessment

    def alarms_on(self, planted: Planted) -> list[int]:
        """The numbers of the alarms that touch something planted, from 1."""
        return [
            number
            for number, alarm in enumerate(self.alarms, 1)
            if alarm["entity"] == planted.entity and touches(alarm, planted)
        ]

    def planted_at(self, alarm: dict[str, Any]) -> list[Planted]:
        """What was planted where an alarm is."""
        return [
            planted
            for planted in self.drawn.planted
            if alarm["entity"] == planted.entity and touches(alarm, planted)
        ]

    @property
    def found(self) -> int:
        """How much of what was planted an alarm touches."""
        return sum(bool(self.alarms_on(planted)) for planted in self.drawn.planted)

    @property
    def false(self) -> int:
        """How many alarms touch nothing planted."""
        return sum(not self.planted_at(alarm) for alarm in self.alarms)

    def fitted_rows(self, entity: str | None) -> int:
        """How many rows of a series were fitted on: the first ones."""
        return int(FITTED * len(self.assessment.series[self.number(entity)]))

    def number(self, entity: str | None) -> int:
        """The place of a series in the assessment."""
        return [one.entity for one in self.assessment.series].index(entity)

    def time(self, row: int, entity: str | None) -> str:
        """The time of a row, without seconds if it is a date: rows are minutes apart at least."""
        label = self.assessment.series[self.number(entity)].label(row)
        return f"{label:%Y-%m-%d %H:%M}" if isinstance(label, datetime) else str(label)


def touches(alarm: dict[str, Any], planted: Planted) -> bool:
    """Whether the rows of an alarm meet those of something planted, or almost."""
    return alarm["first"] <= planted.last + MARGIN and alarm["last"] >= planted.first - MARGIN


def run_case(case: Case, folder: Path, seed: int = SEED) -> Outcome:
    """Write the file of a case into a folder, and run ``subadjacent detect`` on it there."""
    drawn = case.draw(seed)
    (folder / case.file).write_text(drawn.text, encoding=drawn.encoding)
    words = ["subadjacent", "detect", case.file, *case.options]
    alarms, said = _run(words, folder)
    found = folder / f"{case.name}-anomalies"
    rows = _read(folder / case.file, case.options)
    assessment = subadjacent.load(found / "model").assess(rows.frame)
    return Outcome(
        case,
        drawn,
        f"{' '.join(words)} > alarms.ndjson",
        said,
        [json.loads(line) for line in alarms.splitlines()],
        assessment,
    )


def _run(words: Sequence[str], folder: Path) -> tuple[str, str]:
    """The command in this process, which spares the imports of one of its own."""
    root = logging.getLogger()
    before, sys.argv = sys.argv, list(words)
    handlers, root.handlers = root.handlers, []
    code: Any = None
    try:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            try:
                command()
            except SystemExit as end:
                code = end.code
    finally:
        sys.argv, root.handlers = before, handlers
    if code:
        raise RuntimeError(f"{' '.join(words)} ended with {code}: {said.getvalue()}")
    return out.getvalue(), said.getvalue()


def _read(path: Path, options: Sequence[str]) -> FileRows:
    named = dict(zip(options[::2], options[1::2], strict=True))
    columns = Columns(time=named.get("--time"), entity=named.get("--entity"))
    return open_files([path], columns).whole()


def marks(outcome: Outcome, entity: str | None) -> np.ndarray:
    """1 for rows of a series in which something was planted."""
    rows = np.zeros(len(outcome.assessment.series[outcome.number(entity)]), dtype=int)
    for planted in outcome.drawn.planted:
        if planted.entity == entity:
            rows[planted.first : planted.last + 1] = 1
    return rows
