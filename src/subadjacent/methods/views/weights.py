"""Weights of the parts of a score: one that is far larger than most on training rows gets less.

Parts are in units of baseline squares, so that they can be added. But these are mean squares: a
part whose squares are mostly as large as their mean is larger on a normal row than one with rare
bursts. It would dominate the others; so would a part that is broken. Neither needs labels to be
seen: the median over training rows shows it, and is robust to some anomalies among them.

Shapes: T rows of a segment, C channels, P parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.quantiles import median

# a part may be this many times as large as most. With half of it rarer rows stand out so much from
# the rest that a threshold set by a few of them holds less well; twice of it has no effect
# (reproduce/log.md, "Weights")
TOLERANCE = 2.0
# parts are compared with no less than this: where hardly anything ever moved, one with a little
# noise is not too large
MIN_COMMON = 1e-2
# a part smaller than this is rounding, and says nothing of others
ROUNDING = 1e-6


def typical_surprise(rows: NDArray[np.float64], softness: float) -> float:
    """The median surprise over rows, relative to that of a square as large as the baseline.

    That surprise is one in ``softness``. 0 without any row.
    """
    return softness * median(rows) if len(rows) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PartWeights:
    """The typical surprise of each part, (P,), and which of them the others are compared with.

    A part that assesses only some rows of every segment is not one of these: it is averaged with
    rows that it does not assess, and smaller than it will be on unbroken ones.
    """

    typical: NDArray[np.float64]
    comparable: NDArray[np.bool_]

    @property
    def common(self) -> float:
        """The median of the parts' typical surprises; infinite without any."""
        compared = self.typical[self.comparable & (self.typical > ROUNDING)]
        return max(median(compared), MIN_COMMON) if len(compared) else math.inf

    def factors(self) -> NDArray[np.float64]:
        """The weight of each part: 1, or less if it is over ``TOLERANCE`` times the median."""
        return np.minimum(1.0, TOLERANCE * self.common / np.maximum(self.typical, ROUNDING))
