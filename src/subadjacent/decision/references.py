"""Reference values of a channel: at the same phase of other cycles, or just before.

Rows of alarms are left out, so that reference values do not follow anomalies.

Shapes: T rows of a segment, R rows requested.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# cycles that a row is compared with, the latest first; and the most to search through for one
# without an alarm
CYCLES, MAX_CYCLES = 6, 24
# rows whose median is a level
BLOCK_ROWS = 20
# blocks before a row, but for the one next to it, whose median is its level: the farthest of a
# short and of a long memory. A long one, of all rows that a stream keeps, does not follow a drift
NEAREST_BLOCK, SHORT_MEMORY, LONG_MEMORY = 2, 6, 40

Column = NDArray[Any]
Left = NDArray[np.bool_]
Rows = NDArray[np.float64]


def same_time(column: Column, left_out: Left, cycle: int, rows: slice) -> Rows:
    """Each row's median at the same phase of previous cycles, or else of later ones.

    NaN where no such row is normal. ``left_out`` marks rows of the segment that are not, (T,).
    """
    numbers = np.arange(rows.start, rows.stop)
    expected = _median_at(column, left_out, numbers, range(-cycle, -(CYCLES + 1) * cycle, -cycle))
    for shifts in (
        range(-(CYCLES + 1) * cycle, -(MAX_CYCLES + 1) * cycle, -cycle),
        range(cycle, (CYCLES + 1) * cycle, cycle),
    ):
        unknown = np.flatnonzero(np.isnan(expected))
        if not len(unknown):
            break
        expected[unknown] = _median_at(column, left_out, numbers[unknown], shifts)
    return expected


def _median_at(column: Column, left_out: Left, rows: NDArray[np.int64], shifts: range) -> Rows:
    """Each row's median over normal rows at these shifts from it; NaN without any."""
    places = rows + np.array(shifts)[:, None]
    exists = (places >= 0) & (places < len(column))
    places = np.clip(places, 0, len(column) - 1)
    values = np.where(exists & ~left_out[places], column[places], np.nan)
    return _median(values)


def _median(values: Rows) -> Rows:
    """The median of each column's numbers, (R,); NaN where there is none."""
    ordered = np.sort(values, axis=0)  # NaN last
    counts = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    columns = np.arange(values.shape[1])
    return np.asarray((ordered[(counts - 1) // 2, columns] + ordered[counts // 2, columns]) / 2)


def level_before(column: Column, left_out: Left, rows: slice, memory: int) -> Rows:
    """Each row's level: the median of up to ``memory`` blocks before it; NaN if unknown.

    Without normal rows in reach the level stays what it was.
    """
    begin, end = rows.start // BLOCK_ROWS, -(-rows.stop // BLOCK_ROWS)
    first = max(begin - memory, 0)
    blocks = _block_levels(column, left_out, first * BLOCK_ROWS, rows.stop)
    before = np.arange(end - first) - np.arange(NEAREST_BLOCK, memory + 1)[:, None]
    levels = _median(np.append(blocks, np.nan)[np.maximum(before, -1)])
    if first and np.isnan(levels[begin - first]):
        return level_before(column, left_out, slice(0, rows.stop), memory)[rows]
    known = np.flatnonzero(~np.isnan(levels))
    # before the first level that is known, that of the first block
    blocks = blocks[~np.isnan(blocks)]
    earliest = blocks[0] if len(blocks) else np.nan
    latest = np.searchsorted(known, np.arange(end - first), side="right") - 1
    levels = np.append(levels[known], earliest)[latest]
    return np.asarray(levels[np.arange(rows.start, rows.stop) // BLOCK_ROWS - first])


def _block_levels(column: Column, left_out: Left, first: int, last: int) -> Rows:
    """The median of the normal rows of each block; NaN where there is none."""
    blocks = -(-(last - first) // BLOCK_ROWS)
    values = np.full(blocks * BLOCK_ROWS, np.nan)
    rows = slice(first, min(first + len(values), len(column)))
    values[: rows.stop - first] = np.where(left_out[rows], np.nan, column[rows])
    return _median(values.reshape(blocks, BLOCK_ROWS).T) if blocks else np.empty(0)
