"""Frames of any library (pandas, polars, Arrow) → series, and results back into their shape.

A frame is read through narwhals, which is imported only when a frame comes in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import clean
from subadjacent.data.clock import read_clock
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

ENTITY_COLUMNS = ("item_id", "unique_id")
TIME_COLUMNS = ("timestamp", "ds")

Arrays = Sequence[NDArray[Any]]
# the name of a vector, or those of a table's columns
Names = str | tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The series found in an input, and the way back to the input's shape.

    ``header`` is an array or frame of the channels alone, for reading their names and number.
    ``restore`` takes one array a series, and a name for them or for each of their columns.
    ``by_position`` says that entities have no names of their own, only places in a list.
    """

    series: tuple[TrainSeries, ...]
    header: Any
    restore: Callable[[Arrays, Names], Any]
    by_position: bool = False


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


def read_frame(X: Any, *, fill_limit: int, name: str) -> Table:
    """Find the series in a frame.

    Every column is a channel but for the time (a date column, or one called ``timestamp`` or
    ``ds``; else the index of a pandas frame, where it holds dates) and the entity (``item_id``
    or ``unique_id``). Rows of an entity are taken in the order in which they stand.
    """
    frame = _in_memory(X, name)
    entity_column = next((one for one in ENTITY_COLUMNS if one in frame.columns), None)
    time_column = _time_column(frame, name)
    channels = [one for one in frame.columns if one not in (entity_column, time_column)]
    _check_columns(frame, channels, name)
    # by place: names may be numbers, which narwhals does not select by
    data = frame[:, [frame.columns.index(one) for one in channels]]
    values = _values(data)
    index = frame.to_native().index if frame.implementation.is_pandas_like() else None
    _check_index(index, name)
    times, labels = _index_times(index), index
    if time_column is not None:
        times = labels = frame.get_column(time_column)

    groups = {None: slice(None)} if entity_column is None else _groups(frame[entity_column])
    series = []
    for entity, rows in groups.items():
        where = name if entity is None else f"{name}[{entity!r}]"
        clock = (
            read_clock(_as_numbers(times)[rows], fill_limit=fill_limit, name=where)
            if times is not None
            else None
        )
        series.append(
            TrainSeries(
                values=clean(values[rows], tuple(map(str, channels)), fill_limit, where),
                channels=tuple(map(str, channels)),
                entity=entity,
                index=None if labels is None else _pick(labels, rows),
                starts=(0,) if clock is None else clock.starts,
                interval=None if clock is None else clock.seconds,
            )
        )

    def restore(found: Arrays, names: Names) -> Any:
        whole = found[0]
        if entity_column is not None:
            whole = np.empty((len(values), *whole.shape[1:]), dtype=whole.dtype)
            for rows, part in zip(groups.values(), found, strict=True):
                whole[rows] = part
        return _native(frame, index, whole, names)

    return Table(tuple(series), data.to_native(), restore)


def _in_memory(X: Any, name: str) -> nw.DataFrame[Any]:
    import narwhals as nw

    try:
        wrapped = nw.from_native(X, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"{name} must not have two columns of one name: {error}") from error
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError(f"{name} must be a frame in memory; got a lazy frame: collect it first")
    return wrapped.to_frame() if isinstance(wrapped, nw.Series) else wrapped


def _time_column(frame: nw.DataFrame[Any], name: str) -> str | None:
    dated = [one for one, dtype in frame.schema.items() if dtype.is_temporal()]
    named = [one for one in TIME_COLUMNS if one in frame.columns]
    found = list(dict.fromkeys(named + dated))
    if len(found) > 1:
        raise InputError(
            f"{name} must have one time column; got {', '.join(map(str, found))}: drop all but one"
        )
    if found and not (frame.schema[found[0]].is_temporal() or frame.schema[found[0]].is_numeric()):
        raise InputError(
            f"{name} must have times or numbers in its time column; {found[0]!r} holds "
            f"{frame.schema[found[0]]}: parse it (pandas: to_datetime, polars: str.to_datetime)"
        )
    return found[0] if found else None


def _check_index(index: Any, name: str) -> None:
    if getattr(index, "nlevels", 1) > 1:
        levels = ", ".join(map(str, index.names))
        raise InputError(
            f"{name} must have one level of index; got {index.nlevels} ({levels}): "
            f"turn them into columns with reset_index()"
        )


def _index_times(index: Any) -> nw.Series[Any] | None:
    if index is None or not hasattr(index, "to_series"):
        return None
    import narwhals as nw

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


def _check_columns(frame: nw.DataFrame[Any], channels: list[str], name: str) -> None:
    import narwhals as nw

    text = [
        f"{one!r} ({frame.schema[one]})"
        for one in channels
        if not (frame.schema[one].is_numeric() or frame.schema[one] == nw.Boolean)
    ]
    if text:
        raise InputError(
            f"{name} must hold numbers; these columns do not: {', '.join(text)}: "
            f"drop them, or turn them into numbers"
        )
    rows = len(frame)
    # scikit-learn's words, which its users and its checks know
    if not channels:
        raise InputError(
            f"{name} has 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required."
        )
    if not rows:
        raise InputError(
            f"{name} has 0 sample(s) (shape=(0, {len(channels)})) while a minimum of 1 is required."
        )


def _values(data: nw.DataFrame[Any]) -> NDArray[Any]:
    import narwhals as nw

    if any(dtype != nw.Float32 for dtype in data.schema.values()):
        data = data.select(nw.all().cast(nw.Float64))
    return data.to_numpy()


def _groups(entities: nw.Series[Any]) -> dict[str | None, Any]:
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


def _native(frame: nw.DataFrame[Any], index: Any, found: NDArray[Any], names: Names) -> Any:
    """An array in the shape of the library that ``frame`` came from."""
    import narwhals as nw

    backend = frame.implementation
    if isinstance(names, str):
        result: Any = nw.new_series(names, found, backend=backend).to_native()
    else:
        parts = {one: found[:, number] for number, one in enumerate(names)}
        result = nw.from_dict(parts, backend=backend).to_native()
    if index is not None:
        result.index = index
    return result
