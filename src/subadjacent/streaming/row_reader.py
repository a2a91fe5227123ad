"""Rows as people have them (dicts, sequences, arrays, frames) as arrays, a column a channel."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.frames import find_labels, in_memory, index_times
from subadjacent.data.names import ENTITY_NAMES, TIME_NAMES, columns_named
from subadjacent.errors import InputError
from subadjacent.showing import listed

if TYPE_CHECKING:
    import narwhals as nw

log = logging.getLogger(__name__)

Row = Mapping[str, Any] | Sequence[Any] | NDArray[Any]

MAX_NAMED = 100
"""Unknown channels of a series that warnings name; further ones are only counted."""


class RowReader:
    """Reads rows of one series.

    Parameters
    ----------
    channels
        Their names, in order.
    """

    def __init__(self, channels: Sequence[str]) -> None:
        self.channels = tuple(channels)
        self._known = frozenset(channels)
        self._unknown: set[str] = set()
        if not self.channels or len(self._known) < len(self.channels):
            raise InputError.of(
                "channels",
                "must be at least one, with names that differ",
                f"got {listed(list(map(str, channels))) or 'none'}",
            )

    @classmethod
    def of_row(cls, row: Row) -> RowReader:
        """The channels of a series of which this is the first row."""
        if isinstance(row, Mapping):
            return cls(list(row))
        return cls(
            [f"channel_{number}" for number in range(np.size(np.asarray(row, dtype=object)))]
        )

    def read(self, rows: Sequence[Row] | NDArray[Any]) -> tuple[NDArray[np.float64], int]:
        """Values, (B, C), NaN where a row has none; and how many were of unknown channels."""
        if isinstance(rows, np.ndarray) or not any(isinstance(row, Mapping) for row in rows):
            return self._numbers(rows), 0
        table, unknown = [], 0
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputError.of(
                    "rows", "must be all dicts or all sequences", f"row {number} is {short(row)}"
                )
            table.append([row.get(name) for name in self.channels])
            # keys are compared only where some are left over: most rows have the channels alone
            if len(row) > len(self.channels) or not self._known.issuperset(row):
                unknown += self._leave_out(row)
        return self._numbers(table), unknown

    def _leave_out(self, row: Mapping[str, Any]) -> int:
        unknown = [str(name) for name in row if name not in self._known]
        if len(unknown) == len(row):
            # a row of something else, rather than one without any value
            raise InputError.of(
                "rows",
                f"must have some of the channels {listed(list(self.channels))}",
                f"got {listed(unknown)}",
            )
        new = [name for name in unknown if name not in self._unknown]
        if new and len(self._unknown) < MAX_NAMED:
            self._unknown.update(new)
            log.warning(
                "not a channel of this series, so left out: %s (channels: %s)",
                *(listed(new), listed(list(self.channels))),
            )
        return len(unknown)

    def _numbers(self, rows: Any) -> NDArray[np.float64]:
        try:
            values = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise self._refused(rows) from None
        if values.ndim > 2 and not isinstance(rows, np.ndarray):
            # lists where there should be numbers
            raise self._refused(rows)
        if values.ndim != 2 or values.shape[1] != len(self.channels):
            raise InputError.of(
                "rows",
                f"must have {len(self.channels)} values each, one a channel",
                f"got shape {values.shape}",
            )
        return values

    def _refused(self, rows: Any) -> InputError:
        """Which value is no number."""
        for number, row in enumerate(rows):
            values = list(row)
            if len(values) != len(self.channels):
                came = f"row {number} has {len(values)}"
                rule = f"must have {len(self.channels)} values each, one a channel"
                return InputError.of("rows", rule, came)
            for name, value in zip(self.channels, values, strict=True):
                if not _is_number(value):
                    came = f"{name!r} is {short(value)} in row {number}"
                    return InputError.of("rows", "must hold numbers", came)
        return InputError.of("rows", "must hold numbers", "got something else")


def _is_number(value: Any) -> bool:
    try:
        return np.array(value, dtype=np.float64).ndim == 0
    except (TypeError, ValueError, OverflowError):
        return False


class FrameRows(NamedTuple):
    """The rows of one entity of a frame."""

    entity: str | None
    channels: tuple[str, ...]
    values: NDArray[np.float64]
    times: list[Any] | None


def read_frame_rows(frame: Any, known: Collection[str] = ()) -> Iterator[FrameRows]:
    """Rows of a pandas, polars or Arrow frame, entity by entity, in the order in which they stand.

    Columns of time, entity and labels are recognised by their names, as for a detector; dates of
    a pandas index are times.
    """
    import narwhals as nw

    table = in_memory(frame, "rows")
    columns = table.columns
    entity = next(iter(columns_named(ENTITY_NAMES, columns)), None)
    dates = [name for name, kind in table.schema.items() if kind in (nw.Datetime, nw.Date)]
    time = next(iter([*columns_named(TIME_NAMES, columns), *dates]), None)
    others = [name for name in columns if name not in (entity, time)]
    labels = find_labels(table, others, known, "rows")
    chosen = [name for name in columns if name not in (entity, time, *labels)]
    times = _times(table, time)
    values = _values(table, chosen)
    of_row = [None] * len(table) if entity is None else [str(name) for name in table[entity]]
    for name in dict.fromkeys(of_row):
        rows = [row for row, one in enumerate(of_row) if one == name]
        some = None if times is None else [times[row] for row in rows]
        yield FrameRows(name, tuple(map(str, chosen)), values[rows], some)


def _times(table: nw.DataFrame[Any], column: Any) -> list[Any] | None:
    times = index_times(table) if column is None else table[column]
    return None if times is None else times.to_list()


def _values(table: nw.DataFrame[Any], chosen: list[Any]) -> NDArray[np.float64]:
    if not chosen or not len(table):
        return np.zeros((len(table), len(chosen)))
    found = []
    for name in chosen:
        try:
            found.append(np.array(table[name].to_list(), dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise InputError.of(
                "rows", "must hold numbers", f"column {name!r} does not", "leave it out"
            ) from error
    return np.stack(found, axis=1)
