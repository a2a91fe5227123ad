"""Files with scores and labels → metrics of rows and of alarms, beside those of a random score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from subadjacent.data.inputs import read
from subadjacent.data.series import common_interval
from subadjacent.errors import InputError
from subadjacent.evaluation.summary import alarms_with_controls, with_controls
from subadjacent.workflow.tables import by_entity, keys_of

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import FileRows

ANOMALOUS = "anomalous"
"""Column that says which rows are alarmed, as the command ``score`` writes it."""

FILL_LIMIT = 10
"""Missing rows that a clock may bridge, as in every detector by default."""


def evaluate(
    file_rows: FileRows,
    rng: np.random.Generator,
    *,
    score: str = "score",
    threshold: float | None = None,
    name: str = "the file",
) -> dict[str, Any]:
    """Compare a column of scores with labels.

    Parameters
    ----------
    file_rows
        Rows with labels, from ``open_files``.
    rng
        Draws the random scores.
    score
        Name of the column of scores.
    threshold
        Score above which a row is alarmed; None where the column ``anomalous`` says it.
    name
        The name of the rows in messages.

    Returns
    -------
    Metrics of rows under ``this detector`` and ``random score``, and those of alarms, in the same
    two parts, under ``alarms``.
    """
    frame = file_rows.frame
    if file_rows.labels is None:
        raise InputError(f"{name} must have a column of labels; name it")
    if score not in frame.columns:
        raise InputError(f"{name} has no column {score!r}; it has {', '.join(frame.columns)}")
    scores = frame[score].to_numpy()
    if threshold is None:
        if ANOMALOUS not in frame.columns:
            raise InputError(f"--threshold is needed where there is no column {ANOMALOUS!r}")
        flags = frame[ANOMALOUS].to_numpy() > 0
    else:
        flags = scores > threshold
    metrics: dict[str, Any] = with_controls(scores, file_rows.labels, flags, rng)
    entities = [places for _, places, _ in by_entity(frame)]
    metrics["alarms"] = alarms_with_controls(
        [flags[rows] for rows in entities],
        [scores[rows] for rows in entities],
        [file_rows.labels[rows] for rows in entities],
        rng,
        _interval(frame, score),
    )
    return metrics


def _interval(frame: pl.DataFrame, score: str) -> float | None:
    """Seconds from row to row, where all entities have one regular clock."""
    # not columns added to the keys: without any key they would have no rows
    keys_and_score = frame.select(*keys_of(frame).columns, score)
    try:
        table = read(keys_and_score, fill_limit=FILL_LIMIT)
    except InputError:
        # without a clock, alarms are not counted per day; nothing else depends on it
        return None
    return common_interval(table.series)
