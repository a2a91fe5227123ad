"""How loud each part of a score is on training rows; one far louder than most is turned down.

Parts are in units of what is usual, so that all of them add. But usual squares are mean squares,
and a part whose squares are mostly as large as that says more on a normal row than one that is
silent but for rare bursts. Left alone, it would drown what the others have to say; so would one
that has gone wrong altogether. No label is needed to see either: the median row will do, and it
does not mind some anomalies in the training rows.

Shapes: T rows of a stretch, C channels, P parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# how many times as loud as most a part may be: less tells nothing, and rarer rows would stand out
# so much more from the rest that a threshold set by a few of them holds less well
TOLERANCE = 2.0
# what parts are compared with is no quieter than this: where hardly anything ever moved, a part
# with a little noise is not too loud
FAINT = 1e-2
# rounding: a part quieter than this has nothing to say, and is no peer
SILENT = 1e-6


def typical(
    surprise: Sequence[NDArray[np.float64]], judged: Sequence[NDArray[np.bool_]], softness: float
) -> float:
    """The median over judged rows of the mean over channels; 0 without any.

    In units of what a square as large as the usual one comes to, one in ``softness``.
    """
    each = [one.mean(axis=1)[where] for one, where in zip(surprise, judged, strict=True)]
    rows = np.concatenate(each)
    return softness * float(np.median(rows)) if len(rows) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Loudness:
    """How loud each part is on a typical row, (P), and which say how loud parts are as a rule.

    One that judges only some rows of every stretch is none of these ``peers``: it is averaged with
    rows that it does not judge, and quieter than it will be on unbroken ones.
    """

    typical: NDArray[np.float64]
    peers: NDArray[np.bool_]

    @property
    def common(self) -> float:
        """How loud peers are as a rule: the median over those heard; without any, no limit."""
        heard = self.typical[self.peers & (self.typical > SILENT)]
        return max(float(np.median(heard)), FAINT) if len(heard) else math.inf

    def factor(self, typical: float) -> float:
        """What to multiply a part by that is typically so loud: 1, or what makes it bearable."""
        return min(1.0, TOLERANCE * self.common / max(typical, SILENT))

    def factors(self) -> list[float]:
        """What to multiply each part by."""
        return [self.factor(float(one)) for one in self.typical]
