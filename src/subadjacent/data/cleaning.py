"""Missing and impossible values: fill short gaps, refuse long ones and say where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import chunks
from subadjacent.errors import InputError

# squares of anything larger leave float64's range when they are summed
LARGEST = 1e100

RAISE_FILL_LIMIT = "drop the column, or raise fill_limit"
"""The remedy for a gap that is too long."""


def clean(
    values: NDArray[Any],
    channels: tuple[str, ...],
    fill_limit: int,
    where: str = "X",
    *,
    starts: tuple[int, ...] = (0,),
    in_place: bool = False,
) -> NDArray[Any]:
    """Values without NaN or infinities; the input itself when it has none.

    A gap of up to ``fill_limit`` rows takes the value before it, so that a filled row depends
    on nothing later; a gap at the start of a stretch takes the first value after it. A short
    stretch that is missing as a whole takes the last value before it, or else the first after.

    Parameters
    ----------
    values
        Rows, shape (time, channels).
    channels
        One name a column, for messages.
    fill_limit
        Longest gap, in rows, that is filled; a gap ends where its stretch does.
    where
        What messages call the rows.
    starts
        First row of every unbroken stretch; begins with 0.
    in_place
        Fill ``values`` itself, for callers whose own they are.

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
    filled = values if in_place else values.copy()
    for column in np.flatnonzero(suspects):
        seen = values[:, column]
        missing = ~np.isfinite(seen)
        name = f"column {channels[column]!r}"
        _check(seen, missing, np.array(starts), fill_limit, where, name)
        fill(filled[:, column], missing, starts)
    return filled


def fill(values: NDArray[Any], missing: NDArray[np.bool_], starts: tuple[int, ...]) -> None:
    """Give missing values of one column, in place, the value before them, or else the one after."""
    values[missing] = values[_sources(missing, np.array(starts))]


def _check(
    values: NDArray[Any],
    missing: NDArray[np.bool_],
    starts: NDArray[np.intp],
    fill_limit: int,
    where: str,
    column: str,
) -> None:
    """Refuse gaps that are too long, and values that are too large."""
    # a gap ends with its stretch, and one after it begins another
    first, last = missing.copy(), missing.copy()
    first[1:] &= ~missing[:-1]
    last[:-1] &= ~missing[1:]
    first[starts] = missing[starts]
    last[starts[1:] - 1] = missing[starts[1:] - 1]
    begin = np.flatnonzero(first)
    lengths = np.flatnonzero(last) + 1 - begin
    if (lengths > fill_limit).any() or missing.all():
        gap = int(np.argmax(lengths > fill_limit))
        raise InputError.of(
            where,
            f"must be finite, or missing for at most fill_limit={fill_limit} rows in a row",
            f"{column} is {values[begin[gap]]} from row {begin[gap]} for {lengths[gap]} rows",
            RAISE_FILL_LIMIT,
        )
    # in float64, where the limit is a number and not infinite
    if (too_large := ~missing & (np.abs(values.astype(np.float64)) > LARGEST)).any():
        row = int(np.argmax(too_large))
        raise InputError.of(
            where,
            f"must not exceed {LARGEST:g} in magnitude",
            f"{column} is {values[row]} at row {row}",
        )


def _sources(missing: NDArray[np.bool_], starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """For every missing row, the row whose value it takes."""
    gaps, known = np.flatnonzero(missing), np.flatnonzero(~missing)
    # with a row before all and one after all, for gaps that have no known row on that side
    n = len(missing)
    after = np.searchsorted(known, gaps)
    last_before = np.append(-1, known)[after]
    first_after = np.append(known, n)[after]
    stretch = np.searchsorted(starts, gaps, side="right")
    begin, end = starts[stretch - 1], np.append(starts, n)[stretch]
    within = first_after < end
    return np.where(
        (last_before >= begin) | ((last_before >= 0) & ~within), last_before, first_after
    )
