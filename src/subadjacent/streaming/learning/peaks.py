"""How rarely so much is told: peaks over a fixed level, of which the older ones fade.

Surprise has one unit in all series, so that what is usual in many of them is a good first guess for
each. Peaks over a level come at some rate, and what they have beyond it is exponential; the series
corrects both, the more the longer it is watched.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 5.0
"""Surprise over which a row is a peak."""

USUAL_ROWS, USUAL_EXCESS = 770.0, 2.2
"""Rows between peaks, and their mean excess, over 126 generated streams outside of anomalies
(docs/log.md, "A surprise is held against what was told")."""

GUESSED_ROWS, GUESSED_PEAKS = 5_000.0, 50.0
"""What these count for: as if so many rows and peaks had been seen. Less lowers the live score, by
four points where it is a fifth and a tenth (same entry)."""


class Peaks:
    """Rows, peaks, and the sum of what these had beyond the level; older ones count less.

    Parameters
    ----------
    period
        Rows in which one false alarm is accepted: what comes as rarely has severity 1.
    channels
        Of the series. The guess is from series of one: it counts the less, the more there are.
    """

    def __init__(self, period: float, channels: int = 1) -> None:
        self.period = period
        self._guessed_rows = GUESSED_ROWS / channels
        self._guessed_peaks = GUESSED_PEAKS / channels
        self.rows = self.peaks = self.excess = 0.0

    def severity(self, amounts: Array) -> Array:
        """The logarithm of the rows until so much comes again, as a share of that asked for.

        Nothing has none.
        """
        rows, peaks = self._guessed_rows, self._guessed_peaks
        between = (self.rows + rows) / (self.peaks + rows / USUAL_ROWS)
        excess = (self.excess + peaks * USUAL_EXCESS) / (self.peaks + peaks)
        rare = np.maximum(math.log(between) + (amounts - LEVEL) / excess, 0)
        severity: Array = np.where(amounts > 0, rare, 0) / math.log(self.period)
        return severity

    def learn(self, amounts: Array, keep: float) -> None:
        """Count the amounts of rows, (B,), after older counts have faded to ``keep``."""
        beyond = amounts[amounts > LEVEL] - LEVEL
        self.rows = self.rows * keep + len(amounts)
        self.peaks = self.peaks * keep + len(beyond)
        self.excess = self.excess * keep + float(beyond.sum())

    def state(self) -> dict[str, NDArray[Any]]:
        """What was counted; ``restore`` is the inverse."""
        return {"counts": np.array([self.rows, self.peaks, self.excess])}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was counted."""
        self.rows, self.peaks, self.excess = state["counts"].tolist()
