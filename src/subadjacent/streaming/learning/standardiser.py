"""Standardised units of each channel, from the rows of the burn-in.

Shapes: B rows, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.running_moments import ROUNDING

Array = NDArray[np.float64]

CLIPPED_AT = 1e12
"""In standardised units: larger values are clipped."""

SHARE_OF_SIZE = 1e-3
"""Unit of a channel that stands still, as a share of its value; 1 where that is 0."""


class Standardiser:
    """Median and unit of each channel; 0 and 1 until it is fitted."""

    def __init__(self, channels: int) -> None:
        self.center: Array = np.zeros(channels)
        self.unit: Array = np.ones(channels)

    def fit(self, rows: Array) -> None:
        """Take the median and the deviation of rows, (B, C)."""
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
