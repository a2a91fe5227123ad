"""Alarms against anomalies, counted as a person who answers every alarm would.

An alarm is a first and a last row, both included. An anomaly is a segment of labels, widened by
``MARGIN`` rows on both sides, since labels are seldom exact to the row. An alarm is right if it
touches an anomaly, and an anomaly is found if an alarm touches it. Counts of several entities are
added up before anything is divided, so an entity with many alarms weighs as much as its alarms.

One alarm that never ends touches every anomaly. Read the counts beside the share of normal rows
that lie in alarms: it is what such an alarm costs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from operator import add

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.data.clock import DAY
from subadjacent.errors import InputError
from subadjacent.evaluation.inputs import check_flags
from subadjacent.evaluation.metrics import harmonic_mean, share
from subadjacent.evaluation.segments import segments

MARGIN = 5
"""Rows by which an anomaly is widened on both sides."""

GAP = 10
"""Most rows between two runs that are one alarm, as in ``detector.alarms``."""


@dataclass(frozen=True, slots=True)
class AlarmCounts:
    """Alarms and anomalies of one or several series; shares of nothing are nan.

    Parameters
    ----------
    rows, normal
        Rows that were assessed, and those of them that are labelled 0.
    covered
        Normal rows that lie in an alarm.
    alarms, right
        All alarms, and those that touch an anomaly.
    anomalies, found
        All anomalies, and those that an alarm touches.
    waited
        Rows from the start of each anomaly that was found to the first alarmed row, added up.
    """

    rows: int = 0
    normal: int = 0
    covered: int = 0
    alarms: int = 0
    right: int = 0
    anomalies: int = 0
    found: int = 0
    waited: int = 0

    def __add__(self, other: AlarmCounts) -> AlarmCounts:
        return AlarmCounts(*map(add, astuple(self), astuple(other)))

    @property
    def false(self) -> int:
        """Alarms that touch no anomaly."""
        return self.alarms - self.right

    @property
    def share_right(self) -> float:
        """Share of the alarms that are right."""
        return share(self.right, self.alarms)

    @property
    def share_found(self) -> float:
        """Share of the anomalies that are found."""
        return share(self.found, self.anomalies)

    @property
    def f1(self) -> float:
        """Harmonic mean of both shares; 0 where there is nothing right, nan without both."""
        return harmonic_mean(self.share_right, self.share_found)

    @property
    def delay(self) -> float:
        """Mean rows until an anomaly was found; missed ones have no delay."""
        return share(self.waited, self.found)

    @property
    def share_covered(self) -> float:
        """Share of the normal rows that lie in an alarm."""
        return share(self.covered, self.normal)

    def measures(self, interval: float | None = None) -> dict[str, float]:
        """All counts and the measures derived from them, by name.

        ``interval`` is the time from row to row in seconds. False alarms a day are those of one
        entity; without an interval they are nan.
        """
        days = math.nan if interval is None else self.rows * interval / DAY
        return {
            "alarms": float(self.alarms),
            "alarms_right": float(self.right),
            "anomalies": float(self.anomalies),
            "anomalies_found": float(self.found),
            "alarms_right_share": self.share_right,
            "anomalies_found_share": self.share_found,
            "event_f1": self.f1,
            "alarms_false": float(self.false),
            "alarms_false_per_1000_rows": share(1000 * self.false, self.rows),
            "alarms_false_per_day": share(self.false, days),
            "normal_rows_alarmed": self.share_covered,
            "alarm_delay": self.delay,
        }


def count_alarms(
    alarms: ArrayLike,
    labels: ArrayLike,
    kinds: ArrayLike | None = None,
    *,
    margin: int = MARGIN,
) -> AlarmCounts:
    """Compare the alarms of one series with its labels.

    Parameters
    ----------
    alarms
        First and last row of each alarm, shape (alarms, 2), in any order; they may overlap.
    labels
        One label, 0 or 1, for each row.
    kinds
        A number for each alarm: those with the same one count as one alarm, which is right if any
        of them is, as repeats do that are folded under the first.
    margin
        Rows by which an anomaly is widened on both sides.

    Examples
    --------
    Two anomalies, rows 10 to 19 and row 40; the last alarm is for nothing:

    >>> labels = [0] * 10 + [1] * 10 + [0] * 20 + [1] + [0] * 39
    >>> count_alarms([(13, 15), (60, 70)], labels)
    AlarmCounts(rows=80, normal=69, covered=11, alarms=2, right=1, anomalies=2, found=1, waited=3)
    """
    anomalous = check_flags("labels", labels)
    bounds = _check_alarms(alarms, len(anomalous))
    anomalies = segments(anomalous)
    starts, lasts = anomalies[:, 0], anomalies[:, 1] - 1
    # both ends increase from anomaly to anomaly: those that an alarm touches are the ones that
    # begin before its end, without the ones that end before its beginning
    begun = np.searchsorted(starts - margin, bounds[:, 1], side="right")
    ended = np.searchsorted(lasts + margin, bounds[:, 0], side="left")
    earliest = _earliest(bounds, starts - margin)
    is_found = earliest <= lasts + margin
    waited = np.maximum(earliest - starts, 0)[is_found]
    numbers = np.arange(len(bounds)) if kinds is None else np.asarray(kinds, dtype=np.int64)
    is_right = begun > ended
    return AlarmCounts(
        rows=len(anomalous),
        normal=int((~anomalous).sum()),
        covered=int((_covered(bounds, len(anomalous)) & ~anomalous).sum()),
        alarms=len(np.unique(numbers)),
        right=len(np.unique(numbers[is_right])),
        anomalies=len(anomalies),
        found=int(is_found.sum()),
        waited=int(waited.sum()),
    )


def total(counts: Iterable[AlarmCounts]) -> AlarmCounts:
    """The counts of several entities, added up."""
    return sum(counts, AlarmCounts())


def joined_runs(flags: ArrayLike, gap: int = GAP) -> NDArray[np.int64]:
    """First and last row of each run of flagged rows; runs at most ``gap`` rows apart are one.

    >>> joined_runs([1, 1, 0, 0, 1, 0, 0, 0, 1], gap=2).tolist()
    [[0, 4], [8, 8]]
    """
    runs = segments(check_flags("flags", flags))
    if not len(runs):
        return runs
    apart = runs[1:, 0] - runs[:-1, 1] > gap
    first, stop = runs[np.append(True, apart), 0], runs[np.append(apart, True), 1]
    return np.column_stack([first, stop - 1])


def _earliest(bounds: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of the earliest alarm that has not ended before each of ``rows``."""
    by_end = bounds[np.argsort(bounds[:, 1])]
    never = np.iinfo(np.int64).max
    earliest = np.minimum.accumulate(np.append(never, by_end[::-1, 0]))[::-1]
    return np.asarray(earliest[np.searchsorted(by_end[:, 1], rows)])


def _covered(bounds: NDArray[np.int64], rows: int) -> NDArray[np.bool_]:
    """Rows that lie in an alarm."""
    begins = np.bincount(bounds[:, 0], minlength=rows + 1)
    ends = np.bincount(bounds[:, 1] + 1, minlength=rows + 1)
    return np.asarray(np.cumsum(begins - ends)[:rows] > 0)


def _check_alarms(alarms: ArrayLike, rows: int) -> NDArray[np.int64]:
    try:
        bounds = np.asarray(alarms, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"alarms must be pairs of row numbers; {error}") from error
    if not bounds.size:
        return np.empty((0, 2), dtype=np.int64)
    if bounds.ndim != 2 or bounds.shape[1] != 2:
        raise InputError(f"alarms must be pairs of a first and a last row; got {bounds.shape}")
    first, last = bounds.T
    fits = (first >= 0) & (first <= last) & (last < rows) & (np.floor(bounds) == bounds).all(axis=1)
    if not fits.all():
        number = int(fits.argmin())
        raise InputError(
            f"alarms must lie within {rows} rows, the first row not after the last; "
            f"got {first[number]:g} to {last[number]:g}"
        )
    return bounds.astype(np.int64)
