"""Point adjustment: a whole event counts as found when part of it is.

It changes what is measured, so no measure applies it by itself: it stands where it is used, as in
``f1(point_adjust(predicted, labels), labels)``. What it does to the numbers is shown in
docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.errors import require_number
from subadjacent.evaluation.inputs import check_predicted, check_scored
from subadjacent.evaluation.segments import segments

# the shares that PA%K is averaged over
PERCENTS = range(101)


def point_adjust(predicted: ArrayLike, labels: ArrayLike) -> NDArray[np.bool_]:
    """Mark a whole true segment as found when any of its points is.

    >>> point_adjust([1, 0, 1, 0, 0], [0, 1, 1, 1, 0]).astype(int).tolist()
    [1, 1, 1, 1, 0]
    """
    return point_adjust_k(predicted, labels, 0)


def point_adjust_k(predicted: ArrayLike, labels: ArrayLike, k: float) -> NDArray[np.bool_]:
    """PA%K: mark a whole true segment as found when more than ``k`` percent of it is.

    With 0 this is point adjustment; with 100 nothing is adjusted. Rows that are alarmed already
    stay alarmed, also in a segment of which too little was found.
    """
    adjusted, anomalous = check_predicted(predicted, labels)
    require_number("k", k, least=0, most=100)
    for start, stop in segments(anomalous).tolist():
        adjusted[start:stop] |= adjusted[start:stop].sum() >= _needed(stop - start, k)
    return adjusted


def adjust_scores(scores: ArrayLike, labels: ArrayLike, k: float = 0) -> NDArray[np.float64]:
    """Scores that are above a threshold exactly where adjusted predictions are alarmed.

    For every threshold t, ``adjust_scores(s, y, k) > t`` is ``point_adjust_k(s > t, y, k)``. A
    segment is marked once its m-th highest score passes the threshold, where m is the number of
    rows needed; so no row of it may score lower than that. Any measure over all thresholds is
    thereby made a point-adjusted one, at no more than the cost of a sort.
    """
    values, anomalous = check_scored(scores, labels)
    require_number("k", k, least=0, most=100)
    adjusted = values.copy()
    for start, stop in segments(anomalous).tolist():
        needed = _needed(stop - start, k)
        if needed <= stop - start:
            segment = adjusted[start:stop]
            floor = np.partition(segment, len(segment) - needed)[len(segment) - needed]
            np.maximum(segment, floor, out=segment)
    return adjusted


def hits_over_k(predicted: ArrayLike, labels: ArrayLike) -> NDArray[np.int64]:
    """Anomalous rows alarmed after PA%K, for each K = 0, 1, ..., 100.

    The same as ``(point_adjust_k(predicted, labels, k) & labels).sum()`` for each k.
    """
    alarmed, anomalous = check_predicted(predicted, labels)
    bounds = segments(anomalous)
    lengths = bounds[:, 1] - bounds[:, 0]
    until = np.append(0, np.cumsum(alarmed & anomalous))
    alarmed_rows = until[bounds[:, 1]] - until[bounds[:, 0]]
    return np.array(
        [
            np.where(alarmed_rows >= k * lengths // 100 + 1, lengths, alarmed_rows).sum()
            for k in PERCENTS
        ]
    )


def best_hits_over_k(scores: ArrayLike, labels: ArrayLike) -> Iterator[NDArray[np.int64]]:
    """Anomalous rows alarmed after PA%K at every threshold that counts, for K = 0, 1, ..., 100.

    Those thresholds lie just below each different score of an anomalous row, from high to low.
    """
    values, anomalous = check_scored(scores, labels)
    bounds = segments(anomalous)
    lengths = bounds[:, 1] - bounds[:, 0]
    first = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(bounds)), lengths)
    distinct, level = np.unique(-values[anomalous], return_inverse=True)
    # rows by event, and by falling score within an event: the m-th highest stands at first + m - 1
    level = level[np.lexsort((level, owner))]
    for k in PERCENTS:
        needed = k * lengths // 100 + 1
        # where no number of rows is enough, the lowest of all levels changes nothing
        floor = np.where(
            needed <= lengths, level[first + np.minimum(needed, lengths) - 1], len(distinct)
        )
        adjusted = np.minimum(level, floor[owner])
        yield np.cumsum(np.bincount(adjusted, minlength=len(distinct)))


def _needed(length: int, k: float) -> int:
    """The least number of rows that is more than ``k`` percent of ``length``."""
    return int(k * length // 100) + 1
