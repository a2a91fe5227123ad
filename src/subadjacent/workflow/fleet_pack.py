"""One pack of a fleet: a detector for each of its entities, and its findings on disk.

An error in one entity is recorded with that entity, and stops no other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from subadjacent.data.files import ENTITY, Columns, open_files
from subadjacent.detectors.many import assess_each, fit_each
from subadjacent.errors import InputError, SubAdjacentError
from subadjacent.runtime import one_thread_each
from subadjacent.workflow.fit import TrainingRows
from subadjacent.workflow.packs import Pack, read_pieces
from subadjacent.workflow.tables import ScoreColumns, alarm_table, keys_of, scores_table
from subadjacent.workflow.writing import write_table

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.decision.alarms import Alarm
    from subadjacent.detectors.base import BaseDetector

BATCH_ROWS = 20_000
"""Rows of entities of one shape that are fitted at a time: more are hardly quicker, and take more
memory."""

FITTED = "\x00fitted"
"""Which rows are fitted on; no file has such a column."""


@dataclass(frozen=True, slots=True)
class PackTask:
    """All that a process, or another machine, needs to work on a pack.

    Parameters
    ----------
    detector
        Not fitted; each entity gets a copy.
    training
        Which rows of each entity to fit on.
    columns
        How to read files, where each file is an entity.
    named
        The names of the columns of time and entity in the results.
    folder
        The folder of the results.
    here
        The folder that names of files are relative to: workers may run in another.
    """

    pack: Pack
    detector: BaseDetector
    training: TrainingRows
    columns: Columns
    named: Columns
    folder: Path
    here: Path

    def part(self, table: str) -> Path:
        """The file of one of the results' tables."""
        return self.folder / table / f"{self.pack.number:06d}.parquet"

    @property
    def is_done(self) -> bool:
        """Whether the results are there; that of entities is written last."""
        return self.part("entities").exists()


class FleetCounts(NamedTuple):
    """Counts of entities, rows, alarms, failures and misfits."""

    entities: int = 0
    rows: int = 0
    alarms: int = 0
    failed: int = 0
    misfits: int = 0

    def __add__(self, other: FleetCounts) -> FleetCounts:  # type: ignore[override]  # sums, not tuples
        return FleetCounts(*(a + b for a, b in zip(self, other, strict=True)))


class _EntityResult(NamedTuple):
    """A line of the table of entities: the result for one of them, or its error."""

    entity: str
    rows: int = 0
    fitted_rows: int = 0
    alarms: int = 0
    anomalous_rows: int = 0
    severity: float | None = None
    fits: bool = True
    error: str | None = None


class _Results:
    """The results of a pack's entities, as they come."""

    def __init__(self) -> None:
        self.entities: list[_EntityResult] = []
        self.alarms: list[Alarm] = []
        self.scores: list[pl.DataFrame] = []


def work_on(task: PackTask) -> FleetCounts:
    """Fit, score and explain every entity of a pack; write the findings, unless they exist."""
    if not task.is_done:
        results = _Results()
        with _silenced(), one_thread_each():
            for frame in _frames(task, results):
                _add_results(task, frame, results)
        _write(task, results)
    return count_part(task)


def give_up(task: PackTask, why: str) -> FleetCounts:
    """Count every entity of a pack as failed: its worker ended, or could not write."""
    import polars as pl

    names = task.pack.files
    if task.pack.laid_out:
        names = tuple(pl.concat(read_pieces(task.pack))[ENTITY].unique(maintain_order=True))
    results = _Results()
    results.entities = [_EntityResult(name, error=why) for name in names]
    _write(task, results)
    return count_part(task)


def count_part(task: PackTask) -> FleetCounts:
    """The counts of a pack that is done."""
    import polars as pl

    table = pl.read_parquet(task.part("entities"))
    return FleetCounts(
        len(table),
        int(table["rows"].sum()),
        int(table["alarms"].sum()),
        int(table["error"].is_not_null().sum()),
        int((~table["fits"]).sum()),
    )


def sentence(error: BaseException) -> str:
    """An error as one line of text."""
    text = " ".join(str(error).split())
    return text if isinstance(error, SubAdjacentError) else f"{type(error).__name__}: {text}"


