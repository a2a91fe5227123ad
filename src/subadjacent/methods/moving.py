"""Moving sums and means over rows.

Sums are made of running sums that start anew every ``length`` rows: a difference of two sums over
the whole series would carry the rounding of one huge value to all rows after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import require_whole


def trailing_sum(values: NDArray[Any], length: int) -> NDArray[np.float64]:
    """Sum of each row and the ``length - 1`` before it; of fewer at the start."""
    values = np.asarray(values, dtype=np.float64)
    n, columns = len(values), values.shape[1:]
    length = max(min(length, n), 1)
    if length == 1:
        return values.copy()
    padding = -n % length
    if padding:
        values = np.concatenate([values, np.zeros((padding, *columns))])
    blocks = values.reshape(-1, length, *columns)
    sums = np.cumsum(blocks, axis=1)
    # the rest of the block before, without its first i + 1 values
    sums[1:, :-1] += _rest(blocks[:-1])
    return np.asarray(sums.reshape(-1, *columns)[:n])


def _rest(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums from the second value on, from the third on, … to the last of each block."""
    return np.asarray(np.cumsum(blocks[:, :0:-1], axis=1)[:, ::-1])


def rows_ahead(length: int, lookahead: int | None) -> int:
    """Rows after a row that a mean over ``length`` rows takes in: half, or what is allowed."""
    half = (length - 1) // 2
    return half if lookahead is None else min(half, lookahead)


def moving_mean(
    values: NDArray[Any], length: int, lookahead: int | None = None
) -> NDArray[np.float64]:
    """Mean over ``length`` rows around each row; over fewer at the ends.

    No more than ``lookahead`` of them come after the row; with None, as many as before it.
    """
    values = np.asarray(values, dtype=np.float64)
    if length == 1:
        return values
    counts = row_counts(len(values), length, lookahead)
    return moving_sum(values, length, lookahead) / counts.reshape(-1, *[1] * (values.ndim - 1))


def moving_sum(
    values: NDArray[Any], length: int, lookahead: int | None = None
) -> NDArray[np.float64]:
    """Sum over ``length`` rows around each row; over fewer at the ends."""
    ahead = rows_ahead(length, lookahead)
    if not ahead:
        return trailing_sum(values, length)
    values = np.asarray(values, dtype=np.float64)
    beyond = np.zeros((ahead, *values.shape[1:]))
    # shifted: the sum up to a row's last neighbour
    return trailing_sum(np.concatenate([values, beyond]), length)[ahead:]


def row_counts(
    n: int, length: int, lookahead: int | None = None, first: int = 0, last: int | None = None
) -> NDArray[np.int64]:
    """How many of ``length`` rows around each row exist, of rows ``first`` to ``last`` of ``n``."""
    ahead, last = rows_ahead(length, lookahead), n if last is None else last
    if first + ahead + 1 >= length and last + ahead <= n:
        # far from both ends, as most rows are
        return np.full(last - first, length)
    rows = np.arange(first, last)
    return np.minimum(rows + ahead + 1, n) - np.maximum(rows + ahead + 1 - length, 0)


def smooth(scores: NDArray[Any], length: int, before: float) -> NDArray[np.float64]:
    """Mean of each score and the ``length - 1`` before it.

    It trails, so that a smoothed score never changes when more rows come. ``before`` stands
    for the scores before the first: a mean over fewer would be noisier there, and alarms at
    the start of a series the likelier for it.
    """
    require_whole("smoothing", length, least=1)
    present = np.minimum(np.arange(1, len(scores) + 1), length)
    total = trailing_sum(scores, length)
    return np.asarray((total + before * (length - present)) / length)


class WindowSums:
    """Sums over windows of several lengths, of a few thousand rows at a time.

    A sum over twice as many rows is that of two sums, so that a window of 40 rows takes six
    additions and no subtraction: nothing of one value reaches beyond its windows. Several times as
    quick as ``moving_sum`` where there are many columns.

    Parameters
    ----------
    values
        Rows from ``begin`` on of a segment, with zeros where the segment has no rows.
    """

    def __init__(self, values: NDArray[np.float64], begin: int) -> None:
        self.begin = begin
        # sums of so many rows from each row on: two to the power of the place
        self.doubled = [values]

    def over(self, first: int, last: int, length: int, ahead: int) -> NDArray[np.float64]:
        """Sums over ``length`` rows, ``ahead`` of them after it, of rows ``first`` to ``last``."""
        at = first + ahead + 1 - length - self.begin
        for power in range(len(self.doubled), length.bit_length()):
            half, rows = self.doubled[-1], 1 << power - 1
            self.doubled.append(half[:-rows] + half[rows:])
        total: NDArray[np.float64] | None = None
        for power in range(length.bit_length()):
            if length >> power & 1:
                sums = self.doubled[power][at : at + last - first]
                total = sums if total is None else total + sums
                at += 1 << power
        assert total is not None
        return total


def around(
    values: NDArray[Any], first: int, last: int, margin: int
) -> tuple[NDArray[np.float64], int]:
    """Rows ``first`` to ``last`` with ``margin`` rows on either side, and where they begin.

    Zeros stand for rows that the segment does not have.
    """
    begin, end = first - margin, last + margin
    rows = np.zeros((end - begin, *values.shape[1:]))
    existing = values[max(begin, 0) : end]
    rows[max(-begin, 0) : max(-begin, 0) + len(existing)] = existing
    return rows, begin
