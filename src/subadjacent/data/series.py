"""Rows in time order, with and without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class TrainSeries:
    """Rows of one entity without labels: all that fitting and scoring may see.

    Parameters
    ----------
    values
        Numbers, shape (time, channels).
    channels
        One name a column; ``channel_0``, ``channel_1``, … when left out.
    entity
        What the rows were measured on; None when there is only one.
    index
        One label a row (times, as a rule); row numbers when left out.
    starts
        First row of every unbroken segment. No window reaches across one.
    interval
        Seconds from one row to the next, where the clock is known.
    missing
        Values that were missing for long, (time, channels); ``values`` hold something finite there
        that was not measured. None where there are none.
    """

    values: NDArray[Any]
    channels: tuple[str, ...] = ()
    entity: str | None = None
    index: Sequence[Any] | None = None
    starts: tuple[int, ...] = (0,)
    interval: float | None = None
    missing: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise InputError(f"series must be 2-d, (time, channels); got shape {self.values.shape}")
        rows, columns = self.values.shape
        if not self.channels:
            names = tuple(f"channel_{number}" for number in range(columns))
            object.__setattr__(self, "channels", names)
        if len(self.channels) != columns:
            raise InputError(
                f"channels must name each of the {columns} columns; got {len(self.channels)} names"
            )
        if self.index is not None and len(self.index) != rows:
            raise InputError(
                f"index must have one label for each of the {rows} rows; got {len(self.index)}"
            )
        # a series without rows has one segment without rows; no other segment may be empty
        if self.starts[:1] != (0,) or any(
            a >= b for a, b in pairwise((*self.starts, max(rows, 1)))
        ):
            raise InputError(
                f"starts must begin with 0 and increase, within {rows} rows; got {self.starts}"
            )
        if self.missing is not None and self.missing.shape != self.values.shape:
            raise InputError(
                f"missing must have the shape of values, {self.values.shape}; "
                f"got {self.missing.shape}"
            )

    def __len__(self) -> int:
        return len(self.values)

    def label(self, row: int) -> Any:
        """The index label of a row, or its number."""
        return row if self.index is None else self.index[row]

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """Half-open row bounds of every unbroken segment."""
        return tuple(pairwise((*self.starts, len(self))))

    @property
    def missing_rows(self) -> NDArray[np.bool_] | None:
        """Rows in which any channel is missing for long, (time,); None where there are none."""
        return None if self.missing is None else np.asarray(self.missing.any(axis=1))

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Segments cut where a value begins or ceases to be missing for long.

        Each is scored by itself, so that what stands in for a missing value reaches no row that
        has all its values.
        """
        return cut(self.segments, self.missing_rows)


def cut(
    segments: Sequence[tuple[int, int]], rows: NDArray[np.bool_] | None
) -> tuple[tuple[int, int], ...]:
    """Segments cut before the first and after the last of each run of ``rows``."""
    if rows is None:
        return tuple(segments)
    changes = np.flatnonzero(np.diff(rows)) + 1
    starts = {start for start, _ in segments}.union(changes.tolist())
    return tuple(pairwise([*sorted(starts), len(rows)]))


def common_interval(series: Sequence[TrainSeries]) -> float | None:
    """Seconds from row to row, where all series that have a clock agree; else None."""
    known = [one_series.interval for one_series in series if one_series.interval is not None]
    if not known or max(known) > 1.05 * min(known):
        return None
    return known[0]


@dataclass(frozen=True, slots=True, eq=False)
class TestSeries:
    """Rows with a label each, for evaluation; detectors take ``rows`` alone."""

    __test__: ClassVar[bool] = False  # the name is not meant for pytest

    rows: TrainSeries
    labels: NDArray[np.integer[Any]]

    def __post_init__(self) -> None:
        if self.labels.shape != (len(self.rows),):
            raise InputError(
                f"labels must have shape ({len(self.rows)},), one a row; got {self.labels.shape}"
            )
        if not np.isin(self.labels, (0, 1)).all():
            raise InputError(f"labels must be 0 or 1; got {np.unique(self.labels)[:5]}")

    def __len__(self) -> int:
        return len(self.rows)
