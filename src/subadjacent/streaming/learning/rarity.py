"""How rarely so much comes: the rows until it comes again, by how often it came before.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP, BINS = 0.1, 400
"""Width of a bin, and how many: what is beyond counts in the last."""

HIGH = 0.01
"""The share of rows that have much: the tail begins there, and falls exponentially."""

PRIOR_VALUES, PRIOR_EXCESS, LEAST_EXCESS = 5.0, 1.0, 0.3
"""Amounts in the tail taken as seen before any, their mean excess, and the least believed."""


class Rarity:
    """Counts of amounts, of which the older ones fade.

    Parameters
    ----------
    period
        Rows in which one false alarm is accepted: what comes as rarely has severity 1.
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.counts: Array = np.zeros(BINS)
        self._measure()

    def severity(self, amounts: Array) -> Array:
        """The logarithm of the rows until so much comes again, as a share of that asked for.

        Nothing has none; what is not high yet has its share of what is.
        """
        beyond = self._at_high + np.maximum(amounts - self._high, 0) / self._excess
        share = np.minimum(amounts / self._high, 1) if self._high else 1.0
        severity: Array = beyond * share / math.log(self.period)
        return severity

    def learn(self, amounts: Array, keep: float) -> None:
        """Count the amounts of rows, (B,), after older counts have faded to ``keep``."""
        self.counts *= keep
        bins = np.minimum((amounts / STEP).astype(np.intp), BINS - 1)
        self.counts += np.bincount(bins, minlength=BINS)
        self._measure()

    def _measure(self) -> None:
        at_least = np.cumsum(self.counts[::-1])[::-1]
        reached = (at_least >= HIGH * at_least[0]) & (at_least > 0)
        first = max(int(reached.sum()) - 1, 0)
        tail = float(at_least[first])
        excess = float(self.counts[first:] @ (np.arange(BINS - first) * STEP))
        self._high = first * STEP
        self._at_high = -math.log((tail + 1) / (float(at_least[0]) + 2))
        mean = (excess + PRIOR_VALUES * PRIOR_EXCESS) / (tail + PRIOR_VALUES)
        self._excess = max(mean, LEAST_EXCESS)

    def state(self) -> dict[str, NDArray[Any]]:
        """What was counted; ``restore`` is the inverse."""
        return {"counts": self.counts}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was counted."""
        self.counts = state["counts"]
        self._measure()
