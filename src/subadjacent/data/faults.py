"""Values that nothing should be learned from: a sensor's fault, a code for what is missing.

One value of 9999 among thousands of a sine would pass for what the channel does. It is told from
them by the gap in between: nothing that a channel does by itself lies so far from all else it ever
does. Such values are set aside where models learn, as if they were missing; that they are anomalous
is for scores to say.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.bulk import bulk
from subadjacent.data.cleaning import fill
from subadjacent.data.series import TrainSeries

# a gap is so many times as wide as all values on this side of it lie apart. Of 3,583 channels of
# four data sets 42 have values beyond such a gap; of a third of it 125, of three times as much 9,
# which costs up to a point (docs/log.md, "Robust learning")
GAP = 1.0
# what is rarer than this is no way of being, however often it comes
RARE = 1 / 500
# so many runs of rows, and one in each of so many parts of the rows, come again and again; as for
# outliers among scores
MANY, PARTS = 8, 5
# of no more different values than this it is a code that comes, whatever it stands for
CODES = 3


class SetAside(NamedTuple):
    """A series to learn from, and which of its values are not its own, (T, C); None if all are."""

    series: TrainSeries
    faults: NDArray[np.bool_] | None


def set_aside(series: TrainSeries) -> SetAside:
    """A series whose faults take the value before them, as missing values do."""
    found = faults(series.values)
    if not found.any():
        return SetAside(series, None)
    values = series.values.copy()
    for channel in np.flatnonzero(found.any(axis=0)):
        fill(values[:, channel], found[:, channel], series.starts)
    return SetAside(replace(series, values=values), found)


def faults(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values lie beyond a gap, (T, C).

    Not where that comes again and again, all through the rows, each time with a value of its own:
    it is how the channel is.
    """
    found = np.zeros(values.shape, dtype=bool)
    if not len(values):
        return found
    core = bulk([values])
    near = core.wider_by(GAP)
    suspects = (values.min(axis=0) < near.low) | (values.max(axis=0) > near.high)
    for channel in np.flatnonzero(suspects):
        own = values[:, channel].astype(np.float64)
        low, high = _without_gap(own, float(core.low[channel]), float(core.high[channel]))
        beyond = (own < low) | (own > high)
        if not _comes_again(beyond, own):
            found[:, channel] = beyond
    return found


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


def _reached(edge: float, beyond: NDArray[np.float64], other: float) -> float:
    """How far one can go from an edge; ``other`` is the opposite edge, turned round."""
    steps = np.concatenate([[edge], beyond])
    gaps = np.flatnonzero(np.diff(steps) > GAP * (steps[:-1] + other))
    return float(steps[gaps[0]] if len(gaps) else steps[-1])


def _comes_again(beyond: NDArray[np.bool_], values: NDArray[np.float64]) -> bool:
    rows = np.flatnonzero(beyond)
    if len(rows) <= RARE * len(beyond):
        return False
    runs = int((np.diff(rows) > 1).sum()) + 1
    everywhere = len(np.unique(rows * PARTS // len(beyond))) == PARTS
    return runs >= MANY and everywhere and len(np.unique(values[beyond])) > CODES
