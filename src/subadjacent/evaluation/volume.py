"""Volume under the surface (VUS): ROC and precision-recall areas, averaged over buffers.

Labels are seldom exact to the row, so Paparrizos et al. (2022) give the rows around each event a
share of an anomaly, which falls from 1 beside the event to sqrt(1/2) at the end of a buffer. The
area under a curve is taken for every length of that buffer and averaged. Programs do this in two
ways, and the difference can be as large as that between two detectors: name the variant.

Both variants
    - try ``thresholds`` thresholds, scores at equal steps of rank from the highest to the lowest,
      and alarm rows at *or above* them;
    - take buffers w = 0, 1, ..., ``window``; a row d rows from an event counts sqrt(1 - d / w) if
      d <= w // 2. Where two events reach the same row the shares are added, up to 1;
    - take as hits H the shares of the alarmed rows, as precision H / alarms, and as recall
      min(1, H / positives) times the share of events found; events whose buffers meet are one
      event, found when any row of it, buffer included, is alarmed;
    - take as false alarm rate (alarms - H) / (rows - positives), and as ROC area the trapezoids
      through (0, 0), the thresholds and (1, 1).

``"tsb-ad"``, as in TSB-AD 1.5, and by default in vus 0.0.6
    - the buffer is as long after an event as before it;
    - positives are the anomalous rows and half the share of the *alarmed* buffer: a buffer that
      is not alarmed costs no recall;
    - the precision-recall area is a sum of steps: recall gained times the precision there.

``"original"``, the authors' first form, kept in aeon, and in dtaianomaly as ``compatibility_mode``
    - the buffer after an event is one row shorter than that before it;
    - positives are the anomalous rows and half the share of the *whole* buffer;
    - the precision-recall area is that of trapezoids, from recall 0 at precision 1.

Neither is what dtaianomaly does without that mode: its buffers fall in straight lines. Where all
scores are equal aeon gives 0; here they are measured like any others.

The work is O(n log n + window² thresholds): a row beyond the nearest event's reach counts nothing,
one that two events reach counts 1, so a row has at most two changes over all buffers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.errors import InputError, require_whole
from subadjacent.evaluation.inputs import check_scored
from subadjacent.evaluation.segments import segments

VusVariant = Literal["tsb-ad", "original"]
Counts = NDArray[np.float64]


class Volumes(NamedTuple):
    """Both volumes: they share nearly all of the work."""

    roc: float
    pr: float


def volumes(
    scores: ArrayLike,
    labels: ArrayLike,
    window: int = 100,
    *,
    variant: VusVariant = "tsb-ad",
    thresholds: int = 250,
) -> Volumes:
    """VUS-ROC and VUS-PR; see the top of this module for what the variants do.

    Parameters
    ----------
    scores, labels
        One score and one label, 0 or 1, for each row.
    window
        The longest buffer, half of it on either side of an event; 0 leaves the labels as they are.
    variant
        ``"tsb-ad"`` or ``"original"``.
    thresholds
        How many thresholds are tried, 250 in both programs.

    Returns
    -------
    Both nan when no row is anomalous; ``roc`` is nan when all are.
    """
    values, anomalous = check_scored(scores, labels)
    require_whole("window", window, least=0)
    require_whole("thresholds", thresholds, least=2)
    if variant not in get_args(VusVariant):
        raise InputError(f"variant must be one of {get_args(VusVariant)}; got {variant!r}")
    if not anomalous.any():
        return Volumes(math.nan, math.nan)
    step = _first_alarm(values, int(thresholds))
    alarms = _up_to(step, thresholds)
    hits = _up_to(step[anomalous], thresholds)
    roc, pr = [], []
    for near, events_found in _buffers(
        step, anomalous, window, thresholds, late=variant == "original"
    ):
        credit = hits + near
        reachable = near if variant == "tsb-ad" else near[-1]
        positives = hits[-1] + reachable / 2
        recall = np.minimum(credit / positives, 1) * events_found
        precision = credit / alarms
        if variant == "tsb-ad":
            pr.append(np.diff(recall, prepend=0) @ precision)
        else:
            pr.append(_trapezoids(np.append(0, recall), np.append(1, precision)))
        if not anomalous.all():
            false = (alarms - credit) / (len(values) - positives)
            roc.append(_trapezoids(_ends(false), _ends(recall)))
    return Volumes(float(np.mean(roc)) if roc else math.nan, float(np.mean(pr)))


def _first_alarm(scores: NDArray[np.float64], thresholds: int) -> NDArray[np.int64]:
    """For each row the first threshold, counted from the highest, that alarms it."""
    ranks = np.linspace(0, len(scores) - 1, thresholds).astype(np.int64)
    rising = np.sort(-scores)[ranks]
    return np.searchsorted(rising, -scores, side="left").astype(np.int64)


def _up_to(step: NDArray[np.int64], thresholds: int) -> Counts:
    """Number of rows that each threshold alarms."""
    return np.cumsum(np.bincount(step, minlength=thresholds)).astype(np.float64)


def _trapezoids(x: Counts, y: Counts) -> np.float64:
    return np.float64(np.diff(x) @ (y[1:] + y[:-1]) / 2)


def _ends(curve: Counts) -> Counts:
    return np.concatenate(([0.0], curve, [1.0]))


def _buffers(
    step: NDArray[np.int64],
    labels: NDArray[np.bool_],
    window: int,
    thresholds: int,
    *,
    late: bool,
) -> Iterator[tuple[Counts, Counts]]:
    """For each buffer: shares of the alarmed buffer rows, and of events found, by threshold."""
    bounds = segments(labels)
    starts, lasts = bounds[:, 0], bounds[:, 1] - 1
    gaps = starts[1:] - lasts[:-1]
    distance, enters, leaves, at = _reached(step, labels, starts, lasts, window // 2, late)
    single = np.zeros((window // 2 + 1, thresholds))  # rows that one event reaches, by distance
    in_several = np.zeros(thresholds)
    # one step more, that no threshold reaches: an event may stop at the end of the rows
    first = np.minimum.reduceat(np.append(step, thresholds), bounds.ravel())[::2]
    for half in range(window // 2 + 1):
        if half:
            new, old = enters == half, leaves == half
            np.add.at(single, (distance[new], at[new]), 1)
            np.subtract.at(single, (distance[old], at[old]), 1)
            in_several += np.bincount(at[old], minlength=thresholds)
            before = np.maximum(starts - half, 0)
            after = np.minimum(lasts + half - late, len(step) - 1)
            first = np.minimum(first, np.minimum(step[before], step[after]))
        merged = np.minimum.reduceat(first, np.flatnonzero(np.append(True, gaps > 2 * half)))
        events_found = _up_to(merged, thresholds) / len(merged)
        for width in range(2 * half, min(2 * half + 1, window) + 1):
            share = np.sqrt(1 - np.arange(half + 1) / max(width, 1))
            yield np.cumsum(share @ single[: half + 1] + in_several), events_found


def _reached(
    step: NDArray[np.int64],
    labels: NDArray[np.bool_],
    starts: NDArray[np.int64],
    lasts: NDArray[np.int64],
    longest: int,
    late: bool,
) -> tuple[NDArray[np.int64], ...]:
    """Normal rows in any buffer, and when events reach them.

    For each its distance to the event that is first to reach it, the half buffers at which one
    event and at which two do, and its first alarm.
    """
    rows = np.flatnonzero(~labels)
    far = len(labels) + 2 * longest + 2
    following = np.searchsorted(starts, rows) + 2
    ends = np.concatenate(([-far, -far], lasts))
    begins = np.concatenate((starts, [len(labels) + far] * 2))
    # the two events before a row and the two after it; no others can be among the nearest two
    behind, behind_2 = rows - ends[following - 1], rows - ends[following - 2]
    ahead, ahead_2 = begins[following - 2] - rows, begins[following - 1] - rows
    needs, needs_2 = behind + late, behind_2 + late
    enters = np.minimum(needs, ahead)
    leaves = np.minimum(np.maximum(needs, ahead), np.minimum(needs_2, ahead_2))
    distance = np.where(needs <= ahead, behind, ahead)
    near = enters <= longest
    return distance[near], enters[near], leaves[near], step[rows[near]]
