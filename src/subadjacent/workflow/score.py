"""Files and a fitted detector → one score per row, in bounded memory if possible."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.files import FileRows
from subadjacent.data.files.rows import joined_labels
from subadjacent.detectors.piecewise import PiecewiseScorer, can_score_in_parts, joined_scores
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.showing import listed
from subadjacent.workflow.packs import group
from subadjacent.workflow.report import warn_of_misfits
from subadjacent.workflow.tables import ScoreColumns, by_entity, keys_of, scores_table

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows
    from subadjacent.decision.decision import RowDecisions
    from subadjacent.decision.evidence import Evidence
    from subadjacent.detectors.base import BaseDetector

log = logging.getLogger(__name__)

CHUNK_ROWS = 100_000
"""Rows that are read at a time."""

MIN_ROWS = 1_000
"""Rows of one entity that are assessed at a time: fewer would not tell how fast its clock ticks."""


class Scored(NamedTuple):
    """Rows of files in their order: time and entity, scores and labels; entities, and misfits."""

    keys: pl.DataFrame
    assessed: ScoreColumns
    labels: NDArray[Any] | None
    entities: list[str | None]
    misfits: list[str | None]


def score(detector: BaseDetector, rows: Rows, watch: Watch = ignore) -> pl.DataFrame:
    """The scores table of all rows, in the order of the files.

    Where ``can_score_in_parts`` holds, only the time, entity and score of each row stay in memory.
    """
    result = scored(detector, rows.chunks(CHUNK_ROWS, labels="take"), rows.count, watch)
    warn_of_misfits(result.misfits)
    unseen = detector.seen_.unseen(result.entities)
    # each entity was assessed by itself, and only the first unseen one was logged on the way
    if len(unseen) > 1 and can_score_in_parts(detector):
        warn_of_unseen(unseen)
    return scores_table(result.keys, result.assessed, rows.named, result.labels)


def scored(
    detector: BaseDetector, chunks: Iterable[FileRows], total: int = 0, watch: Watch = ignore
) -> Scored:
    """Scores of the rows of all chunks, about ``total``, with their keys, labels and entities."""
    import polars as pl

    if can_score_in_parts(detector):
        return _score_in_parts(detector, chunks, total, watch)
    whole = list(chunks)
    frame = pl.concat([chunk.frame for chunk in whole])
    assessment = detector.assess(frame, watch=watch)
    return Scored(
        keys_of(frame),
        ScoreColumns.of(assessment),
        joined_labels(whole),
        [series.entity for series in assessment.table.series],
        list(assessment.misfits),
    )


def _score_in_parts(
    detector: BaseDetector, chunks: Iterable[FileRows], total: int, watch: Watch
) -> Scored:
    import polars as pl

    # each chunk's keys and labels; its channels go once they are scored
    kept: list[FileRows] = []
    entities: dict[str | None, _EntityScores] = {}
    done = 0
    for chunk in chunks:
        kept.append(FileRows(keys_of(chunk.frame), chunk.labels))
        for name, places, frame in by_entity(chunk.frame):
            if name not in entities:
                entities[name] = _EntityScores(detector)
            entities[name].push(frame, done + places)
        done += len(chunk)
        watch(Progress("scoring", done, max(total, done), "rows"))
    assessed = ScoreColumns(np.empty(done), np.empty(done), np.empty(done, dtype=bool))
    short = {name: entity for name, entity in entities.items() if entity.scorer.waiting is not None}
    fits = _score_short(detector, short, assessed)
    for name, entity in entities.items():
        if name not in short:
            decided = entity.decide(detector, name)
            _put(assessed, entity.places, decided)
            fits[name] = decided.fits
    return Scored(
        pl.concat([chunk.frame for chunk in kept]),
        assessed,
        joined_labels(kept),
        list(entities),
        [name for name in entities if not fits[name]],
    )


class _EntityScores:
    """One entity's scores so far, and the places of its rows among all rows."""

    def __init__(self, detector: BaseDetector) -> None:
        self.scorer = PiecewiseScorer(detector, least=MIN_ROWS)
        self._scores: list[Evidence] = []
        self._places: list[NDArray[np.intp]] = []

    @property
    def places(self) -> NDArray[np.intp]:
        """Where its rows stand among all rows."""
        return np.concatenate(self._places)

    def push(self, rows: pl.DataFrame, places: NDArray[np.intp]) -> None:
        """Take the next rows."""
        self._places.append(places)
        self._scores.append(self.scorer.push(rows))

    def decide(self, detector: BaseDetector, name: str | None) -> RowDecisions:
        """Score the rows that are left, and decide on all."""
        scorer = self.scorer
        evidence = joined_scores([*self._scores, scorer.finish()])
        segments = list(pairwise([*scorer.starts, len(evidence.score)]))
        return detector.decide(evidence, name, segments, scorer.silent)


def _score_short(
    detector: BaseDetector, entities: Mapping[str | None, _EntityScores], assessed: ScoreColumns
) -> dict[str | None, bool]:
    """Assess entities of few rows together: a thousand frames cost more than their rows.

    Returns, for each, whether the model fits it.
    """
    import polars as pl

    fits: dict[str | None, bool] = {}
    rows = {name: len(entity.places) for name, entity in entities.items()}
    for batch in group(rows, CHUNK_ROWS):
        assessment = detector.assess(pl.concat([entities[name].scorer.waiting for name in batch]))
        for name, decided in zip(batch, assessment.decisions, strict=True):
            _put(assessed, entities[name].places, decided)
            fits[name] = decided.fits
    return fits


def _put(assessed: ScoreColumns, places: NDArray[np.intp], decided: RowDecisions) -> None:
    """Copy the decisions on one entity's rows to their places among all rows."""
    assessed.scores[places] = decided.scores
    assessed.normalized[places] = decided.severity
    assessed.anomalous[places] = decided.anomalous


def warn_of_unseen(unseen: list[str]) -> None:
    """Log how many entities were not seen in fitting, and which."""
    log.warning(
        "%d %s not seen in fitting: %s",
        len(unseen),
        "entity was" if len(unseen) == 1 else "entities in all were",
        listed(unseen),
    )
