"""Missing and impossible values: fill gaps, tell which are long, refuse values out of range."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import chunks
from subadjacent.errors import InputError

# squares of anything larger leave float64's range when they are summed
LARGEST = 1e100


class Cleaned(NamedTuple):
    """Finite values, and which of them were missing for long, (T, C); None where none were."""

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

    A gap takes the value before it, so that a filled row depends on nothing later; a gap at the
    start of a segment takes the first value after it. A gap of up to ``fill_limit`` rows is filled
    silently. A longer one counts as missing for long, and so does a whole segment without any
    value, whatever its length: the values filled in there carry no information.

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
        if gaps.all():
            filled[:, column] = 0
        else:
            fill(filled[:, column], gaps, starts)
        long = _long(gaps, np.array(starts), fill_limit)
        if long.any():
            # most series have no such gap, and then no array of their size
            missing = np.zeros(values.shape, dtype=bool) if missing is None else missing
            missing[:, column] = long
    return Cleaned(filled, missing)


def fill(values: NDArray[Any], missing: NDArray[np.bool_], starts: tuple[int, ...]) -> None:
    """Give missing values of one column, in place, the value before them, or else the one after."""
    values[missing] = values[_sources(missing, np.array(starts))]


def _long(
    missing: NDArray[np.bool_], starts: NDArray[np.intp], fill_limit: int
) -> NDArray[np.bool_]:
    """Which missing values of one column are part of a gap that is too long to be filled."""
    # a gap ends with its segment, and one after it begins another
    ends = np.append(starts[1:], len(missing))
    first, last = missing.copy(), missing.copy()
    first[1:] &= ~missing[:-1]
    last[:-1] &= ~missing[1:]
    first[starts] = missing[starts]
    last[ends - 1] = missing[ends - 1]
    begin, end = np.flatnonzero(first), np.flatnonzero(last) + 1
    whole_segment = np.isin(begin, starts) & np.isin(end, ends)
    long = missing.copy()
    long[missing] = np.repeat((end - begin > fill_limit) | whole_segment, end - begin)
    return long


def _check_size(values: NDArray[Any], missing: NDArray[np.bool_], where: str, column: str) -> None:
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
    segment = np.searchsorted(starts, gaps, side="right")
    begin, end = starts[segment - 1], np.append(starts, n)[segment]
    within = first_after < end
    return np.where(
        (last_before >= begin) | ((last_before >= 0) & ~within), last_before, first_after
    )
