"""The severity of a surprise, of a new event or not, by its return period among normal rows.

The surprise of normal rows is counted in a histogram, which a forgetting factor discounts. The log
of the return period is interpolated between 0, the highest 1 % and the highest 0.1 %; beyond, the
excess is exponential.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BIN_WIDTH, BINS = 0.1, 1_000
"""Surprise that a bin covers, and how many there are; what is beyond counts in the last."""

LOWER_SHARE, UPPER_SHARE = 0.01, 0.001
"""Shares of rows beyond the lower and the upper knot; the tail begins at the upper one."""

PRIOR_ROWS, PRIOR_EXCESS, MIN_EXCESS = 5.0, 1.0, 0.3
"""Prior of the tail: as if this many rows had been seen in it, with this mean excess; and the least
mean excess that is believed."""

_SURPRISES = np.arange(BINS) * BIN_WIDTH


class SurpriseDistribution:
    """A histogram of surprise, and the knots and the tail that were fitted to it.

    Parameters
    ----------
    return_period
        Rows in which one false alarm is accepted. It is the return period of severity 1.
    """

    def __init__(self, return_period: float) -> None:
        self.return_period = return_period
        self.counts: Array = np.zeros(BINS)
        self._is_fitted = False

    def severity(self, surprise: Array) -> Array:
        """Log of the return period, as a share of the log of the accepted one, (B,)."""
        self.fit()
        beyond = np.maximum(surprise - self._knots[-1], 0) / self._mean_excess
        log_period = np.interp(surprise, self._knots, self._log_periods) + beyond
        severity: Array = log_period / math.log(self.return_period)
        return severity

    def learn(self, surprise: Array, forgetting: float) -> None:
        """Count the surprise of rows, (B,); ``forgetting`` multiplies older counts."""
        self.counts *= forgetting
        bins = np.minimum((surprise / BIN_WIDTH).astype(np.intp), BINS - 1)
        self.counts += np.bincount(bins, minlength=BINS)
        self._is_fitted = False

    def fit(self) -> None:
        """Fit knots and tail, if counts have changed since they were fitted."""
        if not self._is_fitted:
            self._fit()

    def _fit(self) -> None:
        # from the highest bin down: how many rows are in it or higher
        at_least = np.add.accumulate(self.counts[::-1])
        lower, lower_log_period, _ = self._knot(at_least, LOWER_SHARE)
        upper, upper_log_period, self._mean_excess = self._knot(at_least, UPPER_SHARE)
        log_period_at_0 = 0.0 if lower else lower_log_period
        self._knots = np.array([0.0, lower, upper])
        self._log_periods = np.array([log_period_at_0, lower_log_period, upper_log_period])
        self._is_fitted = True

    def _knot(self, at_least: Array, share: float) -> tuple[float, float, float]:
        """The surprise that a share of rows reaches, its log return period, and the mean excess."""
        total = float(at_least[-1])
        # before anything is counted, the tail begins at 0
        place = int(at_least.searchsorted(share * total)) if total else BINS - 1
        beyond, knot = float(at_least[place]), BINS - 1 - place
        surprise = float(_SURPRISES[knot])
        log_period = -math.log((beyond + 1) / (total + 2))
        excess = float(self.counts[knot:] @ _SURPRISES[knot:]) - beyond * surprise
        mean_excess = (excess + PRIOR_ROWS * PRIOR_EXCESS) / (beyond + PRIOR_ROWS)
        return surprise, log_period, max(mean_excess, MIN_EXCESS)

    def state(self) -> dict[str, NDArray[Any]]:
        """The histogram; ``restore`` is the inverse."""
        return {"counts": self.counts}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the histogram by a saved one."""
        self.counts = state["counts"]
        self._is_fitted = False
