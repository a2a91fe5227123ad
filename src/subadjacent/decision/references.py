"""Reference values of a channel: at the same phase of other cycles, or just before.

Rows of alarms are left out, so that reference values do not follow anomalies.

Shapes: T rows of a segment, R rows requested.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# cycles that a row is compared with, the latest first; the fewest; and the most to search through
CYCLES, MIN_CYCLES, MAX_CYCLES = 6, 2, 24
# share of the phases of a cycle that must be known to compare it with another
MIN_KNOWN_PHASES = 0.5
# levels further from their median than this many times the furthest of the template are shifted
MAX_DISTANCE = 1.5
# rows whose median is a level
BLOCK_ROWS = 20
# blocks before a row, but for the one next to it, whose median is its level: the farthest of a
# short and of a long memory. A long one, of all rows that a stream keeps, does not follow a drift
NEAREST_BLOCK, SHORT_MEMORY, LONG_MEMORY = 2, 6, 40
# rows without a normal one after which a range widens no more
MAX_AGE = 400

Column = NDArray[Any]
Left = NDArray[np.bool_]
Rows = NDArray[np.float64]


def same_time(column: Column, left_out: Left, cycle: int, rows: slice) -> Rows:
    """Median, lowest and highest of each row's normal values at the same phase of cycles before.

    Of (3, R), NaN for a row with fewer than ``MIN_CYCLES``, in the latest cycles or in those that
    were searched. ``left_out`` marks rows of the segment that are not normal, (T,).
    """
    numbers = np.arange(rows.start, rows.stop)
    found = _at_phase(column, left_out, numbers, cycle * np.arange(1, CYCLES + 1))
    unknown = np.flatnonzero(np.isnan(found[0]))
    if len(unknown) and numbers[unknown[-1]] > cycle * CYCLES:
        earlier = cycle * np.arange(1, MAX_CYCLES + 1)
        found[:, unknown] = _at_phase(column, left_out, numbers[unknown], earlier)
    return found


def _at_phase(
    column: Column, left_out: Left, rows: NDArray[np.int64], lags: NDArray[np.int64]
) -> Rows:
    """The same over the first ``CYCLES`` normal rows at these lags, (3, R)."""
    places = rows - lags[:, None]
    usable = (places >= 0) & ~left_out[np.maximum(places, 0)]
    usable &= np.cumsum(usable, axis=0) <= CYCLES
    values = np.where(usable, column[np.maximum(places, 0)], np.nan)
    ordered = np.sort(values, axis=0)  # NaN last
    counts, columns = usable.sum(axis=0), np.arange(len(rows))
    some = np.maximum(counts, 1)
    median = (ordered[(some - 1) // 2, columns] + ordered[some // 2, columns]) / 2
    found = np.stack([median, ordered[0], ordered[some - 1, columns]])
    found[:, counts < MIN_CYCLES] = np.nan
    return found


def _median(values: Rows) -> Rows:
    """The median of each column's numbers, (R,); NaN where there is none."""
    ordered = np.sort(values, axis=0)  # NaN last
    counts = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    columns = np.arange(values.shape[1])
    return np.asarray((ordered[(counts - 1) // 2, columns] + ordered[counts // 2, columns]) / 2)


def phase_levels(column: Column, left_out: Left, cycle: int) -> Rows:
    """The median of normal rows at each phase, (cycle,), the first row having phase 0; or NaN."""
    cycles = -(-len(column) // cycle)
    padded = np.full(cycles * cycle, np.nan)
    padded[: len(column)] = np.where(left_out, np.nan, column)
    return _median(padded.reshape(cycles, cycle))


def phase_of(levels: Rows, template: Rows) -> int | None:
    """The phase of a template with which levels at all phases begin; None if few are known.

    Those further from the others than the template ever is, as after a shift, are left out.
    """
    known = ~np.isnan(levels)
    if not known.any():
        return None
    likely = template - np.median(template)
    centred = levels - np.median(levels[known])
    known &= np.abs(centred) <= MAX_DISTANCE * np.abs(likely).max()
    if known.mean() < MIN_KNOWN_PHASES:
        return None
    spectrum = np.fft.rfft(likely) * np.conj(np.fft.rfft(np.where(known, centred, 0.0)))
    return int(np.argmax(np.fft.irfft(spectrum, len(template))))


def level_before(column: Column, left_out: Left, rows: slice, memory: int) -> Rows:
    """Each row's level: the median of up to ``memory`` blocks before it; NaN if unknown.

    Without normal rows in reach the level stays what it was. The first rows have that of the first
    block, if it is at their beginning.
    """
    begin, end = rows.start // BLOCK_ROWS, -(-rows.stop // BLOCK_ROWS)
    first = max(begin - memory, 0)
    blocks = _block_levels(column, left_out, first * BLOCK_ROWS, rows.stop)
    before = np.arange(end - first) - np.arange(NEAREST_BLOCK, memory + 1)[:, None]
    levels = _median(np.append(blocks, np.nan)[np.maximum(before, -1)])
    # frozen where the nearest block is unknown: the median of fewer and fewer blocks would wander
    nearest = np.append(blocks, np.nan)[np.maximum(before[0], -1)]
    known = np.flatnonzero(~np.isnan(levels) & ~np.isnan(nearest))
    if first and (not len(known) or known[0] > begin - first):
        return level_before(column, left_out, slice(0, rows.stop), memory)[rows]
    # before the first level that is known, that of the first block: later ones would tell of rows
    # after an event what is compared with it
    blocks = blocks[:NEAREST_BLOCK]
    blocks = blocks[~np.isnan(blocks)]
    earliest = blocks[0] if len(blocks) else np.nan
    latest = np.searchsorted(known, np.arange(end - first), side="right") - 1
    levels = np.append(levels[known], earliest)[latest]
    return np.asarray(levels[np.arange(rows.start, rows.stop) // BLOCK_ROWS - first])


def rows_since(normal: Left, rows: slice) -> Rows:
    """Rows since the last normal one, at each of some rows: at most ``MAX_AGE``."""
    first = max(rows.start - MAX_AGE, 0)
    places = np.arange(first, rows.stop)
    latest = np.maximum.accumulate(np.where(normal[first : rows.stop], places, first - 1))
    age = np.minimum(places - latest, MAX_AGE)
    return np.asarray(age[rows.start - first :], dtype=np.float64)


def _block_levels(column: Column, left_out: Left, first: int, last: int) -> Rows:
    """The median of the normal rows of each block; NaN where there is none."""
    blocks = -(-(last - first) // BLOCK_ROWS)
    values = np.full(blocks * BLOCK_ROWS, np.nan)
    rows = slice(first, min(first + len(values), len(column)))
    values[: rows.stop - first] = np.where(left_out[rows], np.nan, column[rows])
    return _median(values.reshape(blocks, BLOCK_ROWS).T) if blocks else np.empty(0)
