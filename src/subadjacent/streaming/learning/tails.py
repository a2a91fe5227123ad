"""How rare a value is, told by the values before it.

The values of each trace are counted in bins of equal width of their logarithm, and old counts
fade. Beyond the highest five-hundredth, what is rarer than anything seen is told by the mean excess
of the logarithms there (Hill's estimator): right for heavy tails, careful for light ones. What is
high and comes now and then, as a pulse on a line that is flat, is told by how often it came.

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

HIGH, HIGHEST = 0.05, 0.002
"""Shares of values: those beyond the first are counted, the second is where the tail begins."""

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
        self._is_measured = False

    def surprise(self, values: Array) -> Array:
        """``-log`` of how often a value is exceeded, by what was counted; at least 0."""
        self.measure()
        logs = np.log(values + NOTHING)
        beyond = logs - self._highest
        found = np.where(
            beyond >= 0,
            self._at_highest + beyond / self._excess,
            self._at_high + (logs - self._high) * self._slope,
        )
        return np.maximum(found, 0)

    def learn(self, values: Array, weights: Array, keep: float) -> None:
        """Count values, (B, …), by the weights of their rows, (B,).

        Older counts have faded to ``keep`` of what they were.
        """
        logs = np.log(values + NOTHING)
        bins = np.clip(np.rint(logs / WIDTH).astype(np.intp) + BINS // 2, 0, BINS - 1)
        flat = np.arange(self.counts.size // BINS) * BINS
        places = bins.reshape(len(values), -1) + flat
        each = np.repeat(weights, len(flat))
        counted = np.bincount(places.ravel(), each, minlength=self.counts.size)
        self.counts *= keep
        self.counts += counted.reshape(self.counts.shape)
        self._is_measured = False

    def measure(self) -> None:
        """Have ready what the next values are judged by."""
        if not self._is_measured:
            self._measure()

    def _measure(self) -> None:
        """Where values are high, where the tail of each trace begins, and how heavy it is."""
        at_least = np.cumsum(self.counts[..., ::-1], axis=-1)[..., ::-1]
        # a value is anywhere in its bin
        sums = np.cumsum((self.counts * (_LOGS + WIDTH / 2))[..., ::-1], axis=-1)[..., ::-1]
        self._high, self._at_high, mean = _knot(at_least, sums, HIGH)
        self._highest, self._at_highest, self._excess = _knot(at_least, sums, HIGHEST)
        rise = self._highest - self._high
        between = (self._at_highest - self._at_high) / np.where(rise > 0, rise, 1)
        self._slope = np.where(rise > 0, between, 1 / mean)
        self._is_measured = True

    def state(self) -> dict[str, NDArray[Any]]:
        """What was counted; ``restore`` is the inverse."""
        return {"counts": self.counts}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was counted."""
        self.counts = state["counts"]
        self._is_measured = False


def _knot(at_least: Array, sums: Array, share: float) -> tuple[Array, Array, Array]:
    """The value that a share reaches, its surprise, and the mean excess of those beyond.

    Parameters
    ----------
    at_least, sums
        How many values are in each bin or higher, and the sum of their logarithms.
    share
        Of all values.
    """
    total = at_least[..., 0]
    # the highest bin that the share reaches
    first = np.maximum((at_least >= share * total[..., None]).sum(axis=-1, keepdims=True) - 1, 0)
    tail = np.take_along_axis(at_least, first, axis=-1)[..., 0]
    high: Array = _LOGS[first[..., 0]]
    excess = np.take_along_axis(sums, first, axis=-1)[..., 0] - tail * high
    mean = (excess + PRIOR_VALUES * PRIOR_EXCESS) / (tail + PRIOR_VALUES)
    surprise: Array = -np.log((tail + 0.5) / (total + 1))
    return high, surprise, np.clip(mean, LEAST_EXCESS, MOST_EXCESS)
