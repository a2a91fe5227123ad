"""Missing values in a graph, filled as ``data.cleaning`` and ``data.missing`` fill them.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.onnx.value import Value


class FilledRows(NamedTuple):
    """Complete rows, (T, C), and in which of them a value was missing for long, (T,)."""

    rows: Value
    missing: Value


def fill(rows: Value, fill_limit: int, typical: NDArray[np.float64]) -> FilledRows:
    """Rows of one segment without NaN or infinities.

    A gap takes the value before it, one at the start the value after it. Values missing for more
    than ``fill_limit`` rows, or throughout, are replaced by the channel's typical value.
    """
    write = rows.writer
    # a value that is not finite, less itself, is NaN; so is a sum with it
    nothing = rows - rows
    any_gap = write.op("IsNaN", write.op("ReduceSum", nothing, keepdims=0))

    def as_they_are() -> list[Value]:
        return [rows, write.op("Expand", False, rows.count)]

    def without_gaps() -> list[Value]:
        return [*_without_gaps(rows, write.op("IsNaN", nothing), fill_limit, typical)]

    # most rows have no missing values, and nothing is to be done
    return FilledRows(*write.choose(any_gap, without_gaps, as_they_are, (np.float64, np.bool_)))


def _without_gaps(
    rows: Value, gaps: Value, fill_limit: int, typical: NDArray[np.float64]
) -> FilledRows:
    write, count, channels = rows.writer, rows.count, len(typical)
    row_numbers = write.numbers(0, count).column()
    # how many values were known up to each
    known = write.op("CumSum", (~gaps).cast(np.int64), 0)
    # the row of the nth known value of a channel, (T + 2, C): the number of rows where there are
    # not so many; the last is where values go that are not known
    shape = write.shape(count + 2, channels)
    row_of = write.op(
        "ScatterElements",
        write.op("Expand", count, shape),
        write.where(gaps, count + 1, known - 1),
        write.op("Expand", row_numbers, write.op("Shape", rows)),
        axis=0,
    )
    before = write.op("GatherElements", row_of, (known - 1).at_least(0), axis=0)
    after = write.op("GatherElements", row_of, known, axis=0)
    at_start = known < 1
    first = write.where(at_start, 0, before + 1)
    throughout = at_start & (after >= count)
    long = gaps & ((after - first > fill_limit) | throughout)
    source = write.where(at_start, after.at_most(count - 1), before)
    filled = write.op("GatherElements", rows, source, axis=0)
    return FilledRows(write.where(long, typical, filled), long.cast(np.int64).most(1) > 0)
