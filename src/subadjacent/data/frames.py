"""Frames of any library (pandas, polars, Arrow) → series, and results back into their shape.

A frame is read through narwhals, which is imported only when a frame comes in.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import clean
from subadjacent.data.clock import Clock, read_clock
from subadjacent.data.columns import (
    check_channels,
    copy_values,
    header,
    own_labels,
    view_values,
)
from subadjacent.data.forks import refuse_lost_threads
from subadjacent.data.names import ENTITY_NAMES, TIME_NAMES, columns_named, label_columns
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

log = logging.getLogger(__name__)

Arrays = Sequence[NDArray[Any]]
# the name of a vector, or those of a table's columns
Names = str | tuple[str, ...]
# entity → its rows
Groups = dict[str, NDArray[np.intp]]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The series found in an input, and the way back to the input's shape.

    ``header`` is an array or frame of the channels alone, one row of them, for scikit-learn to
    read their names and number.
    ``restore`` takes one array a series, and a name for them or for each of their columns; the
    channels' names come back as the labels that the input itself has for them.
    ``names`` are the channels', None where the input has none of its own.
    ``by_position`` says that entities have no names of their own, only places in a list.
    """

    series: tuple[TrainSeries, ...]
    header: Any
    restore: Callable[[Arrays, Names], Any]
    names: tuple[str, ...] | None = None
    by_position: bool = False

    def name_of(self, series: TrainSeries) -> str:
        """The name of a series in messages."""
        if series.entity is None:
            return "X"
        return f"X[{series.entity if self.by_position else repr(series.entity)}]"


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a frame or a series of a library that is loaded already."""
    # something of pandas, polars or Arrow can only come in once that library is imported
    if not any(library in sys.modules for library in ("pandas", "polars", "pyarrow")):
        return False
    import narwhals as nw

    try:
        wrapped = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        return True
    return isinstance(wrapped, nw.DataFrame | nw.LazyFrame | nw.Series)


def read_frame(X: Any, *, fill_limit: int, name: str, known: Collection[str] = ()) -> Table:
    """Find the series in a frame.

    Every column is a channel but for the time (a column of dates, or one with a name of
    ``names.TIME_NAMES``; else the index of a pandas frame, where it holds dates) and the entity
    (``names.ENTITY_NAMES``). Rows of an entity are taken in the order in which they stand.
    Labels are kept out of the channels, and a warning says so: columns with a name of
    ``names.LABEL_NAMES``, and those of ``names.MAYBE_LABEL_NAMES`` whose values are labels,
    unless they are ``known`` for channels.
    """
    frame = in_memory(X, name)
    entity_column = next(iter(columns_named(ENTITY_NAMES, frame.columns)), None)
    time_column = _time_column(frame, name)
    roles = [entity_column, time_column]
    roles += find_labels(
        frame, [column for column in frame.columns if column not in roles], known, name
    )
    # by place: names may be numbers, which narwhals does not select by
    columns = frame.columns
    places = [place for place, column in enumerate(columns) if column not in roles]
    check_channels(frame, [columns[place] for place in places], name)
    channels = tuple(str(columns[place]) for place in places)
    index = frame.to_native().index if frame.implementation.is_pandas_like() else None
    _check_index(index, name)
    times, labels = index_times(frame), index
    if time_column is not None:
        times = labels = frame.get_column(time_column)
    ticks = None if times is None else _as_numbers(times)

    groups = None if entity_column is None else _groups(frame.get_column(entity_column))
    series = []
    for entity_rows in _parts(frame, places, groups):
        label = name if entity_rows.entity is None else f"{name}[{entity_rows.entity!r}]"
        clock = Clock(None)
        if ticks is not None:
            clock = read_clock(ticks[entity_rows.rows], fill_limit=fill_limit, name=label)
        values, missing = clean(
            entity_rows.values,
            channels,
            fill_limit,
            label,
            starts=clock.starts,
            in_place=entity_rows.copied,
        )
        shown = None if labels is None else _pick(labels, entity_rows.rows)
        series.append(
            TrainSeries(
                values, channels, entity_rows.entity, shown, clock.starts, clock.seconds, missing
            )
        )
    restore = _make_restore(
        frame.implementation, index, groups, channels, own_labels(frame, places)
    )
    return Table(tuple(series), header(frame, places), restore, channels)


class _EntityRows(NamedTuple):
    """Rows of one entity; ``copied`` says that the values are no longer the frame's own."""

    entity: str | None
    rows: Any
    values: NDArray[Any]
    copied: bool


def _parts(frame: nw.DataFrame[Any], places: list[int], groups: Groups | None) -> list[_EntityRows]:
    if groups is None:
        everything = slice(None)
        if (view := view_values(frame, places)) is not None:
            return [_EntityRows(None, everything, view, copied=False)]
        return [_EntityRows(None, everything, copy_values(frame, places, everything), copied=True)]
    # one array for all, entity after entity
    values = copy_values(frame, places, np.concatenate(list(groups.values())))
    stops = np.cumsum([len(rows) for rows in groups.values()])
    tables = np.split(values, stops[:-1])
    return [
        _EntityRows(entity, rows, table, copied=True)
        for (entity, rows), table in zip(groups.items(), tables, strict=True)
    ]


