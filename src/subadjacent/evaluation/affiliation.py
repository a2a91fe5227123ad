"""Affiliation precision and recall (Huet et al. 2022): how near alarms are to events, in time.

Time is a line from 0 to n, and row i the part of it from i to i + 1. Each event has a zone, the
times that are nearer to it than to any other event; alarms belong to the event in whose zone they
lie. Within a zone E with event J

- the **precision** of an alarmed time x is the chance that a random time of E is at least as far
  from J as x is: 1 inside the event, 0 at the farthest end of the zone;
- the **recall** of a time y of the event is the chance that a random time of E is at least as far
  from y as the nearest alarm in the zone is; 0 when there is no alarm in the zone.

Both are averaged over times within a zone, then over zones; zones without alarms have no precision
and are left out of that mean. A random score therefore gets about one half and not 0: read
affiliation beside that of a random score.

The averages are integrals of piecewise quadratic functions, taken between the ends of runs: exact,
and the work grows with the number of runs, not with their lengths.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.evaluation.inputs import check_predicted
from subadjacent.evaluation.metrics import harmonic_mean
from subadjacent.evaluation.segments import segments

Times = NDArray[np.float64]


class Affiliation(NamedTuple):
    """Affiliation precision, recall, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


class _Zones(NamedTuple):
    """For each event, its start and stop and those of its zone."""

    left: Times
    start: Times
    stop: Times
    right: Times


def affiliation(predicted: ArrayLike, labels: ArrayLike) -> Affiliation:
    """Affiliation precision, recall and F1.

    All nan when no row is anomalous: there is no event to be near to. Without alarms the precision
    is nan, the recall 0 and F1 0.

    >>> affiliation([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0])
    Affiliation(precision=1.0, recall=1.0, f1=1.0)
    """
    alarmed, anomalous = check_predicted(predicted, labels)
    if not anomalous.any():
        return Affiliation(math.nan, math.nan, math.nan)
    zones = _zones(anomalous)
    precisions = _precisions(alarmed, zones)
    defined = precisions[~np.isnan(precisions)]
    precision = float(defined.mean()) if len(defined) else math.nan
    recall = float(_recalls(alarmed, anomalous, zones).mean())
    return Affiliation(precision, recall, harmonic_mean(precision, recall))


def _zones(labels: NDArray[np.bool_]) -> _Zones:
    start, stop = segments(labels).T.astype(np.float64)
    between = (stop[:-1] + start[1:]) / 2
    return _Zones(np.append(0.0, between), start, stop, np.append(between, float(len(labels))))


def _precisions(alarmed: NDArray[np.bool_], zones: _Zones) -> Times:
    """Mean chance over the alarmed times of each zone; nan where there are none."""
    runs = segments(alarmed).astype(np.float64)
    # cut alarms where zones meet, so that each piece lies in one zone
    inner = zones.right[:-1]
    inside = np.searchsorted(runs[:, 0], inner) > np.searchsorted(runs[:, 1], inner, side="right")
    cuts = inner[inside]
    begins = np.sort(np.append(runs[:, 0], cuts))
    ends = np.sort(np.append(runs[:, 1], cuts))
    zone = np.searchsorted(inner, begins, side="right")
    of_piece = _Zones(*(bound[zone] for bound in zones))
    chance = _chance_before(ends, of_piece) - _chance_before(begins, of_piece)
    total = np.bincount(zone, chance, minlength=len(zones.left))
    length = np.bincount(zone, ends - begins, minlength=len(zones.left))
    mean = np.full(len(length), np.nan)
    np.divide(total, length, out=mean, where=length > 0)
    return mean


def _chance_before(x: Times, zones: _Zones) -> Times:
    """Integral of the chance of precision from the left end of a zone to ``x`` in it."""
    left, start, stop, right = zones
    narrow = np.minimum(start - left, right - stop)

    def outside(distance: Times) -> Times:
        # of the zone, J and what lies within ``distance`` of it on either side is nearer
        limited = np.minimum(distance, narrow)
        nearer = (stop - start) * distance + (distance**2 + limited**2) / 2
        nearer += narrow * (distance - limited)
        chance: Times = distance - nearer / (right - left)
        return chance

    before = outside(start - left) - outside(np.maximum(start - x, 0))
    return before + np.clip(x, start, stop) - start + outside(np.maximum(x - stop, 0))


def _recalls(alarmed: NDArray[np.bool_], labels: NDArray[np.bool_], zones: _Zones) -> Times:
    """Mean chance over the times of each event; 0 where its zone has no alarm."""
    gaps = segments(labels & ~alarmed).astype(np.float64)
    event = np.searchsorted(zones.start, gaps[:, 0], side="right") - 1
    left, right = zones.left[event], zones.right[event]
    runs = segments(alarmed).astype(np.float64)
    # the end of the last alarm before each gap and the start of the first after it, in the zone
    at = np.searchsorted(runs[:, 0], gaps[:, 0])
    behind = np.append(-np.inf, runs[:, 1])[at]
    ahead = np.append(runs[:, 0], np.inf)[at]
    behind = np.where(behind > left, behind, -np.inf)
    ahead = np.where(ahead < right, ahead, np.inf)
    middle = _middle(gaps, behind, ahead)
    size = right - left
    chance = np.zeros(len(gaps))
    for edge, near, far, room in (
        (behind, gaps[:, 0] - behind, middle - behind, right - behind),
        (ahead, ahead - gaps[:, 1], ahead - middle, ahead - left),
    ):
        some = np.isfinite(edge)
        chance[some] += _chance_within(far[some], room[some], size[some])
        chance[some] -= _chance_within(near[some], room[some], size[some])
    missed = np.bincount(event, gaps[:, 1] - gaps[:, 0], minlength=len(zones.left))
    length = zones.stop - zones.start
    gained = np.bincount(event, chance, minlength=len(zones.left))
    return (length - missed + gained) / length


def _middle(gaps: Times, behind: Times, ahead: Times) -> Times:
    """Where in a gap the alarm ahead becomes nearer than that behind it."""
    middle = np.where(np.isfinite(ahead), gaps[:, 0], gaps[:, 1])
    between = np.isfinite(behind) & np.isfinite(ahead)
    middle[between] = (behind[between] + ahead[between]) / 2
    return np.clip(middle, gaps[:, 0], gaps[:, 1])


def _chance_within(distance: Times, room: Times, size: Times) -> Times:
    """Integral of the chance of recall up to ``distance`` from an alarm.

    ``room`` is what the zone has on that side of the alarm, ``size`` its whole length. On the side
    of the alarm as much of the zone is nearer as the distance itself; on the other side too, until
    the zone ends.
    """
    beyond = np.maximum(distance - room / 2, 0)
    nearer = distance**2 / 2 + (distance**2 / 2 - beyond**2)
    chance: Times = distance - nearer / size
    return chance
