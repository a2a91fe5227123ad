"""The columns of a frame that are channels: checked, and made into one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

# every value of these is one of float32 as well
HELD_BY_FLOAT32 = ("Float32", "Float16", "Boolean", "Int8", "Int16", "UInt8", "UInt16")


def check_channels(frame: nw.DataFrame[Any], channels: Sequence[Any], name: str) -> None:
    """Refuse columns that are no channels, and a frame without rows or channels.

    ``channels`` are the frame's own labels for them: text, but for pandas.
    """
    _check_names(channels, name)
    # only once: a frame computes it anew, of all columns, at every access
    schema = frame.schema
    _check_types({channel: schema[channel] for channel in channels}, name)
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


def _check_names(channels: Sequence[Any], name: str) -> None:
    by_text: dict[str, Any] = {}
    for channel in channels:
        if str(channel) in by_text:
            raise InputError.of(
                name,
                "must have columns whose names differ as text",
                f"got {by_text[str(channel)]!r} and {channel!r}",
                "rename one of them",
            )
        by_text[str(channel)] = channel


def _check_types(schema: dict[Any, nw.dtypes.DType], name: str) -> None:
    import narwhals as nw

    not_numbers = {
        column: dtype
        for column, dtype in schema.items()
        if not (dtype.is_numeric() or dtype == nw.Boolean)
    }
    if not not_numbers:
        return
    has_durations = any(dtype == nw.Duration for dtype in not_numbers.values())
    how = " (a duration by dt.total_seconds())" if has_durations else ""
    listed = ", ".join(f"{column!r} ({dtype})" for column, dtype in not_numbers.items())
    raise InputError.of(
        name,
        "must hold numbers",
        f"these columns do not: {listed}",
        f"drop them, or turn them into numbers{how}",
    )


def view_values(frame: nw.DataFrame[Any], places: Sequence[int]) -> NDArray[Any] | None:
    """The columns at ``places`` as one array where pandas holds them as one, else None."""
    stop = places[-1] + 1
    if not frame.implementation.is_pandas() or list(places) != list(range(places[0], stop)):
        return None
    native = frame.to_native().iloc[:, places[0] : stop]
    if set(native.dtypes) not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        return None
    return np.asarray(native.to_numpy())


def copy_values(frame: nw.DataFrame[Any], places: Sequence[int], order: Any) -> NDArray[Any]:
    """A copy of the columns at ``places``, with rows in the given order.

    It is filled column by column: there is never a second copy of more than one. It is float32
    where that holds every column exactly, else float64.
    """
    import narwhals as nw

    small = all(str(frame[:, place].dtype) in HELD_BY_FLOAT32 for place in places)
    dtype = nw.Float32 if small else nw.Float64
    shape = (len(frame), len(places))
    # as frames hold them, and quicker to fill
    values = np.empty(shape, dtype=np.float32 if small else np.float64, order="F")
    for number, place in enumerate(places):
        column = frame[:, place]
        column = column if column.dtype == dtype else column.cast(dtype)
        values[:, number] = column.to_numpy()[order]
    return values


def header(frame: nw.DataFrame[Any], places: Sequence[int]) -> Any:
    """The first row of the columns at ``places``, copied, as scikit-learn reads it."""
    row = frame[[0], list(places)].to_native()
    columns = frame.columns
    kinds = {type(columns[place]) for place in places}
    if str in kinds and len(kinds) > 1:
        # it refuses names of which some are text and some are not
        row.columns = [str(columns[place]) for place in places]
    return row


def own_labels(frame: nw.DataFrame[Any], places: Sequence[int]) -> Any:
    """The labels of the columns in pandas, numbers and levels included; None elsewhere."""
    if not frame.implementation.is_pandas_like():
        return None
    return frame.to_native().columns[list(places)]