def _make_restore(
    backend: Any,
    index: Any,
    groups: Groups | None,
    channels: tuple[str, ...],
    labels: Any,
) -> Callable[[Arrays, Names], Any]:
    """A function from arrays to the frame's library, which does not keep the frame."""

    def restore(arrays: Arrays, names: Names) -> Any:
        whole = arrays[0]
        if groups is not None:
            whole = np.concatenate(list(arrays))
            whole[np.concatenate(list(groups.values()))] = whole.copy()
        result = _native(backend, whole, names)
        if labels is not None and names == channels:
            result.columns = labels
        if index is not None:
            result.index = index
        return result

    return restore


def in_memory(X: Any, name: str) -> nw.DataFrame[Any]:
    """A frame or series of any library as narwhals has frames; refuses one that is not read yet."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(X, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"{name} must not have two columns of one name: {error}") from error
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError.of(
            name, "must be a frame in memory", "got a lazy frame", "collect it first"
        )
    if wrapped.implementation.is_polars():
        refuse_lost_threads()
    return wrapped.to_frame() if isinstance(wrapped, nw.Series) else wrapped


def find_labels(
    frame: nw.DataFrame[Any], columns: Sequence[Any], known: Collection[str], name: str
) -> list[Any]:
    """The columns that hold labels, after a warning: they must not reach a detector."""

    def values(column: Any) -> list[Any]:
        cells = frame[:, frame.columns.index(column)]
        # some libraries have NaN beside their own way of saying that a value is missing
        return [value for value in cells.drop_nulls().unique().to_list() if value == value]

    labels = label_columns(columns, values, known)
    if labels:
        log.warning(
            "%s: labels never reach a detector, so %s kept out of the channels",
            name,
            ", ".join(map(repr, labels)) + (" is" if len(labels) == 1 else " are"),
        )
    return labels


def _time_column(frame: nw.DataFrame[Any], name: str) -> Any:
    """The label of the time column, which need not be text; None without one."""
    import narwhals as nw

    # a duration may as well be something measured
    dates = (nw.Date, nw.Datetime)
    dated = [column for column, dtype in frame.schema.items() if isinstance(dtype, dates)]
    candidates = list(dict.fromkeys(columns_named(TIME_NAMES, frame.columns) + dated))
    if not candidates:
        return None
    column, *more = candidates
    if more:
        listed = ", ".join(map(str, candidates))
        raise InputError.of(name, "must have one time column", f"got {listed}", "drop all but one")
    dtype = frame.schema[column]
    if not (dtype.is_temporal() or dtype.is_numeric()):
        raise InputError.of(
            name,
            "must have times or numbers in its time column",
            f"{column!r} holds {dtype}",
            "parse it (pandas: to_datetime, polars: str.to_datetime)",
        )
    return column


def _check_index(index: Any, name: str) -> None:
    if getattr(index, "nlevels", 1) > 1:
        levels = ", ".join(map(str, index.names))
        raise InputError.of(
            name,
            "must have one level of index",
            f"got {index.nlevels} ({levels})",
            "turn them into columns with reset_index()",
        )


def index_times(frame: nw.DataFrame[Any]) -> nw.Series[Any] | None:
    """The index of a pandas frame where it holds times."""
    import narwhals as nw

    index = getattr(frame.to_native(), "index", None)
    if index is None or not hasattr(index, "to_series"):
        return None

    times = nw.from_native(index.to_series(), series_only=True)
    return times if times.dtype.is_temporal() else None


def _as_numbers(times: nw.Series[Any]) -> NDArray[Any]:
    """Times as datetime64 (in UTC) or as plain numbers."""
    import narwhals as nw

    if isinstance(times.dtype, nw.Datetime) and times.dtype.time_zone is not None:
        times = times.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if times.dtype == nw.Date:
        times = times.cast(nw.Datetime("ms"))
    numbers = np.asarray(times.to_numpy())
    # time since some start ticks like dates do
    return np.datetime64(0, "s") + numbers if numbers.dtype.kind == "m" else numbers


def _groups(entities: nw.Series[Any]) -> Groups:
    """Entity → its rows, in order of first appearance."""
    if entities.is_null().any():
        row = int(np.argmax(entities.is_null().to_numpy()))
        raise InputError(f"{entities.name} must name an entity in every row; row {row} is empty")
    names, first, which, counts = np.unique(
        np.asarray(entities.to_numpy()).astype(str),
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    rows = np.split(np.argsort(which, kind="stable"), np.cumsum(counts)[:-1])
    return {str(names[n]): rows[n] for n in np.argsort(first)}


def _pick(labels: Any, rows: Any) -> Any:
    return labels if isinstance(rows, slice) else labels[rows]


def _native(backend: Any, array: NDArray[Any], names: Names) -> Any:
    """An array as a series or frame of the library."""
    import narwhals as nw

    if isinstance(names, str):
        return nw.new_series(names, array, backend=backend).to_native()
    columns = {name: array[:, number] for number, name in enumerate(names)}
    return nw.from_dict(columns, backend=backend).to_native()
