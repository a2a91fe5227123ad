"""What all views together make of a segment, chunk by chunk.

The parts of views that expect values are averaged; what was never seen is added to their mean.

Shapes: T rows of a segment, C channels, P parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.novelty import Novelty
from subadjacent.runtime import side_by_side
from subadjacent.scoring.moving import (
    WindowSums,
    around,
    row_counts,
    rows_ahead,
)
from subadjacent.scoring.usual import SOFTNESS, Surprise, chunks

# values that are worth several threads
MANY = 200_000
# decimals of a score that mean something: rows that are alike then tie
DECIMALS = 6


class PartOfSegment(NamedTuple):
    """What one part makes of a segment: the surprise of some rows, and which rows it judges.

    It counts by its weight and a factor; the mean is by the weights of parts that judge a row.
    """

    surprise: Callable[[int, int], Surprise]
    judged: NDArray[np.bool_]
    weight: float
    factor: float


class RowsOfPart(NamedTuple):
    """What one part makes of the rows of a segment as a whole, and which of them it judges."""

    rows: NDArray[np.float64]  # (T,), the mean over channels
    judged: NDArray[np.bool_]
    weight: float
    factor: float


class AddedPart(NamedTuple):
    """What is added to the mean over parts: the surprise of rows and of their values."""

    novelty: Novelty
    weight: float


class Combined(NamedTuple):
    """What all parts together make of a segment.

    ``by_part`` is what each part adds to ``rows``, those that are added after the others.
    """

    values: NDArray[np.float32]  # (T, C)
    rows: NDArray[np.float64]  # (T,)
    by_part: NDArray[np.float64]  # (P, T)


def combine(parts: Sequence[PartOfSegment], added: Sequence[AddedPart], shape: Any) -> Combined:
    """The mean over parts, at each row over those that judge it, and what others add to it."""
    rows, channels = shape
    values = np.empty((rows, channels), dtype=np.float32)
    means, by_part = np.empty(rows), np.zeros((len(parts) + len(added), rows))
    weight = _total_weight(parts, rows)

    def add_up(bounds: tuple[int, int]) -> None:
        first, last = bounds
        here = slice(first, last)
        total = np.zeros((last - first, channels))
        for number, part in enumerate(parts):
            if not part.judged[here].any():
                continue
            share = _share(part, weight, here)
            surprise = part.surprise(first, last)
            surprise *= share[:, None]
            by_part[number, here] = surprise.mean(axis=1)
            total += surprise
        means[here] = total.mean(axis=1)
        for number, (novelty, added_weight) in enumerate(added, start=len(parts)):
            by_part[number, here] = added_weight * novelty.rows[here]
            means[here] += by_part[number, here]
            total += added_weight * novelty.values[here]
        values[here] = total

    side_by_side(add_up, chunks(rows), worth_it=rows * channels >= MANY)
    return Combined(values, means, by_part)


def combine_rows(parts: Sequence[RowsOfPart], rows: int) -> NDArray[np.float64]:
    """The ``rows`` of ``combine``, where it is known already what parts make of each row, (T,)."""
    weight, everything = _total_weight(parts, rows), slice(0, rows)
    total = np.zeros(rows)
    for part in parts:
        total += _share(part, weight, everything) * part.rows
    return total


def _total_weight(parts: Sequence[PartOfSegment | RowsOfPart], rows: int) -> NDArray[np.float64]:
    """Of the parts that judge each row, (T,)."""
    weight = np.zeros(rows)
    for part in parts:
        weight += part.weight * part.judged
    return weight


def _share(
    part: PartOfSegment | RowsOfPart, weight: NDArray[np.float64], here: slice
) -> NDArray[np.float64]:
    """What part of the mean is a part's, at some rows; 0 at those that it does not judge.

    They have a residual of 0, but averages with those next to them.
    """
    share = np.zeros(here.stop - here.start)
    np.divide(part.weight * part.factor, weight[here], out=share, where=part.judged[here])
    return share


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
    """The score of a segment: the surprise of its rows, averaged; of some rows if asked.

    Anomalies last a row or a hundred: the mean of what the row itself, ``smoothing`` rows and three
    times as many come to. Where a segment has fewer than half of these, the others count as
    silent: a few rows of a cycle stay above the mean of a whole one without being odd.
    """
    n, last = len(rows), len(rows) if last is None else last
    lengths = smoothing_lengths(smoothing)
    if last - first == 1:
        # in fewer calls
        mean = 0.0
        for length in lengths:
            end = first + rows_ahead(length, lookahead) + 1
            averaged = rows[max(end - length, 0) : end]
            mean += float(np.add.reduce(averaged)) / max(len(averaged), (length + 1) // 2)
        return np.array([mean / len(lengths)]).round(DECIMALS)
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


def unusual(values: NDArray[Any], smoothing: int, lookahead: int | None) -> NDArray[np.float32]:
    """The surprise of values, averaged, as squares in units of the usual one, (T, C)."""
    unusual = np.empty(values.shape, dtype=np.float32)

    def average(bounds: tuple[int, int]) -> None:
        unusual[slice(*bounds)] = unusual_rows(values, smoothing, lookahead, *bounds)

    side_by_side(average, chunks(len(values)), worth_it=values.size >= MANY)
    return unusual


def unusual_rows(
    values: NDArray[Any], smoothing: int, lookahead: int | None, first: int, last: int
) -> NDArray[np.float64]:
    """The same of the rows from ``first`` to ``last`` of a segment."""
    counts = row_counts(len(values), smoothing, lookahead, first, last)
    sums = WindowSums(*around(values, first, last, smoothing))
    mean = sums.over(first, last, smoothing, rows_ahead(smoothing, lookahead)) / counts[:, None]
    return np.asarray(SOFTNESS * np.expm1(mean))
