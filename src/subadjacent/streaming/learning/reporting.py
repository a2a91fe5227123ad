"""Which surprises are reported: those that exceed the last reported one by a step.

The last reported surprise decays. So an event is reported when it begins and whenever it has grown
by a step, not while it merely lasts. An event that grows slowly is reported as well, because it is
compared with what was reported and not with the row before.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP = 3.0
"""Surprise by which the last reported one must be exceeded: twenty times rarer. 2 and 4 are as good
within chance (reproduce/log.md, "A surprise is held against what was told")."""

TIME_CONSTANT = 500.0
"""Rows in which the last reported surprise decays to a third. 300 to 700 are as good (same
entry)."""

_DECAY = math.exp(-1 / TIME_CONSTANT)


class SurpriseReporter:
    """Holds the surprise that was reported last, as far as it has decayed."""

    def __init__(self) -> None:
        self.last_reported = 0.0

    def report(self, surprise: Array) -> Array:
        """The surprise of the next rows, (B,), where it is reported in full; 0 elsewhere."""
        reported = np.zeros(len(surprise))
        for row, amount in enumerate(surprise.tolist()):
            self.last_reported *= _DECAY
            if amount >= self.last_reported + STEP:
                reported[row] = self.last_reported = amount
        return reported

    def state(self) -> dict[str, NDArray[Any]]:
        """The last reported surprise; ``restore`` is the inverse."""
        return {"last_reported": np.array([self.last_reported])}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the last reported surprise by a saved one."""
        self.last_reported = float(state["last_reported"][0])
