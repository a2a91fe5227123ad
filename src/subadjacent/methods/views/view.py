"""A view that forecasts values, and the parts of the score that its residuals make.

The view's residual of each value is assessed by itself, given the residuals of the other channels
in the same row, and, in one view, for the row as a whole.

Shapes: C channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from subadjacent.decision.view_facts import FACTS, FORECASTING
from subadjacent.methods.views.residual_scale import (
    JOINT_SOFTNESS,
    SOFTNESS,
    ChannelScale,
    JointScale,
)
from subadjacent.methods.views.settings import RHYTHM
from subadjacent.ridge.companions import Companions
from subadjacent.ridge.sides import SegmentRidge

# names of the other forms in which residuals are assessed, beside a residual by itself
ACROSS, WHOLE = "other channels", "all channels"
# the view whose residuals are assessed for the row as a whole as well
JOINT_VIEW = RHYTHM


class Part(NamedTuple):
    """One part of the score: a view's residuals alone, across channels, or of whole rows."""

    view: str
    form: str  # the view's own name, ACROSS or WHOLE
    weight: float
    softness: float


def parts_of(view: str) -> tuple[Part, ...]:
    """The parts of one view."""
    alone = Part(view, view, FACTS[view].weight, SOFTNESS)
    across = Part(view, ACROSS, FACTS[ACROSS].weight, SOFTNESS)
    whole = (Part(view, WHOLE, FACTS[WHOLE].weight, JOINT_SOFTNESS),) if view == JOINT_VIEW else ()
    return (alone, across, *whole)


PARTS = tuple(part for view in FORECASTING for part in parts_of(view))


@dataclass(frozen=True, slots=True, eq=False)
class ForecastingView:
    """How a view forecasts values, and the scales of its residuals.

    Parameters
    ----------
    ridge
        Forecasts values; without one, the forecast is the mean.
    companions
        Predicts a channel's residual from those of the other channels.
    alone, across
        Scales of residuals by themselves, and given the other channels.
    joint
        Scale of rows as a whole, in the one view that assesses them.
    """

    ridge: SegmentRidge | None
    companions: Companions
    alone: ChannelScale
    across: ChannelScale
    joint: JointScale | None
