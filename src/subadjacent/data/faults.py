"""Faulty values, which no model should learn from: sensor faults, codes for missing values.

One value of 9999 among thousands of a sine would pass for normal. A wide gap separates it from all
others. Models learn as if such values were missing, so their scores show that they are anomalous.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import fill
from subadjacent.data.scaling import bulk
from subadjacent.data.series import TrainSeries

# a gap is this many times as wide as the values on this side of it spread. Of 3,583 channels of
# four data sets 42 have values beyond such a gap; of a third of it 125, of three times as much 9,
# which costs up to a point (reproduce/log.md, "Robust learning")
MIN_GAP = 1.0
# rarer values than this are never a normal state, however often they recur
RARE_SHARE = 1 / 500
# this many runs of rows, and one in each of this many parts of the rows, recur; as for
# outliers among scores
MIN_RUNS, PARTS = 8, 5
# a group of no more distinct values than this is a code, whatever it stands for
MAX_CODES = 3


class FaultFreeSeries(NamedTuple):
    """A series to learn from, and the mask of its replaced values, (T, C)."""

    series: TrainSeries
    faults: NDArray[np.bool_] | None


def replace_faults(series: TrainSeries) -> FaultFreeSeries:
    """The series with faults replaced by the value before them, as missing values are."""
    faulty = faults(series.values)
    if not faulty.any():
        return FaultFreeSeries(series, None)
    values = series.values.copy()
    for channel in np.flatnonzero(faulty.any(axis=0)):
        fill(values[:, channel], faulty[:, channel], series.starts)
    return FaultFreeSeries(replace(series, values=values), faulty)


def faults(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values lie beyond a gap, (T, C).

    Not where such values recur all through the rows, each time with another value:
    that is how the channel behaves.
    """
    faulty = np.zeros(values.shape, dtype=bool)
    if not len(values):
        return faulty
    core = bulk([values])
    near = core.wider_by(MIN_GAP)
    suspects = (values.min(axis=0) < near.low) | (values.max(axis=0) > near.high)
    for channel in np.flatnonzero(suspects):
        column = values[:, channel].astype(np.float64)
        low, high = _without_gap(column, float(core.low[channel]), float(core.high[channel]))
        beyond = (column < low) | (column > high)
        if not _recur(beyond, column):
            faulty[:, channel] = beyond
    return faulty


def _without_gap(values: NDArray[np.float64], low: float, high: float) -> tuple[float, float]:
    """Bounds of the values that are reached from the bulk without crossing a gap."""
    above, below = np.unique(values[values > high]), np.unique(-values[values < low])
    while True:
        before = low, high
        high = _reached(high, above[above > high], -low)
        low = -_reached(-low, below[below > -low], high)
        # a wider range lets the other side reach further
        if (low, high) == before:
            return before


def _reached(edge: float, beyond: NDArray[np.float64], opposite: float) -> float:
    """The value reached from an edge without crossing a gap, given the opposite edge, negated."""
    steps = np.concatenate([[edge], beyond])
    gaps = np.flatnonzero(np.diff(steps) > MIN_GAP * (steps[:-1] + opposite))
    return float(steps[gaps[0]] if len(gaps) else steps[-1])


def _recur(beyond: NDArray[np.bool_], values: NDArray[np.float64]) -> bool:
    rows = np.flatnonzero(beyond)
    if len(rows) <= RARE_SHARE * len(beyond):
        return False
    runs = int((np.diff(rows) > 1).sum()) + 1
    everywhere = len(np.unique(rows * PARTS // len(beyond))) == PARTS
    return runs >= MIN_RUNS and everywhere and len(np.unique(values[beyond])) > MAX_CODES
