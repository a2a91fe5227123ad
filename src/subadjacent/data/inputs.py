"""Arrays, frames, lists and dicts of them → series, and results back into their shape."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST, clean
from subadjacent.data.frames import Arrays, Names, Table, is_frame, read_frame
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.errors import InputError, require_whole
from subadjacent.showing import listed


def read(X: Any, *, fill_limit: int = 10, name: str = "X", known: Collection[str] = ()) -> Table:
    """Find the series in ``X``.

    Parameters
    ----------
    X
        An array (time, channels); a pandas, polars or Arrow frame; a pandas or polars series
        (one channel); a list of any of these, or a dict of them by entity. A frame may hold
        a time column and a column of entities (``item_id`` or ``unique_id``).
    fill_limit
        Longest gap, in rows, that is filled silently. A longer one is filled too, and its values
        are ``missing`` in the series.
    name
        The name of the input in error messages.
    known
        Columns of frames that are channels, for a detector was fitted on them, though their names
        may be those of labels.

    Raises
    ------
    InputError
        For anything else; the message says what came and where.
    """
    require_whole("fill_limit", fill_limit, least=0)
    if isinstance(X, TestSeries):
        raise InputError.of(name, "must not hold labels", "got a TestSeries", "pass its rows")
    if isinstance(X, TrainSeries):
        values, missing = clean(
            _numbers(X.values, name), X.channels, fill_limit, name, starts=X.starts
        )
        if X.missing is not None:
            missing = X.missing if missing is None else X.missing | missing
        unnamed = X.channels == TrainSeries(values).channels
        names = None if unnamed else X.channels
        series = replace(X, values=values, missing=missing)
        return Table((series,), values[:1], _only_array, names)
    # one of scipy's sparse formats is a dict as well; scikit-learn has a message for them all
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):
        keys = list(X)
        tables = {
            str(key): read(table, fill_limit=fill_limit, name=f"{name}[{key!r}]", known=known)
            for key, table in X.items()
        }
        if len(tables) != len(keys):
            raise InputError.of(name, "must have keys that differ as text", f"got {keys}")
        return _entities(tables, name, lambda results: dict(zip(keys, results, strict=True)))
    if isinstance(X, list | tuple) and X and all(_is_table(table) for table in X):
        tables = {
            str(number): read(table, fill_limit=fill_limit, name=f"{name}[{number}]", known=known)
            for number, table in enumerate(X)
        }
        return replace(_entities(tables, name, list), by_position=True)
    if is_frame(X):
        return read_frame(X, fill_limit=fill_limit, name=name, known=known)
    if hasattr(X, "to_dataframe") and not hasattr(X, "__array__"):
        # a TimeSeries of Darts: NumPy would walk through it by index
        raise InputError.of(
            name,
            "must be an array or a frame",
            f"got {type(X).__name__}",
            f"pass {name}.to_dataframe()",
        )
    return _read_array(X, fill_limit, name)


def _entities(tables: dict[str, Table], name: str, gather: Callable[[list[Any]], Any]) -> Table:
    if not tables:
        raise InputError.of(name, "must hold at least one series", "got none")
    first = next(iter(tables.values()))
    expected = first.series[0].channels
    series: list[TrainSeries] = []
    for entity, table in tables.items():
        if len(table.series) != 1:
            raise InputError.of(
                f"{name}[{entity!r}]", "must be one series", f"got {len(table.series)}"
            )
        only = table.series[0]
        if only.channels != expected:
            raise InputError.of(
                name,
                "must have the same channels in every series",
                f"got {listed(expected)} in the first and {listed(only.channels)} in {entity!r}",
            )
        series.append(replace(only, entity=entity))

    def restore(arrays: Arrays, names: Names) -> Any:
        pairs = zip(tables.values(), arrays, strict=True)
        return gather([table.restore([array], names) for table, array in pairs])

    return Table(tuple(series), first.header, restore, first.names)


def _read_array(X: Any, fill_limit: int, name: str) -> Table:
    series = TrainSeries(_numbers(X, name))
    values, missing = clean(series.values, series.channels, fill_limit, name)
    return Table((replace(series, values=values, missing=missing),), values[:1], _only_array)


def _numbers(X: Any, name: str) -> NDArray[Any]:
    """``X`` as scikit-learn takes it: 2-d, numbers, at least one row and one column."""
    if type(X) is np.ndarray and X.dtype.kind == "f" and X.ndim == 2 and X.size:
        return X
    from sklearn.utils.validation import check_array

    if isinstance(X, np.ma.MaskedArray):
        # scikit-learn would use the masked values
        X = np.ma.filled(X.astype(np.result_type(X, np.float32)), np.nan)
    try:
        values = check_array(X, dtype="numeric", ensure_all_finite=False, input_name=name)
        if values.dtype == object:
            # from lists that hold None, which scikit-learn leaves as they are
            values = values.astype(np.float64)
    except OverflowError as error:
        raise InputError.of(
            name,
            f"must not exceed {LARGEST:g} in magnitude",
            "got a whole number too large for float64",
        ) from error
    except ValueError as error:
        if str(error).startswith("Expected 2D array"):
            # scikit-learn's message has up to a thousand values in it
            raise InputError.of(
                name,
                "must be 2-d, (time, channels)",
                f"got shape {np.shape(X)}",
                f"Reshape your data, with {name}.reshape(-1, 1) if it is one channel",
            ) from error
        raise InputError(str(error)) from error
    if values.dtype.kind in "mM":
        raise InputError.of(name, "must hold numbers", f"got {values.dtype}", "leave times out")
    return np.asarray(values)


def _only_array(arrays: Arrays, _names: Names) -> NDArray[Any]:
    return arrays[0]


def _is_table(entry: Any) -> bool:
    """Whether an element of a list is a series, rather than a row."""
    if isinstance(entry, np.ndarray):
        return entry.ndim == 2
    return isinstance(entry, TrainSeries | TestSeries) or is_frame(entry)
