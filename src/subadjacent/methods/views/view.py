"""One view that expects values: how surprising its residuals are.

The view's residual of each value is judged by itself, given the residuals of the other channels in
the same row, and, in one view, for the row as a whole.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.settings import EXPECTING, RHYTHM
from subadjacent.ridge.axes import Rows, cut
from subadjacent.ridge.companions import Companions
from subadjacent.ridge.sides import SegmentRidge
from subadjacent.scoring.usual import (
    JOINT_SOFTNESS,
    SOFTNESS,
    ChannelScale,
    JointScale,
    JointSquares,
    Squares,
    Surprise,
)

# names of the other things that are judged, beside a residual by itself
ACROSS, WHOLE, NETWORK = "other channels", "all channels", "network"
# weight of a residual given the other channels, relative to one by itself. Weights from half to
# twice of each part change little (reproduce/log.md, "The default detector")
ACROSS_WEIGHT = 0.5
# the view whose residuals are judged for the row as a whole as well
JOINT_VIEW = RHYTHM


class Part(NamedTuple):
    """One of the things judged in a view: residuals alone, across channels, or rows as a whole."""

    view: str
    form: str  # the view's own name, ACROSS or WHOLE
    weight: float
    softness: float


def parts_of(view: str) -> tuple[Part, ...]:
    """The parts of one view."""
    whole = (Part(view, WHOLE, 1.0, JOINT_SOFTNESS),) if view == JOINT_VIEW else ()
    return (Part(view, view, 1.0, SOFTNESS), Part(view, ACROSS, ACROSS_WEIGHT, SOFTNESS), *whole)


PARTS = tuple(part for view in EXPECTING for part in parts_of(view))
TOTAL_WEIGHT = sum(part.weight for part in PARTS)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """How a view expects values, and the scales of its residuals.

    Parameters
    ----------
    ridge
        Its residuals are judged; without one, the standardised values are.
    companions
        Predicts a channel's residual from those of the other channels.
    alone, across
        Scales of residuals by themselves, and given the other channels.
    joint
        Scale of rows as a whole, in the one view that judges them.
    """

    ridge: SegmentRidge | None
    companions: Companions
    alone: ChannelScale
    across: ChannelScale
    joint: JointScale | None

    def look(self, rows: Rows, lookahead: int | None) -> Look:
        """Judge a segment of standardised rows."""
        residuals = cut(rows) if self.ridge is None else self.ridge.residuals(rows)
        judged = np.ones(len(rows), bool) if self.ridge is None else self.ridge.judged(len(rows))
        left = self.companions.unexplained(residuals)

        def alone(first: int, last: int) -> Surprise:
            return self.alone.surprise(Squares.of(residuals, first, last, lookahead))

        def across(first: int, last: int) -> Surprise:
            return self.across.surprise(Squares.of(left, first, last, lookahead))

        def whole(first: int, last: int) -> Surprise:
            assert self.joint is not None
            return self.joint.surprise(JointSquares.of(residuals, first, last, lookahead))

        forms: list[Callable[[int, int], Surprise]] = [alone, across]
        return Look(residuals, judged, forms if self.joint is None else [*forms, whole])


class Look(NamedTuple):
    """One segment as a view judges it: residuals, the rows that have one, and the view's parts.

    Each of ``parts`` gives the surprise of the rows from one number to another, (rows, C).
    """

    residuals: Rows
    judged: NDArray[np.bool_]
    parts: list[Callable[[int, int], Surprise]]
