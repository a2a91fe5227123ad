"""Values that are missing for long: they are left out of the fit, and replaced for scoring.

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

# the share of training rows that may be missing: a channel that is more often away than there is
# judged by what it does on the days that it works
MAX_MISSING_SHARE = 0.5

RAISE_FILL_LIMIT = "drop the column, or raise fill_limit"
"""The remedy for a channel that is missing too often."""


def require_values(series: TrainSeries, where: str = "X") -> None:
    """Refuse to fit on a channel that is missing for long in more than half of the rows."""
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


def known_rows(series: TrainSeries) -> NDArray[np.bool_] | None:
    """Rows to learn from, (T,), where some are to be left out; None: all.

    Where so many channels are missing in turn that less than half of the rows have all values,
    models learn from all rows, with gaps filled: of each channel, only few values are.
    """
    missing = series.missing_rows
    return None if missing is None or missing.mean() > MAX_MISSING_SHARE else ~missing


def only(series: TrainSeries, rows: NDArray[np.bool_] | None) -> TrainSeries:
    """A series of some rows, None: all; unbroken where they were."""
    if series.missing is None:
        return series
    if rows is None:
        return replace(series, missing=None)
    # a part is all among the rows, or none of it is
    lengths = [stop - start for start, stop in series.parts if rows[start]]
    starts = tuple(np.cumsum([0, *lengths[:-1]]).tolist())
    return replace(series, values=series.values[rows], index=None, starts=starts, missing=None)


def stand_in(series: TrainSeries, typical: NDArray[Any]) -> TrainSeries:
    """A series whose values missing for long are replaced by the channels' typical ones, (C,)."""
    if series.missing is None:
        return series
    values = series.values
    if not np.issubdtype(values.dtype, np.floating):
        values = values.astype(np.float64)
    filled = np.where(series.missing, typical.astype(values.dtype), values)
    return replace(series, values=filled)
