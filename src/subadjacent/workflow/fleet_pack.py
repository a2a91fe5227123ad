"""One pack of a fleet: a detector for each of its entities, and its findings on disk.

An error in one entity is recorded with that entity, and stops no other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from subadjacent.data.files import ENTITY, Columns, open_files
from subadjacent.decision.discoveries import Worst, worst_of
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
    from subadjacent.decision.decision import RowDecisions
    from subadjacent.detectors.assessment import Assessment
    from subadjacent.detectors.base import BaseDetector

BATCH_ROWS = 20_000
"""Rows of entities of one shape that are fitted at a time: more are hardly quicker, and take more
memory."""


WORST = ("worst", "tested_blocks", "normal_blocks")
"""Columns of what an entity's p-value depends on, which needs all packs (``fleet_tables``)."""


@dataclass(frozen=True, slots=True)
class PackTask:
    """All that a process, or another machine, needs to work on a pack.

    Parameters
    ----------
    detector
        Not fitted; each entity gets a copy.
    training
        Which rows of each entity to fit on.
    columns, time_format
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
    time_format: str | None
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


class _Findings(NamedTuple):
    """The decisions on an entity's rows, its alarms, and its worst row."""

    judged: RowDecisions
    alarms: list[Alarm]
    worst: Worst

    @classmethod
    def of(cls, detector: BaseDetector, assessment: Assessment, fitted: int) -> _Findings:
        """The findings of a detector that was fitted on the first ``fitted`` rows assessed."""
        (judged,) = assessment.judgements
        (normal,) = detector.held_out_scores_
        tested = (judged.scores - judged.rows.shift)[fitted:]
        # a plain list: the alarms alone are kept, not what they were assessed by
        return cls(judged, list(assessment.alarms()), worst_of(normal, tested))


class _EntityResult(NamedTuple):
    """The result for one entity: its findings, or an error."""

    name: str
    rows: int
    fitted: int
    result: _Findings | str


def work_on(task: PackTask) -> FleetCounts:
    """Fit, score and explain every entity of a pack; write the findings, unless they exist."""
    if task.is_done:
        return count_part(task)
    with _silenced(), one_thread_each():
        entities: list[_EntityResult] = []
        scores: list[pl.DataFrame] = []
        for frame in _frames(task, entities):
            results = list(_results(task, frame))
            entities += results
            scores += _scores(task, frame, results)
    return _write(task, entities, scores)


def give_up(task: PackTask, why: str) -> FleetCounts:
    """Count every entity of a pack as failed: its worker ended, or could not write."""
    import polars as pl

    names = task.pack.files
    if task.pack.laid_out:
        names = tuple(pl.concat(read_pieces(task.pack))[ENTITY].unique(maintain_order=True))
    return _write(task, [_EntityResult(name, 0, 0, why) for name in names], [])


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


def _frames(task: PackTask, failed: list[_EntityResult]) -> Iterator[pl.DataFrame]:
    """Rows of entities with the same columns; files that cannot be read are added to ``failed``."""
    import polars as pl

    if task.pack.laid_out:
        yield pl.concat(read_pieces(task.pack))
        return
    alike: dict[tuple[tuple[str, str], ...], list[pl.DataFrame]] = {}
    for file in task.pack.files:
        try:
            rows = open_files([str(task.here / file)], task.columns, time_format=task.time_format)
            frame = rows.whole(labels="skip").frame
        except Exception as error:
            failed.append(_EntityResult(file, 0, 0, sentence(error)))
            continue
        frame = frame.with_columns(pl.lit(file).alias(ENTITY))
        kind = tuple((name, str(dtype)) for name, dtype in frame.schema.items())
        alike.setdefault(kind, []).append(frame)
    for frames in alike.values():
        yield pl.concat(frames)


