"""What each channel is expected to be, by ridge regression on the other channels of the same row.

A relation between channels that breaks is seen here, though each channel by itself does nothing
that it did not do before: a flow that does not rise when its valve opens.

The regressions of all channels share one covariance, which a forgetting factor discounts. They are
read off its inverse: column ``c``, divided by its diagonal entry, has the coefficients with which
all channels make up the residual of channel ``c``.

Shapes: B rows, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.online.moments import ROUNDING

Array = NDArray[np.float64]

MAX_CHANNELS = 256
"""Series of more channels have no such regressions: the inverse takes the cube of the channels."""

PENALTY = 0.01
"""Ridge penalty, as a share of a channel's variance. 0.001 is as good, 0.1 costs 5 points of the
live score on streams of servers (reproduce/log.md, "Relations between channels, live")."""

PENALTY_ROWS = 1.0
"""Rows of further penalty for each channel: few rows tell little about the relations of many.
Taken for that reason; other values were not tried."""

CLIP = 6.0
"""Deviations from its mean to which a value is clipped: a wild channel shall not make all others
look as if they had left it. The same as for rows that are learned from; others were not tried."""


def has_relations(channels: int) -> bool:
    """Whether a series with this number of channels is assessed by their relations."""
    return 1 < channels <= MAX_CHANNELS


class CrossChannelRegression:
    """Mean and covariance of the channels, and the residual of each given all others.

    Where it does not apply, because of the number of channels, it learns nothing.
    """

    def __init__(self, channels: int) -> None:
        self.applies = has_relations(channels)
        if not self.applies:
            channels = 0
        self.rows = 0.0
        self.mean: Array = np.zeros(channels)
        self.covariance: Array = np.zeros((channels, channels))
        # until the first fit each channel is expected to be at its mean
        self._deviation: Array = np.ones(channels)
        self._coefficients: Array = np.eye(channels)
        self._is_fit_due = False

    def residuals(self, rows: Array) -> Array:
        """Rows, (B, C), less what the other channels of the same row say, (B, C)."""
        self.fit_if_due()
        limit = CLIP * self._deviation
        centred = np.minimum(np.maximum(rows - self.mean, -limit), limit)
        residuals: Array = centred @ self._coefficients
        return residuals

    def learn(self, rows: Array, forgetting: float) -> None:
        """Add rows, (B, C); ``forgetting`` multiplies what was there."""
        if not self.applies:
            return
        self.fit_if_due()
        self.rows = self.rows * forgetting + len(rows)
        share = len(rows) / self.rows
        self.mean = self.mean + share * (np.add.reduce(rows, axis=0) / len(rows) - self.mean)
        centred = rows - self.mean
        self.covariance += share * (centred.T @ centred / len(rows) - self.covariance)

    def request_fit(self) -> None:
        """Have the regressions fitted to the rows until now, before they are used next."""
        self._is_fit_due = self.applies

    def fit_if_due(self) -> None:
        """Do the fit that was requested, if there is one."""
        if self._is_fit_due:
            self._fit()
            self._is_fit_due = False

    def _fit(self) -> None:
        deviation = np.sqrt(self.covariance.diagonal()) + ROUNDING
        correlation = self.covariance / np.multiply.outer(deviation, deviation)
        penalty = PENALTY + PENALTY_ROWS * len(deviation) / self.rows
        np.fill_diagonal(correlation, 1 + penalty)
        inverse = np.linalg.inv(correlation)
        coefficients = inverse / inverse.diagonal()
        self._coefficients = coefficients * deviation / deviation[:, None]
        self._deviation = deviation

    def state(self) -> dict[str, NDArray[Any]]:
        """Statistics and coefficients; ``restore`` is the inverse."""
        self.fit_if_due()
        return {
            "rows": np.array([self.rows]),
            "mean": self.mean,
            "covariance": self.covariance,
            "deviation": self._deviation,
            "coefficients": self._coefficients,
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace statistics and coefficients by saved ones."""
        self.rows = float(state["rows"][0])
        self.mean, self._deviation = state["mean"], state["deviation"]
        self.covariance = np.array(state["covariance"], dtype=np.float64)
        self._coefficients = state["coefficients"]
        self._is_fit_due = False
