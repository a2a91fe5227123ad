"""Measures for operators: what a person who answers the alarms would see.

An event is a segment of labels. It is found when any row of it is alarmed; an alarm before its
first row does not count for it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.evaluation.inputs import check_predicted
from subadjacent.evaluation.segments import segments


def events_found(predicted: ArrayLike, labels: ArrayLike) -> int:
    """Number of events with at least one alarmed row."""
    return int(np.isfinite(detection_delays(predicted, labels)).sum())


def detection_delays(predicted: ArrayLike, labels: ArrayLike) -> NDArray[np.float64]:
    """Rows from the first row of each event to the first alarmed row in it; nan where missed.

    An event alarmed from its first row on has delay 0.

    >>> detection_delays([0, 0, 1, 0, 0], [1, 1, 1, 0, 1]).tolist()
    [2.0, nan]
    """
    alarmed, anomalous = check_predicted(predicted, labels)
    bounds = segments(anomalous)
    hits = np.flatnonzero(alarmed & anomalous)
    if not len(hits):
        return np.full(len(bounds), np.nan)
    # the first hit at or after each start, if it comes before the stop
    following = np.searchsorted(hits, bounds[:, 0])
    first = hits[np.minimum(following, len(hits) - 1)]
    is_found = (first >= bounds[:, 0]) & (first < bounds[:, 1])
    return np.where(is_found, first - bounds[:, 0], np.nan)


def detection_delay(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Mean delay of the events that were found, in rows; nan when none was.

    Events that were missed have no delay: read it beside the number of events found.
    """
    delays = detection_delays(predicted, labels)
    defined = delays[np.isfinite(delays)]
    return float(defined.mean()) if len(defined) else np.nan


def false_alarms_per_1000(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Alarmed rows that are normal, in 1,000 rows of the series.

    Rows are counted, not runs of them: an alarm that never ends would otherwise be one.
    """
    alarmed, anomalous = check_predicted(predicted, labels)
    return float(1000 * (alarmed & ~anomalous).mean())


def false_alarm_runs(predicted: ArrayLike, labels: ArrayLike) -> int:
    """Number of runs of alarmed rows that touch no event: calls for nothing."""
    alarmed, anomalous = check_predicted(predicted, labels)
    return sum(not anomalous[start:stop].any() for start, stop in segments(alarmed).tolist())
