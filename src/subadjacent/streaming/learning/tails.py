"""How rare a value is, told by the values before it.

The values of each trace are counted in bins of equal width of their logarithm, and old counts
fade. Beyond the highest twentieth, what is rarer than anything seen is told by the mean excess of
the logarithms there (Hill's estimator): right for heavy tails, careful for light ones.

Shapes: B rows, any shape of traces, BINS bins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WIDTH = 0.125
"""Of a bin, as a logarithm: an eighth more than the one before."""

BINS = 449
"""From e^-28 to e^28 times the unit; what is beyond counts in the last bin."""

HIGH = 0.05
"""The share of values beyond which the tail begins."""

PRIOR_VALUES, PRIOR_EXCESS = 5.0, 0.25
"""Values in the tail that are taken as seen before any, and the mean of their excess."""

LEAST_EXCESS, MOST_EXCESS = 0.05, 1.0
"""Tails lighter than the first, or heavier than the second, are not believed."""

NOTHING = 1e-12
"""Added before a logarithm."""

_LOGS = (np.arange(BINS) - BINS // 2) * WIDTH


class Tails:
    """Counts of each trace's values, and what they say of others."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.counts: Array = np.zeros((*shape, BINS))
        self._measure()

    def surprise(self, values: Array) -> Array:
        """``-log`` of how often a value is exceeded, by what was counted; at least 0."""
        logs = np.log(values + NOTHING)
        found: Array = np.maximum(self._at_high + (logs - self._high) / self._excess, 0)
        return found

    def learn(self, values: Array, keep: float) -> None:
        """Count values, (B, …), after older counts have faded to ``keep`` of what they were."""
        logs = np.log(values + NOTHING)
        bins = np.clip(np.rint(logs / WIDTH).astype(np.intp) + BINS // 2, 0, BINS - 1)
        flat = np.arange(self.counts.size // BINS) * BINS
        places = bins.reshape(len(values), -1) + flat
        self.counts *= keep
        self.counts += np.bincount(places.ravel(), minlength=self.counts.size).reshape(
            self.counts.shape
        )
        self._measure()

    def _measure(self) -> None:
        """Where the tail of each trace begins, and how heavy it is."""
        at_least = np.cumsum(self.counts[..., ::-1], axis=-1)[..., ::-1]
        total = at_least[..., 0]
        # the highest bin that the share reaches
        first = np.maximum((at_least >= HIGH * total[..., None]).sum(axis=-1) - 1, 0)
        here = first[..., None]
        self._high: Array = _LOGS[first]
        tail = np.take_along_axis(at_least, here, axis=-1)[..., 0]
        beyond = np.arange(BINS) - here
        # a value is anywhere in its bin
        excess = (self.counts * np.maximum(beyond + 0.5, 0) * (beyond >= 0)).sum(axis=-1) * WIDTH
        mean = (excess + PRIOR_VALUES * PRIOR_EXCESS) / (tail + PRIOR_VALUES)
        self._excess: Array = np.clip(mean, LEAST_EXCESS, MOST_EXCESS)
        self._at_high: Array = -np.log((tail + 0.5) / (total + 1))

    def state(self) -> dict[str, NDArray[Any]]:
        """What was counted; ``restore`` is the inverse."""
        return {"counts": self.counts}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was counted."""
        self.counts = np.array(state["counts"], dtype=np.float64)
        self._measure()