def _results(task: PackTask, frame: pl.DataFrame) -> Iterator[_EntityResult]:
    """The result of every entity of a frame; those of one shape in batches."""
    import polars as pl

    chosen = task.training.chosen(frame)
    marked = frame.with_columns(chosen.alias(FITTED))
    shapes = (
        marked.group_by(ENTITY, maintain_order=True)
        .agg(pl.len().alias("rows"), pl.col(FITTED).sum().alias("fitted"))
        .group_by("rows", "fitted", maintain_order=True)
        .agg(pl.col(ENTITY))
    )
    by_name = {rows[ENTITY][0]: rows for rows in marked.partition_by(ENTITY, maintain_order=True)}
    for rows, fitted, names in shapes.rows():
        size = max(BATCH_ROWS // rows, 1)
        for start in range(0, len(names), size):
            batch = names[start : start + size]
            results = _fit_and_assess(task, [by_name[name] for name in batch], fitted)
            for name, result in zip(batch, results, strict=True):
                yield _EntityResult(name, rows, fitted, result)


FITTED = "\x00fitted"
"""Which rows are fitted on; no file has such a column."""


def _fit_and_assess(
    task: PackTask, frames: Sequence[pl.DataFrame], fitted: int
) -> list[_Findings | str]:
    """The findings, or an error, for each of several entities of one shape."""
    import polars as pl

    try:
        if not fitted:
            raise InputError.of("until", "must leave rows to fit on", "it leaves none")
        together = pl.concat(frames)
        first = together.filter(pl.col(FITTED)).drop(FITTED)
        detectors = fit_each(task.detector, first)
        assessments = assess_each(detectors, together.drop(FITTED))
        return [_Findings.of(*pair, fitted) for pair in zip(detectors, assessments, strict=True)]
    except Exception as error:
        if len(frames) == 1:
            return [sentence(error)]
    # at least one of them is bad: halves may hold none
    half = len(frames) // 2
    return _fit_and_assess(task, frames[:half], fitted) + _fit_and_assess(
        task, frames[half:], fitted
    )


def _scores(
    task: PackTask, frame: pl.DataFrame, entities: Sequence[_EntityResult]
) -> list[pl.DataFrame]:
    """The scores table of the rows of a frame, entity after entity; none where all failed."""
    import polars as pl

    judged_entities = [
        (entity.name, entity.result.judged)
        for entity in entities
        if isinstance(entity.result, _Findings)
    ]
    if not judged_entities:
        return []
    of_names = {
        rows[ENTITY][0]: rows for rows in keys_of(frame).partition_by(ENTITY, maintain_order=True)
    }
    judged = ScoreColumns(
        np.concatenate([entity_scores.scores for _, entity_scores in judged_entities]),
        np.concatenate([entity_scores.severity for _, entity_scores in judged_entities]),
        np.concatenate([entity_scores.anomalous for _, entity_scores in judged_entities]),
    )
    return [
        scores_table(pl.concat([of_names[name] for name, _ in judged_entities]), judged, task.named)
    ]


def _write(
    task: PackTask, entities: Sequence[_EntityResult], scores: Sequence[pl.DataFrame]
) -> FleetCounts:
    """Write the tables of a pack, that of its entities last: it says that all are there."""
    import polars as pl

    if scores:
        # those of files without times beside those with
        write_table(pl.concat(scores, how="diagonal_relaxed"), task.part("scores"))
    results = [entity.result for entity in entities if isinstance(entity.result, _Findings)]
    alarms = alarm_table([alarm for result in results for alarm in result.alarms])
    write_table(alarms, task.part("alarms"))
    write_table(_entity_table(entities), task.part("entities"))
    return count_part(task)


def _entity_table(entities: Sequence[_EntityResult]) -> pl.DataFrame:
    """One row an entity: its rows, and its results."""
    import polars as pl

    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "entity": pl.String,
        "rows": pl.Int64,
        "fitted_rows": pl.Int64,
        "alarms": pl.Int64,
        "anomalous_rows": pl.Int64,
        "fits": pl.Boolean,
        "error": pl.String,
        WORST[0]: pl.Float64,
        WORST[1]: pl.Int64,
        WORST[2]: pl.List(pl.Float64),
    }
    rows: list[tuple[Any, ...]] = []
    for name, count, fitted, result in entities:
        if isinstance(result, str):
            rows.append((name, count, fitted, 0, 0, True, result, None, 0, []))
        else:
            anomalous = int(np.count_nonzero(result.judged.anomalous))
            fits = bool(result.judged.fits)
            facts = (name, count, fitted, len(result.alarms), anomalous, fits, None)
            score, blocks, normal = result.worst
            rows.append((*facts, score, blocks, normal.tolist()))
    return pl.DataFrame(rows, schema=schema, orient="row")


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
