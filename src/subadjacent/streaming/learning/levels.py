"""How a channel strays: around its level, and around what was expected of it.

Shapes: B rows, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TRIFLE = 0.1
"""Share of a channel's deviation that does not matter."""

TINY = 1e-6
"""In units of a channel: rounding errors are less."""

BAND = 3.0
"""Deviations around what is expected that are usual."""


class Levels:
    """The level of each channel and mean squares around it, and of residuals; all in its units.

    Mean squares of residuals are those of the near expectation and of the sub-adjacent one.
    """

    def __init__(self, channels: int) -> None:
        self.rows = 0.0
        self.level: Array = np.zeros(channels)
        self.square: Array = np.ones(channels)
        self.residuals: Array = np.ones((2, channels))

    @property
    def trifle(self) -> Array:
        """Departures that do not matter, (C,)."""
        trifle: Array = TRIFLE * np.sqrt(self.square) + TINY
        return trifle

    @property
    def band(self) -> Array:
        """How far from what is expected a channel usually is, (C,)."""
        band: Array = BAND * np.sqrt(self.residuals[1])
        return band

    def begin(self, rows: Array) -> None:
        """The first rows."""
        self.rows = float(len(rows))
        self.level, self.square = rows.mean(axis=0), rows.var(axis=0)

    def around(self, rows: Array, cut: float) -> Array:
        """Rows, (B, C), none of which is more than ``cut`` deviations from its level."""
        most = cut * (np.sqrt(self.square) + TRIFLE)
        around: Array = self.level + np.clip(rows - self.level, -most, most)
        return around

    def usual(self, residuals: Array, which: int, cut: float) -> Array:
        """Residuals of an expectation, (B, C), none of which exceeds ``cut`` deviations."""
        most = cut * np.sqrt(self.residuals[which])
        return np.clip(residuals, -most, most)

    def follow(self, rows: Array, near: Array, far: Array, keep: float) -> None:
        """Let rows and their residuals count, after older ones have faded to ``keep``."""
        self.rows = self.rows * keep + len(rows)
        share = len(rows) / self.rows
        self.level = self.level + share * (rows.mean(axis=0) - self.level)
        apart = np.square(rows - self.level).mean(axis=0)
        self.square = self.square + share * (apart - self.square)
        squares = np.stack([np.square(near).mean(axis=0), np.square(far).mean(axis=0)])
        followed = self.residuals + share * (squares - self.residuals)
        self.residuals = np.maximum(followed, TINY**2)

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learned; ``restore`` is the inverse."""
        return {
            "rows": np.array([self.rows]),
            "level": self.level,
            "square": self.square,
            "residuals": self.residuals,
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was learned."""
        self.rows = float(state["rows"][0])
        self.level, self.square = state["level"], state["square"]
        self.residuals = state["residuals"]
