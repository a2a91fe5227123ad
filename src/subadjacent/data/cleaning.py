"""Missing and impossible values: fill short gaps, refuse long ones and say where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import chunks
from subadjacent.errors import InputError

# squares of anything larger leave float64's range when they are summed
LARGEST = 1e100


def clean(
    values: NDArray[Any], channels: tuple[str, ...], fill_limit: int, where: str = "X"
) -> NDArray[Any]:
    """Values without NaN or infinities; the input itself when it has none.

    A gap of up to ``fill_limit`` rows takes the value before it, so that a filled row depends
    on nothing later; a gap at the very start takes the first value after it.

    Raises
    ------
    InputError
        With the row and the column, for a longer gap or a value beyond 1e100.
    """
    if not np.issubdtype(values.dtype, np.floating):
        return values
    suspects = np.zeros(values.shape[1], dtype=bool)
    largest = min(LARGEST, float(np.finfo(values.dtype).max))
    for rows in chunks(len(values)):
        suspects |= ~(np.abs(values[rows]) <= largest).all(axis=0)
    if not suspects.any():
        return values
    filled = values.copy()
    for column in np.flatnonzero(suspects):
        filled[:, column] = _fill(values[:, column], channels[column], fill_limit, where)
    return filled


def _fill(values: NDArray[Any], channel: str, fill_limit: int, where: str) -> NDArray[Any]:
    missing = ~np.isfinite(values)
    bounds = np.flatnonzero(np.diff(missing, prepend=False, append=False)).reshape(-1, 2)
    lengths = bounds[:, 1] - bounds[:, 0]
    if (lengths > fill_limit).any() or missing.all():
        row, stop = bounds[np.argmax(lengths > fill_limit)]
        raise InputError(
            f"{where} must be finite, or missing for at most fill_limit={fill_limit} rows in a "
            f"row; column {channel!r} is {values[row]} from row {row} for {stop - row} rows"
        )
    # in float64, where the limit is a number and not infinite
    if (too_large := ~missing & (np.abs(values.astype(np.float64)) > LARGEST)).any():
        row = int(np.argmax(too_large))
        raise InputError(
            f"{where} must not exceed {LARGEST:g} in magnitude; "
            f"column {channel!r} is {values[row]} at row {row}"
        )
    last_seen = np.maximum.accumulate(np.where(missing, -1, np.arange(len(values))))
    return values[np.where(last_seen < 0, np.argmin(missing), last_seen)]
