"""What is new about a surprise: what was told already is no news.

A surprise is told in full when it exceeds the one told last by ``STEP``; that one fades. So an
event is told when it begins and whenever it has grown by a step, and one that grows slowly is told
as well: it is held against what was told, not against the row before it.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP = 3.0
"""By how much a surprise exceeds what was told: it is twenty times rarer. 2 and 4 are as good
within chance (docs/log.md, "A surprise is held against what was told")."""

FADES = 500.0
"""Rows after which what was told counts for a third. 300 to 700 are as good (same entry)."""

_KEEP = math.exp(-1 / FADES)


class News:
    """The surprise that was told last, as much as is left of it."""

    def __init__(self) -> None:
        self.told = 0.0

    def of(self, surprise: Array) -> Array:
        """The surprise of the next rows, (B,), where it is told; else 0."""
        found = np.zeros(len(surprise))
        for place, amount in enumerate(surprise.tolist()):
            self.told *= _KEEP
            if amount >= self.told + STEP:
                found[place] = self.told = amount
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """What was told; ``restore`` is the inverse."""
        return {"told": np.array([self.told])}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was told."""
        self.told = float(state["told"][0])
