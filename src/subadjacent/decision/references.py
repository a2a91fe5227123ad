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
# blocks before a row, but for the one next to it, whose median is its level
NEAREST_BLOCK, FARTHEST_BLOCK = 2, 6

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


def level_before(column: Column, left_out: Left, rows: slice) -> Rows:
    """Each row's recent level: the median of the blocks before it; NaN if unknown."""
    first = max(rows.start // BLOCK_ROWS - FARTHEST_BLOCK, 0)
    levels = _block_levels(column, left_out, first * BLOCK_ROWS, rows.stop)
    if np.isnan(levels[0]):
        # look further back for normal rows, where there are any
        earlier = _block_levels(column, left_out, 0, first * BLOCK_ROWS)
        known = earlier[~np.isnan(earlier)]
        levels[0] = known[-1] if len(known) else np.nan
    # a block without normal rows takes the level of the one before it, or else of the one after
    usable = np.flatnonzero(~np.isnan(levels))
    if not len(usable):
        return np.full(rows.stop - rows.start, np.nan)
    latest = np.searchsorted(usable, np.arange(len(levels)), side="right") - 1
    levels = levels[usable[np.maximum(latest, 0)]]
    offsets = np.arange(NEAREST_BLOCK, FARTHEST_BLOCK + 1)
    before = np.arange(len(levels)) - offsets[:, None]
    level = np.median(levels[np.maximum(before, 0)], axis=0)
    blocks = np.arange(rows.start, rows.stop) // BLOCK_ROWS - first
    return np.asarray(level[blocks])


def _block_levels(column: Column, left_out: Left, first: int, last: int) -> Rows:
    """The median of the normal rows of each block; NaN where there is none."""
    blocks = -(-(last - first) // BLOCK_ROWS)
    values = np.full(blocks * BLOCK_ROWS, np.nan)
    rows = slice(first, min(first + len(values), len(column)))
    values[: rows.stop - first] = np.where(left_out[rows], np.nan, column[rows])
    return _median(values.reshape(blocks, BLOCK_ROWS).T) if blocks else np.empty(0)
