"""The model of one entity: rows, assessed in all views, become evidence.

Shapes: C channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from subadjacent.data.scaling import Scaler
from subadjacent.decision.evidence import Array, Evidence, Reach
from subadjacent.decision.view_facts import FACTS
from subadjacent.methods.method import Model, State
from subadjacent.methods.moving import rows_ahead
from subadjacent.methods.stream import ModelStream
from subadjacent.methods.views.forecasts import Forecasts
from subadjacent.methods.views.residual_scale import MARGIN
from subadjacent.methods.views.settings import SHAPE, STATE, ViewSettings
from subadjacent.methods.views.shapes import ShapeView
from subadjacent.methods.views.smoothing import smoothing_lengths
from subadjacent.methods.views.states import StateView
from subadjacent.methods.views.view import ForecastingView
from subadjacent.methods.views.weights import PartWeights


class NoveltyView(NamedTuple):
    """A novelty view, and its learned weight: 1, or less where it finds much that is new."""

    view: StateView | ShapeView
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class EntityViews:
    """All views of one entity, on standardised rows.

    Parameters
    ----------
    forecasting
        Views that forecast values, by name, in the order of ``FORECASTING``.
    weights
        Of their parts, in the same order.
    novelty
        Views that search the training rows for something alike, by name; only those that could be
        fitted to this entity.
    """

    forecasting: Mapping[str, ForecastingView]
    weights: PartWeights
    novelty: Mapping[str, NoveltyView]

    @property
    def reach(self) -> tuple[int, int]:
        """How far the farthest neighbours of any view stand, before and after a row."""
        ridges = [view.ridge for view in self.forecasting.values() if view.ridge is not None]
        sides = [ridge.reach for ridge in ridges] or [(0, 0)]
        return max(before for before, _ in sides), max(after for _, after in sides)

    @property
    def states(self) -> StateView | None:
        """The view of states, if it takes part."""
        view = self.novelty[STATE].view if STATE in self.novelty else None
        assert view is None or isinstance(view, StateView)
        return view

    @property
    def shapes(self) -> ShapeView | None:
        """The view of shapes, if it takes part."""
        view = self.novelty[SHAPE].view if SHAPE in self.novelty else None
        assert view is None or isinstance(view, ShapeView)
        return view


@dataclass(frozen=True, slots=True, eq=False)
class ViewsModel(Model):
    """The fitted views of one entity, in the entity's own unit.

    Parameters
    ----------
    scaler
        Brings rows to standard deviations.
    unit
        The score that one training row in a hundred exceeds. It makes one threshold serve quiet
        and restless entities alike.
    channel_units
        The same of each channel's surprise to the forecasting views, (C,).
    """

    settings: ViewSettings
    scaler: Scaler
    entity: EntityViews
    unit: float
    channel_units: Array

    @property
    def blur(self) -> int:
        """Rows by which averaging spreads an event; 0 without look-ahead: its core is not known."""
        looks_back = self.settings.lookahead == 0
        return 0 if looks_back else max(smoothing_lengths(self.settings.smoothing))

    @property
    def reach(self) -> Reach:
        """Neighbours and averages of residuals, or windows; then averages of the score."""
        allowed = self.settings.ahead
        behind, ahead = self.entity.reach
        every = 1
        behind, ahead = behind + MARGIN, ahead + rows_ahead(MARGIN, allowed.residuals)
        if self.entity.shapes is not None:
            window_behind, window_ahead = self.entity.shapes.reach
            behind, ahead = max(behind, window_behind), max(ahead, window_ahead)
            every = self.entity.shapes.every
        score = max(smoothing_lengths(self.settings.smoothing))
        return Reach(behind + score, ahead + rows_ahead(score, allowed.score), every)

    @property
    def typical_values(self) -> Array:
        """The mean of each channel in training."""
        return self.scaler.center

    @cached_property
    def forecasts(self) -> Forecasts:
        """The forecasting views, prepared once."""
        return Forecasts(self.entity.forecasting, self.entity.weights, len(self.scaler.center))

    @property
    def forms(self) -> list[str]:
        """The trace that each part of the score belongs to, in the order of parts."""
        return [part.form for part in self.forecasts.parts] + [*self.entity.novelty]

    @property
    def traces(self) -> tuple[str, ...]:
        """Names of the traces, in the order in which they are shown."""
        forms = self.forms
        return tuple(name for name in FACTS if name in forms)

    def assess(self, rows: Array) -> Evidence:
        """Assess the rows of one unbroken segment, in one pass."""
        from subadjacent.methods.views.stream import ViewsStream

        return ViewsStream(self).assess(rows)

    def stream(self, state: State | None = None, *, explained: bool = True) -> ModelStream:
        """Assess a segment as it comes, every row once."""
        from subadjacent.methods.views.stream import ViewsStream

        return ViewsStream(self, state, explained=explained)

    def state(self) -> State:
        """Arrays of the scaler, the weights and every view; layouts of neighbours as facts."""
        from subadjacent.methods.views.saved import save

        return save(self)
