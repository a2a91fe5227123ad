"""From surprise to severity: what is new about it, and how long until so much comes again.

What the last rows said already is no news. A surprise counts as far as it exceeds those before it,
which fade over ``FADES`` rows: an event is told once, when it begins and whenever it grows. How
often so much news came before says how long it takes to come again, and severity is the logarithm
of that time, 1.0 at the time that was asked for.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float64]

FADES = 500
"""Rows after which a surprise is forgotten, and the same again is news."""

STEP, BINS = 0.1, 400
"""Width of a bin of surprise, and how many: what is beyond counts in the last."""

HIGH = 0.01
"""The share of rows whose news is high: the tail begins there."""

PRIOR_VALUES, PRIOR_EXCESS, LEAST_EXCESS = 5.0, 1.0, 0.3
"""News in the tail taken as seen before any, its mean excess, and the least that is believed."""

_FADED = (np.arange(FADES) + 1) / FADES


class Returns:
    """Counts of how much news rows brought.

    Parameters
    ----------
    period
        Rows in which one false alarm is accepted: news that comes as rarely has severity 1.
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.counts: Array = np.zeros(BINS)
        self.before: Array = np.zeros(FADES)
        self._measure()

    def news(self, surprise: Array) -> Array:
        """By how much the surprise of the next rows, (B,), exceeds what was said before."""
        row = np.concatenate([self.before, surprise])
        said = (sliding_window_view(row[:-1], FADES) * _FADED).max(axis=1)
        self.before = row[-FADES:]
        found: Array = np.maximum(surprise - said, 0)
        return found

    def severity(self, amount: Array) -> Array:
        """The logarithm of the rows until so much comes again, as a share of that asked for."""
        rare = self._at_high + (amount - self._high) / self._excess
        found: Array = np.maximum(rare, 0) / math.log(self.period)
        return found

    def learn(self, news: Array, keep: float) -> None:
        """Count the news of rows, (B,), after older counts have faded to ``keep``."""
        self.counts *= keep
        bins = np.minimum((news / STEP).astype(np.intp), BINS - 1)
        self.counts += np.bincount(bins, minlength=BINS)
        self._measure()

    def _measure(self) -> None:
        at_least = np.cumsum(self.counts[::-1])[::-1]
        first = max(int((at_least >= HIGH * at_least[0]).sum()) - 1, 0)
        tail = float(at_least[first])
        excess = float(self.counts[first:] @ (np.arange(BINS - first) * STEP))
        self._high = first * STEP
        self._at_high = -math.log((tail + 1) / (float(at_least[0]) + 2))
        mean = (excess + PRIOR_VALUES * PRIOR_EXCESS) / (tail + PRIOR_VALUES)
        self._excess = max(mean, LEAST_EXCESS)

    def state(self) -> dict[str, NDArray[Any]]:
        """What was counted; ``restore`` is the inverse."""
        return {"news": self.counts, "before": self.before}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was counted."""
        self.counts = np.array(state["news"], dtype=np.float64)
        self.before = np.array(state["before"], dtype=np.float64)
        self._measure()
