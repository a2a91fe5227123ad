"""The place of a row on the time axis, and its label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.data.times import read_times
from subadjacent.errors import InputError

Kind = Literal["time", "number", "row"]


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Places of a series' rows on the horizontal axis.

    Dates are milliseconds since 1970 on the clock of the first row, which is ``offset`` ahead
    of UTC, so that a summer-time change does not fold the axis. Other indexes stand as they
    are where they are numbers that increase; else rows are numbered.
    """

    kind: Kind
    places: NDArray[np.float64]
    offset: timedelta | None = None

    @property
    def interval(self) -> float:
        """The median distance between neighbouring places."""
        return float(np.median(np.diff(self.places))) if len(self.places) > 1 else 1.0

    def anchors(self) -> tuple[list[int], list[float]]:
        """Rows, and their places, between which all others lie on straight lines."""
        steps = np.diff(self.places)
        interval = self.interval
        # between two gaps the clock is straight enough: jitter is below what is visible
        bends = np.flatnonzero(np.abs(steps - interval) > 0.5 * abs(interval))
        rows = np.unique([0, *bends.tolist(), *(bends + 1).tolist(), len(self.places) - 1])
        return rows.tolist(), self.places[rows].tolist()

    def name(self, row: int) -> str:
        """The place of a row as people write it."""
        place = float(self.places[row])
        if self.kind == "row":
            return f"row {row:,}"
        if self.kind == "number":
            return f"{place:.12g}"
        when = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=place)
        if not when.microsecond:
            return f"{when:%Y-%m-%d %H:%M}" + (f":{when:%S}" if when.second else "")
        return f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond // 1000:03d}"


def timeline(series: TrainSeries) -> Timeline:
    """The timeline of a series."""
    index = series.index
    if index is None or not len(index):
        return numbered(series)
    values = np.asarray(index)
    if values.dtype.kind == "m":
        values = values / np.timedelta64(1, "s")
    try:
        ticks, unit = read_times(values)
    except InputError:
        return numbered(series)
    if (np.diff(ticks) <= 0).any():
        return numbered(series)
    if unit == "own":
        return Timeline("number", ticks)
    first = index[0]
    offset = first.utcoffset() if isinstance(first, datetime) else None
    ahead = 0.0 if offset is None else offset.total_seconds()
    return Timeline("time", np.round(1000 * (ticks + ahead), 3), offset)


def numbered(series: TrainSeries) -> Timeline:
    """Rows by number, whatever their index."""
    return Timeline("row", np.arange(len(series), dtype=np.float64))


def timelines(series: Sequence[TrainSeries]) -> list[Timeline]:
    """One timeline a series, all of the same kind: they share an axis."""
    all_timelines = [timeline(one_series) for one_series in series]
    if len({line.kind for line in all_timelines}) == 1:
        return all_timelines
    return [numbered(one_series) for one_series in series]
