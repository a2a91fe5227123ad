"""What is new about a surprise: what the last rows said already is no news.

A surprise counts as far as it exceeds those before it, which fade over ``FADES`` rows. So an event
is told once, when it begins and whenever it grows.

Shapes: B rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.windows import windows

Array = NDArray[np.float64]

FADES = 500
"""Rows after which a surprise is forgotten, and the same again is news. 100 cost ten points of the
live score, 1,000 change nothing (docs/log.md, "Learning while it watches")."""

_FADED = (np.arange(FADES) + 1) / FADES


class News:
    """The surprise of the last rows."""

    def __init__(self) -> None:
        self.before: Array = np.zeros(FADES)

    def of(self, surprise: Array) -> Array:
        """By how much the surprise of the next rows, (B,), exceeds what was said before."""
        row = np.concatenate([self.before, surprise])
        said = (windows(row[:-1], FADES) * _FADED).max(axis=1)
        self.before = row[len(surprise) :]
        found: Array = np.maximum(surprise - said, 0)
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """What was said; ``restore`` is the inverse."""
        return {"before": self.before}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was said."""
        self.before = state["before"]