def _frames(task: PackTask, results: _Results) -> Iterator[pl.DataFrame]:
    """Rows of entities with the same columns; files that cannot be read are recorded."""
    import polars as pl

    if task.pack.laid_out:
        yield pl.concat(read_pieces(task.pack))
        return
    alike: dict[tuple[tuple[str, str], ...], list[pl.DataFrame]] = {}
    for file in task.pack.files:
        try:
            rows = open_files([str(task.here / file)], task.columns)
            frame = rows.whole(labels="skip").frame
        except Exception as error:
            results.entities.append(_EntityResult(file, error=sentence(error)))
            continue
        frame = frame.with_columns(pl.lit(file).alias(ENTITY))
        kind = tuple((name, str(dtype)) for name, dtype in frame.schema.items())
        alike.setdefault(kind, []).append(frame)
    for frames in alike.values():
        yield pl.concat(frames)


def _add_results(task: PackTask, frame: pl.DataFrame, results: _Results) -> None:
    """The results of all entities of a frame; those of one shape in batches."""
    marked = frame.with_columns(task.training.chosen(frame).alias(FITTED))
    shapes: dict[tuple[int, int], list[pl.DataFrame]] = {}
    for rows in marked.partition_by(ENTITY, maintain_order=True):
        shapes.setdefault((len(rows), int(rows[FITTED].sum())), []).append(rows)
    for (length, _), frames in shapes.items():
        size = max(BATCH_ROWS // length, 1)
        for start in range(0, len(frames), size):
            _fit_and_assess(task, frames[start : start + size], results)


def _fit_and_assess(task: PackTask, frames: Sequence[pl.DataFrame], results: _Results) -> None:
    """Add the findings, or an error, for each of several entities of one shape."""
    import polars as pl

    name, rows, fitted = frames[0][ENTITY][0], len(frames[0]), int(frames[0][FITTED].sum())
    together = pl.concat(frames)
    try:
        if not fitted:
            raise InputError.of("until", "must leave rows to fit on", "it leaves none")
        detectors = fit_each(task.detector, together.filter(pl.col(FITTED)).drop(FITTED))
        assessments = assess_each(detectors, together.drop(FITTED))
        alarms = [assessment.alarms() for assessment in assessments]
    except Exception as error:
        if len(frames) == 1:
            results.entities.append(_EntityResult(name, rows, fitted, error=sentence(error)))
            return
        # at least one of them is bad: halves may hold none
        half = len(frames) // 2
        _fit_and_assess(task, frames[:half], results)
        _fit_and_assess(task, frames[half:], results)
        return
    assessed = [decisions for assessment in assessments for decisions in assessment.decisions]
    for own, raised, decisions in zip(frames, alarms, assessed, strict=True):
        results.alarms += raised
        results.entities.append(
            _EntityResult(
                own[ENTITY][0],
                rows,
                fitted,
                len(raised),
                int(np.count_nonzero(decisions.anomalous)),
                float(decisions.severity.max()),
                bool(decisions.fits),
            )
        )
    table = scores_table(keys_of(together), ScoreColumns.joined(assessed), task.named)
    results.scores.append(table)


def _write(task: PackTask, results: _Results) -> None:
    """Write the tables of a pack, that of its entities last: it says that all are there."""
    import polars as pl

    if results.scores:
        # those of files without times beside those with
        write_table(pl.concat(results.scores, how="diagonal_relaxed"), task.part("scores"))
    write_table(alarm_table(results.alarms, with_entity=True), task.part("alarms"))
    schema = {
        "entity": pl.String, "rows": pl.Int64, "fitted_rows": pl.Int64, "alarms": pl.Int64,
        "anomalous_rows": pl.Int64, "severity": pl.Float64, "fits": pl.Boolean, "error": pl.String,
    }  # fmt: skip
    entities = pl.DataFrame(results.entities, schema=schema, orient="row")
    write_table(entities, task.part("entities"))


@contextmanager
def _silenced() -> Iterator[None]:
    """Silence warnings about single entities: of thousands, nobody reads them."""
    log = logging.getLogger("subadjacent")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
