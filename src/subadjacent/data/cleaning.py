"""Missing and impossible values: fill gaps, mark long ones, refuse values out of range."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import fill, long_gaps
from subadjacent.data.scaling import chunks
from subadjacent.errors import InputError

# squares of anything larger leave float64's range when they are summed
LARGEST = 1e100


class Cleaned(NamedTuple):
    """Finite values, and the mask of those in long gaps, (T, C); None without any."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None


def clean(
    values: NDArray[Any],
    channels: tuple[str, ...],
    fill_limit: int,
    where: str = "X",
    *,
    starts: tuple[int, ...] = (0,),
    in_place: bool = False,
) -> Cleaned:
    """Values without NaN or infinities; the input itself when it has none.

    Gaps are filled by the rule of ``data.gaps``; values of long ones are marked as missing.

    Parameters
    ----------
    values
        Rows, shape (time, channels).
    channels
        One name a column, for messages.
    fill_limit
        Longest gap, in rows, that is not missing for long; a gap ends where its segment does.
    where
        The name of the rows in messages.
    starts
        First row of every unbroken segment; begins with 0.
    in_place
        Fill ``values`` itself, for callers that own the array.

    Raises
    ------
    InputError
        With the row and the column, for a value beyond 1e100.
    """
    if not np.issubdtype(values.dtype, np.floating):
        return Cleaned(values, None)
    suspects = np.zeros(values.shape[1], dtype=bool)
    largest = min(LARGEST, float(np.finfo(values.dtype).max))
    for rows in chunks(len(values)):
        suspects |= ~(np.abs(values[rows]) <= largest).all(axis=0)
    if not suspects.any():
        return Cleaned(values, None)
    filled = values if in_place else values.copy()
    missing: NDArray[np.bool_] | None = None
    for column in np.flatnonzero(suspects):
        gaps = ~np.isfinite(values[:, column])
        _check_size(values[:, column], gaps, where, f"column {channels[column]!r}")
        fill(filled[:, column], gaps, starts)
        long = long_gaps(gaps, fill_limit, starts)
        if long.any():
            # most series have no such gap, and then no array of their size
            missing = np.zeros(values.shape, dtype=bool) if missing is None else missing
            missing[:, column] = long
    return Cleaned(filled, missing)


def _check_size(values: NDArray[Any], missing: NDArray[np.bool_], where: str, column: str) -> None:
    # in float64, where the limit is a number and not infinite
    if (too_large := ~missing & (np.abs(values.astype(np.float64)) > LARGEST)).any():
        row = int(np.argmax(too_large))
        raise InputError.of(
            where,
            f"must not exceed {LARGEST:g} in magnitude",
            f"{column} is {values[row]} at row {row}",
        )
