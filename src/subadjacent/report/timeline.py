"""The place of a row on the time axis, and its label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries

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
        usual = self.interval
        # between two gaps the clock is straight enough: jitter is below what is visible
        bends = np.flatnonzero(np.abs(steps - usual) > 0.5 * abs(usual))
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
    times, offset = _times(series.index)
    if times is None:
        return numbered(series)
    if times.dtype.kind == "M":
        places = times.astype("datetime64[us]").astype(np.int64) / 1000
        if offset is not None:
            places = places + offset / timedelta(milliseconds=1)
        return Timeline("time", places, offset)
    return Timeline("number", times.astype(np.float64))


def numbered(series: TrainSeries) -> Timeline:
    """Rows by number, whatever their index."""
    return Timeline("row", np.arange(len(series), dtype=np.float64))


def timelines(series: Sequence[TrainSeries]) -> list[Timeline]:
    """One timeline a series, all of the same kind: they share an axis."""
    all_timelines = [timeline(one_series) for one_series in series]
    if len({line.kind for line in all_timelines}) == 1:
        return all_timelines
    return [numbered(one_series) for one_series in series]


def _times(index: Any) -> tuple[NDArray[Any] | None, timedelta | None]:
    """Increasing times (datetime64 in UTC) or numbers, and how far the clock is from UTC."""
    if index is None or not len(index):
        return None, None
    column = index.to_series() if hasattr(index, "to_series") else index
    try:
        series = nw.from_native(column, series_only=True, pass_through=False)
    except TypeError:
        series = None
    if series is None:
        values = np.asarray(index)
    else:
        if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        values = np.asarray(series.to_numpy())
    first = index[0]
    offset = first.utcoffset() if isinstance(first, datetime) else None
    if values.dtype == object and isinstance(first, datetime):
        naive = [
            (moment - (moment.utcoffset() or timedelta())).replace(tzinfo=None) for moment in values
        ]
        values = np.array(naive, dtype="datetime64[us]")
    elif values.dtype == object and hasattr(first, "toordinal"):
        values = values.astype("datetime64[D]")
    if values.dtype.kind == "m":
        values = values / np.timedelta64(1, "s")
    usable = values.dtype.kind in "Miuf" and (values[1:] > values[:-1]).all()
    return (values, offset) if usable else (None, None)
