"""Files and a fitted detector → one score a row, in bounded memory where the detector allows."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.files import ENTITY
from subadjacent.detectors.piecewise import PiecewiseScorer, can_score_in_parts
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.workflow.tables import keys_of, scores_table

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows
    from subadjacent.detectors.base import BaseDetector

log = logging.getLogger(__name__)

CHUNK = 100_000
"""Rows that are read at a time."""

LEAST = 1_000
"""Rows of one entity that are assessed at a time: fewer would not tell how fast its clock ticks."""


def score(detector: BaseDetector, rows: Rows, watch: Watch = ignore) -> pl.DataFrame:
    """The scores table of all rows, in the order of the files.

    Where ``can_score_in_parts`` holds, only the time, entity and score of each row stay in memory.
    """
    if can_score_in_parts(detector):
        return _score_in_parts(detector, rows, watch)
    part = rows.whole()
    scores = detector.assess(part.frame, watch=watch).scores.to_numpy()
    return scores_table(keys_of(part.frame), scores, detector.decision, rows.named, part.labels)


def _score_in_parts(detector: BaseDetector, rows: Rows, watch: Watch) -> pl.DataFrame:
    import polars as pl

    keys, labels = [], []
    entities: dict[str | None, _EntityScores] = {}
    done, total = 0, rows.count
    for part in rows.chunks(CHUNK):
        keys.append(keys_of(part.frame))
        if part.labels is not None:
            labels.append(part.labels)
        for name, places, group in _by_entity(part.frame):
            if name not in entities:
                entities[name] = _EntityScores(detector)
            entities[name].push(group, done + places)
        done += len(part)
        watch(Progress("scoring", done, max(total, done), "rows"))
    scores = np.empty(done)
    for entity in entities.values():
        entity.fill(scores)
    _warn_of_strangers(detector, entities)
    return scores_table(
        pl.concat(keys),
        scores,
        detector.decision,
        rows.named,
        np.concatenate(labels) if labels else None,
    )


class _EntityScores:
    """The scores of one entity so far, and which rows of all they belong to."""

    def __init__(self, detector: BaseDetector) -> None:
        self._scorer = PiecewiseScorer(detector, least=LEAST)
        self._scores: list[NDArray[Any]] = []
        self._places: list[NDArray[np.intp]] = []
        self._waiting: list[pl.DataFrame] = []

    def push(self, rows: pl.DataFrame, places: NDArray[np.intp]) -> None:
        """Take the next rows; they wait until they are enough to be assessed."""
        self._places.append(places)
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= LEAST:
            self._pass_on()

    def fill(self, scores: NDArray[Any]) -> None:
        """Put all scores where they belong."""
        self._pass_on()
        own = np.concatenate([*self._scores, self._scorer.finish()])
        scores[np.concatenate(self._places)] = own

    def _pass_on(self) -> None:
        import polars as pl

        if self._waiting:
            self._scores.append(self._scorer.push(pl.concat(self._waiting)))
            self._waiting.clear()


def _by_entity(
    frame: pl.DataFrame,
) -> list[tuple[str | None, NDArray[np.intp], pl.DataFrame]]:
    """Name, places in the frame and rows of every entity."""
    if ENTITY not in frame.columns:
        return [(None, np.arange(len(frame)), frame)]
    place = "\x00place"  # no file has such a column
    numbered = frame.with_row_index(place)
    return [
        (str(group[ENTITY][0]), group[place].to_numpy().astype(np.intp), group.drop(place))
        for group in numbered.partition_by(ENTITY, maintain_order=True)
    ]


def _warn_of_strangers(detector: BaseDetector, entities: dict[str | None, Any]) -> None:
    unknown = sorted(name for name in entities if name and name not in detector.entities_)
    if detector.entities_ and len(unknown) > 1:
        # each is assessed by itself, and only the first was named on the way
        log.warning("%d entities in all were not seen in fitting: %s", len(unknown), unknown)
