"""How rarely so much comes: the rows until it comes again, by how often it came before.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP, BINS = 0.1, 1_000
"""Width of a bin, and how many: what is beyond counts in the last."""

HIGH, HIGHEST = 0.01, 0.001
"""Shares of rows: those that have much, and those with which the tail begins. Between them it is
counted how often so much came; the tail falls exponentially."""

PRIOR_VALUES, PRIOR_EXCESS, LEAST_EXCESS = 5.0, 1.0, 0.3
"""Amounts in the tail taken as seen before any, their mean excess, and the least believed."""

_AMOUNTS = np.arange(BINS) * STEP


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
        self._is_measured = False

    def severity(self, amounts: Array) -> Array:
        """The logarithm of the rows until so much comes again, as a share of that asked for.

        Nothing has none; what is not high yet has its share of what is.
        """
        self.measure()
        knots = [0.0, self._high, self._highest]
        counted = np.interp(amounts, knots, [self._least, self._at_high, self._at_highest])
        beyond = np.maximum(amounts - self._highest, 0) / self._excess
        severity: Array = (counted + beyond) / math.log(self.period)
        return severity

    def learn(self, amounts: Array, keep: float) -> None:
        """Count the amounts of rows, (B,), after older counts have faded to ``keep``."""
        self.counts *= keep
        bins = np.minimum((amounts / STEP).astype(np.intp), BINS - 1)
        self.counts += np.bincount(bins, minlength=BINS)
        self._is_measured = False

    def measure(self) -> None:
        """Have ready what the next values are judged by."""
        if not self._is_measured:
            self._measure()

    def _measure(self) -> None:
        # from the highest bin down
        at_least = np.cumsum(self.counts[::-1])
        sums = np.cumsum((self.counts * _AMOUNTS)[::-1])
        self._high, self._at_high, _ = _knot(at_least, sums, HIGH)
        self._highest, self._at_highest, self._excess = _knot(at_least, sums, HIGHEST)
        self._least = 0.0 if self._high else self._at_high
        self._is_measured = True

    def state(self) -> dict[str, NDArray[Any]]:
        """What was counted; ``restore`` is the inverse."""
        return {"counts": self.counts}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was counted."""
        self.counts = state["counts"]
        self._is_measured = False


def _knot(at_least: Array, sums: Array, share: float) -> tuple[float, float, float]:
    """The amount that a share reaches, how rare it is, and the mean excess of what is more.

    Parameters
    ----------
    at_least, sums
        From the highest bin down: how many amounts are in it or higher, and their sum.
    share
        Of all amounts.
    """
    total = float(at_least[-1])
    # before anything is counted, the tail begins with nothing
    place = int(np.searchsorted(at_least, share * total)) if total else BINS - 1
    tail, high = float(at_least[place]), float(_AMOUNTS[BINS - 1 - place])
    rare = -math.log((tail + 1) / (total + 2))
    excess = float(sums[place]) - tail * high
    mean = (excess + PRIOR_VALUES * PRIOR_EXCESS) / (tail + PRIOR_VALUES)
    return high, rare, max(mean, LEAST_EXCESS)
