"""Long gaps: not learned from, and replaced by typical values for scoring.

Rows in which a channel is missing for long are like a gap in the clock. Nothing is learned from
them, and they are scored by themselves; the decision makes them an alarm.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

# of the training rows: a channel that is missing more often would be assessed by its few good days
MAX_MISSING_SHARE = 0.5

RAISE_FILL_LIMIT = "drop the column, or raise fill_limit"
"""The remedy for a channel that is missing too often."""


def require_values(series: TrainSeries, where: str = "X") -> None:
    """Refuse to fit on a channel in long gaps for most of the rows."""
    if series.missing is None:
        return
    counts = series.missing.sum(axis=0)
    worst = int(counts.argmax())
    if counts[worst] > MAX_MISSING_SHARE * len(series):
        raise InputError.of(
            where,
            "must have values in at least half of the rows of every column, to fit on",
            f"column {series.channels[worst]!r} is missing in {counts[worst]} of {len(series)}",
            "drop the column" if counts[worst] == len(series) else RAISE_FILL_LIMIT,
        )


def usable_rows(series: TrainSeries) -> NDArray[np.bool_] | None:
    """Mask of the rows to learn from, (T,); None for all.

    All where fewer than half of the rows have all values: each channel has few long gaps then.
    """
    missing = series.missing_rows
    return None if missing is None or missing.mean() > MAX_MISSING_SHARE else ~missing


def select_rows(series: TrainSeries, rows: NDArray[np.bool_] | None) -> TrainSeries:
    """The series of the masked rows, without marks of missing values; None for all rows."""
    if series.missing is None:
        return series
    if rows is None:
        return replace(series, missing=None)
    # a part is all among the rows, or none of it is
    lengths = [stop - start for start, stop in series.parts if rows[start]]
    starts = tuple(np.cumsum([0, *lengths[:-1]]).tolist())
    return replace(series, values=series.values[rows], index=None, starts=starts, missing=None)


def replace_missing(series: TrainSeries, typical: NDArray[Any]) -> TrainSeries:
    """The series with values of long gaps replaced by the channels' typical values, (C,)."""
    if series.missing is None:
        return series
    values = series.values
    if not np.issubdtype(values.dtype, np.floating):
        values = values.astype(np.float64)
    filled = np.where(series.missing, typical.astype(values.dtype), values)
    return replace(series, values=filled)
