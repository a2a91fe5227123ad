"""Averages over rows: from the surprise of rows to the score, from that of values to explanations.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.moving import WindowSums, around, row_counts, rows_ahead
from subadjacent.methods.views.residual_scale import SOFTNESS, Surprise, chunks

# decimals of a score that mean something: rows that are alike then tie
DECIMALS = 6


def smoothing_lengths(smoothing: int) -> tuple[int, ...]:
    """Rows that scores are averaged over; with 1 they are left as they are."""
    return (1,) if smoothing == 1 else (1, smoothing, 3 * smoothing)


def smoothed(
    rows: NDArray[np.float64],
    smoothing: int,
    lookahead: int | None,
    first: int = 0,
    last: int | None = None,
) -> Surprise:
    """The score of a segment, or of some of its rows: the averaged surprise of rows.

    Anomalies last a row or a hundred: the mean of the row itself, of the average over ``smoothing``
    rows and of that over three times as many. Where a segment has fewer than half of these, the
    others count as 0: a few rows of a cycle stay above the mean of a whole one without being odd.
    """
    n, last = len(rows), len(rows) if last is None else last
    lengths = smoothing_lengths(smoothing)
    # no window reaches further than all rows
    sums = WindowSums(*around(rows, first, last, min(max(lengths), n)))
    total = np.zeros(last - first)
    for length in lengths:
        there = row_counts(n, length, lookahead, first, last)
        ahead = min(rows_ahead(length, lookahead), n)
        behind = max(min(length - 1 - rows_ahead(length, lookahead), n - 1), 0)
        total += sums.over(first, last, behind + 1 + ahead, ahead) / np.maximum(
            there, (length + 1) // 2
        )
    return np.asarray(np.round(total / len(lengths), DECIMALS))


def unusual(
    values: NDArray[Any], smoothing: int, lookahead: int | None, first: int, last: int
) -> NDArray[np.float32]:
    """The averaged surprise of values, as squares in units of the baseline scale, (rows, C).

    Of the rows from ``first`` to ``last`` of a segment.
    """
    found = np.empty((last - first, values.shape[1]), dtype=np.float32)
    for start, stop in chunks(last - first):
        here = first + start, first + stop
        counts = row_counts(len(values), smoothing, lookahead, *here)
        sums = WindowSums(*around(values, *here, smoothing))
        mean = sums.over(*here, smoothing, rows_ahead(smoothing, lookahead)) / counts[:, None]
        found[start:stop] = SOFTNESS * np.expm1(mean)
    return found
