"""Scores and alarms as tables, and alarms as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.documents import as_json
from subadjacent.data.files import ENTITY, TIME
from subadjacent.detectors.alarms import COLUMN_TYPES, alarm_columns

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Columns
    from subadjacent.decision.alarms import Alarm
    from subadjacent.decision.decision import RowDecisions
    from subadjacent.detectors.assessment import Assessment


def keys_of(frame: pl.DataFrame) -> pl.DataFrame:
    """The time and entity of every row, where a frame has them."""
    return frame.select([name for name in (TIME, ENTITY) if name in frame.columns])


def by_entity(
    frame: pl.DataFrame,
) -> list[tuple[str | None, NDArray[np.intp], pl.DataFrame]]:
    """Name, places in the frame and rows of every entity."""
    if ENTITY not in frame.columns:
        return [(None, np.arange(len(frame)), frame)]
    place = "\x00place"  # no file has such a column
    numbered = frame.with_row_index(place)
    return [
        (str(rows[ENTITY][0]), rows[place].to_numpy().astype(np.intp), rows.drop(place))
        for rows in numbered.partition_by(ENTITY, maintain_order=True)
    ]


class ScoreColumns(NamedTuple):
    """Scores of all rows of some files, in their order, and the decisions on them."""

    scores: NDArray[Any]
    normalized: NDArray[Any]
    anomalous: NDArray[Any]

    @classmethod
    def of(cls, assessment: Assessment) -> ScoreColumns:
        """Take them from an assessment of a frame, of one entity or many."""
        columns = (assessment.scores, assessment.normalized_scores, assessment.anomalous)
        return cls(*(column.to_numpy() for column in columns))

    @classmethod
    def joined(cls, decisions: Sequence[RowDecisions]) -> ScoreColumns:
        """Take them from the decisions on several series whose rows follow each other."""
        columns = zip(
            *((assessed.scores, assessed.severity, assessed.anomalous) for assessed in decisions),
            strict=True,
        )
        return cls(*map(np.concatenate, columns))


def scores_table(
    keys: pl.DataFrame,
    assessed: ScoreColumns,
    columns: Columns,
    labels: NDArray[Any] | None = None,
) -> pl.DataFrame:
    """A table with one row per data row: time, entity, scores, anomalous, label.

    Time, entity and label go by the names that ``columns`` gives them, unless a column of
    scores has that name.
    """
    import polars as pl

    results: dict[str, NDArray[Any]] = {
        "score": assessed.scores,
        "normalized_score": assessed.normalized,
        "anomalous": assessed.anomalous.astype(np.int8),
    }
    own_names = {TIME: columns.time, ENTITY: columns.entity}
    kept = keys.rename(
        {
            key: name
            for key, name in own_names.items()
            if key in keys.columns and name and name not in results
        }
    )
    if labels is not None:
        taken = (None, *results, *kept.columns)
        results["label" if columns.label in taken else str(columns.label)] = labels
    series = [pl.Series(name, values) for name, values in results.items()]
    # where there is neither time nor entity, the frame of what is kept has no rows either
    return kept.hstack(series) if kept.width else pl.DataFrame(series)


def alarm_table(alarms: Sequence[Alarm], *, with_entity: bool = False) -> pl.DataFrame:
    """One row an alarm; the channels that caused it in one column, the worst first.

    Entities have a column where an alarm has one, or ``with_entity`` says so.
    """
    import polars as pl

    columns = alarm_columns(alarms)
    for name in ("start", "end", "peak"):
        columns[name] = [str(as_json(place)) for place in columns[name]]
    columns["severity"] = [round(severity, 3) for severity in columns["severity"]]
    table = pl.DataFrame(columns, schema={name: kind or str for name, kind in COLUMN_TYPES.items()})
    with_entity |= any(alarm.entity for alarm in alarms)
    return table if with_entity else table.drop("entity")


def alarm_record(alarm: Alarm, misfits: Sequence[str | None] = ()) -> dict[str, Any]:
    """An alarm as JSON holds it, its causes nested.

    ``fits`` says whether its entity is none of ``misfits``, which the model no longer fits.
    """
    derived = {"duration": alarm.duration, "fits": alarm.entity not in misfits}
    record: dict[str, Any] = as_json(asdict(alarm) | derived)
    return record
