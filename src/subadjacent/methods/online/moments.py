"""Units of each channel from the burn-in, and running moments of its rows and residuals.

The moments are exponentially weighted, and in standardised units.

Shapes: B rows, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEGLIGIBLE = 0.1
"""Share of a channel's deviation; residuals and distances that are much smaller count alike."""

ROUNDING = 1e-6
"""In standardised units; rounding errors are smaller."""

HALF_RANGE = 3.0
"""Half-width of the expected range, in deviations of the sub-adjacent residual."""


class RunningMoments:
    """Running mean and variance of rows, and mean squares of their residuals.

    Attributes
    ----------
    negligible
        The size of a departure that does not matter, (C,).
    half_range
        Half-width of the expected range, (C,).
    has_moved
        Which channels vary by more than rounding errors, (C,).
    """

    def __init__(self, channels: int) -> None:
        self.rows = 0.0
        self.mean: Array = np.zeros(channels)
        self.variance: Array = np.ones(channels)
        self.residual_squares: Array = np.ones((2, channels))
        self._derive()

    def _derive(self) -> None:
        """Update the derived attributes, once per mini-batch."""
        self.negligible: Array = NEGLIGIBLE * np.sqrt(self.variance) + ROUNDING
        self.half_range: Array = HALF_RANGE * np.sqrt(self.residual_squares[1])
        self.has_moved: NDArray[np.bool_] = self.variance > ROUNDING**2

    def begin(self, rows: Array) -> None:
        """Initialise mean and variance from the first rows."""
        self.rows = float(len(rows))
        self.mean, self.variance = rows.mean(axis=0), rows.var(axis=0)
        self._derive()

    def clip_rows(self, rows: Array, deviations: float) -> Array:
        """Rows, (B, C), clipped to ``deviations`` standard deviations around the mean."""
        # a tenth more, so that a flatlined channel can move
        limit = deviations * (np.sqrt(self.variance) + NEGLIGIBLE)
        centred = np.minimum(np.maximum(rows - self.mean, -limit), limit)
        clipped: Array = self.mean + centred
        return clipped

    def clip_residuals(self, near: Array, sub_adjacent: Array, deviations: float) -> Array:
        """Both residuals, (B, 2, C), clipped to ``deviations`` of their standard deviations."""
        limit = deviations * np.sqrt(self.residual_squares)
        residuals = np.stack([near, sub_adjacent], axis=1)
        clipped: Array = np.minimum(np.maximum(residuals, -limit), limit)
        return clipped

    def learn(self, rows: Array, residuals: Array, forgetting: float) -> None:
        """Learn rows, (B, C), and residuals, (B, 2, C); ``forgetting`` discounts earlier ones."""
        self.rows = self.rows * forgetting + len(rows)
        share = len(rows) / self.rows
        self.mean = self.mean + share * (_mean(rows) - self.mean)
        self.variance = self.variance + share * (_mean(np.square(rows - self.mean)) - self.variance)
        squares = _mean(np.square(residuals))
        learned = self.residual_squares + share * (squares - self.residual_squares)
        self.residual_squares = np.maximum(learned, ROUNDING**2)
        self._derive()

    def state(self) -> dict[str, NDArray[Any]]:
        """The moments as arrays; ``restore`` is the inverse."""
        return {
            "rows": np.array([self.rows]),
            "mean": self.mean,
            "variance": self.variance,
            "residual_squares": self.residual_squares,
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the moments by saved ones."""
        self.rows = float(state["rows"][0])
        self.mean, self.variance = state["mean"], state["variance"]
        self.residual_squares = state["residual_squares"]
        self._derive()


def _mean(rows: Array) -> Array:
    """Mean over the first axis. NumPy's has checks that take longer than a few rows."""
    mean: Array = np.add.reduce(rows, axis=0) / len(rows)
    return mean


CLIPPED_AT = 1e12
"""In standardised units: larger values are clipped."""

SHARE_OF_SIZE = 1e-3
"""Unit of a constant channel, as a share of its value; 1 if that is 0."""


class Standardiser:
    """Median and unit of each channel; 0 and 1 until it is fitted."""

    def __init__(self, channels: int) -> None:
        self.center: Array = np.zeros(channels)
        self.unit: Array = np.ones(channels)

    def fit(self, rows: Array) -> None:
        """Set center and unit from the median and deviation of rows, (B, C)."""
        self.center = np.median(rows, axis=0)
        deviation = rows.std(axis=0)
        size = np.where(self.center == 0, 1.0, SHARE_OF_SIZE * np.abs(self.center))
        self.unit = np.where(deviation > ROUNDING * size, deviation, size)

    def standardise(self, rows: Array) -> Array:
        """Rows, (B, C), in standardised units."""
        standardised = (rows - self.center) / self.unit
        np.maximum(standardised, -CLIPPED_AT, out=standardised)
        return np.minimum(standardised, CLIPPED_AT, out=standardised)

    def original_units(self, standardised: Array) -> Array:
        """The inverse of ``standardise``."""
        rows: Array = standardised * self.unit + self.center
        return rows

    def state(self) -> dict[str, NDArray[Any]]:
        """Center and unit; ``restore`` is the inverse."""
        return {"center": self.center, "unit": self.unit}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace center and unit by saved ones."""
        self.center, self.unit = state["center"], state["unit"]
