"""The model of one entity: its rows, seen in all views, become evidence.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import Scaler
from subadjacent.methods.method import Model, State
from subadjacent.methods.stream import ModelStream
from subadjacent.methods.views.combine import (
    MANY,
    AddedPart,
    Combined,
    PartOfSegment,
    combine,
    smoothed,
    smoothing_lengths,
    unusual,
)
from subadjacent.methods.views.network import NetworkView
from subadjacent.methods.views.novelty import WEIGHTS, Novelty
from subadjacent.methods.views.settings import LOCAL, SHAPE, VIEWS, ViewSettings
from subadjacent.methods.views.shapes import ShapeView
from subadjacent.methods.views.states import StateView
from subadjacent.methods.views.view import ACROSS, NETWORK, WHOLE, Look, View, parts_of
from subadjacent.ridge.axes import Rows
from subadjacent.runtime import side_by_side
from subadjacent.scoring.evidence import Array, Evidence, Reach
from subadjacent.scoring.moving import rows_ahead
from subadjacent.scoring.usual import SCALES, SPREAD
from subadjacent.scoring.weights import PartWeights

if TYPE_CHECKING:
    from subadjacent.methods.views.stacked import StackedViews


class Seeking(NamedTuple):
    """A view of novelty, and its weight relative to 1 for all views that expect values."""

    view: StateView | ShapeView
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class EntityViews:
    """All views of one entity, on standardised rows.

    Parameters
    ----------
    expecting
        Views that expect values, by name, in the order of ``VIEWS``.
    weights
        Of their parts, in the same order.
    seeking
        Views that search the training rows for something alike, by name; only those that could be
        fitted to this entity.
    """

    expecting: Mapping[str, View]
    weights: PartWeights
    seeking: Mapping[str, Seeking]

    def look(self, rows: Rows, lookahead: int | None) -> Looks:
        """Judge a segment in each view."""
        looks: dict[str, Look] = {}
        novelties: dict[str, Novelty] = {}

        def expect(name: str) -> None:
            looks[name] = self.expecting[name].look(rows, lookahead)

        def seek(name: str) -> None:
            novelties[name] = self.seeking[name].view.novelty(rows)

        # the slowest views first
        names = [*self.seeking, *self.expecting]
        side_by_side(
            lambda name: seek(name) if name in self.seeking else expect(name),
            names,
            worth_it=rows.size >= MANY,
        )
        return Looks(looks, novelties)

    def combine(self, looks: Looks, shape: tuple[int, ...]) -> Combined:
        """Combine all parts into surprises of rows and values, in the order of ``forms``."""
        kinds = [part for name in self.expecting for part in parts_of(name)]
        surprises = [
            (surprise, looks.expecting[name].judged)
            for name in self.expecting
            for surprise in looks.expecting[name].parts
        ]
        parts = [
            PartOfSegment(surprise, judged, part.weight, factor)
            for (surprise, judged), part, factor in zip(
                surprises, kinds, self.weights.factors(), strict=True
            )
        ]
        added = [
            AddedPart(looks.seeking[name], WEIGHTS[name] * seeking.weight)
            for name, seeking in self.seeking.items()
        ]
        return combine(parts, added, shape)

    @property
    def forms(self) -> list[str]:
        """The form of each part: what it judges."""
        return [part.form for name in self.expecting for part in parts_of(name)] + [*self.seeking]

    def expected(self, looks: Looks, rows: Rows) -> Rows | None:
        """The values expected by the local rhythm, which follows a level that has moved.

        Without it, another rhythm; None without any.
        """
        ridges = {name: view.ridge for name, view in self.expecting.items()}
        for name in (LOCAL, *ridges):
            ridge = ridges.get(name)
            if ridge is not None:
                return ridge.expected(rows, looks.expecting[name].residuals)
        return None

    @property
    def reach(self) -> tuple[int, int]:
        """How far the farthest neighbours of any view stand, before and after a row."""
        ridges = [view.ridge for view in self.expecting.values() if view.ridge is not None]
        sides = [ridge.reach for ridge in ridges] or [(0, 0)]
        return max(before for before, _ in sides), max(after for _, after in sides)

    @property
    def shapes(self) -> ShapeView | None:
        """The view of shapes, if it takes part."""
        view = self.seeking[SHAPE].view if SHAPE in self.seeking else None
        assert view is None or isinstance(view, ShapeView)
        return view


class Looks(NamedTuple):
    """A segment as each view judges it, by the view's name."""

    expecting: Mapping[str, Look]
    seeking: Mapping[str, Novelty]


@dataclass(frozen=True, slots=True, eq=False)
class ViewsModel(Model):
    """What was learned of one entity.

    Parameters
    ----------
    scaler
        Brings rows to standard deviations.
    unit
        The score that one training row in a hundred exceeds. It makes one threshold serve quiet
        and restless entities alike.
    network
        Whose residuals are added to the views', if any.
    """

    settings: ViewSettings
    scaler: Scaler
    entity: EntityViews
    unit: float
    network: NetworkView | None = None

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
        if self.network is not None:
            behind, ahead = max(behind, self.network.reach), max(ahead, self.network.reach)
            every = self.network.network.stride
        residual = max(*SCALES, SPREAD)
        behind, ahead = behind + residual, ahead + rows_ahead(residual, allowed.residuals)
        if self.entity.shapes is not None:
            window_behind, window_ahead = self.entity.shapes.reach
            behind, ahead = max(behind, window_behind), max(ahead, window_ahead)
            every = math.lcm(every, self.entity.shapes.every)
        score = max(smoothing_lengths(self.settings.smoothing))
        return Reach(behind + score, ahead + rows_ahead(score, allowed.score), every)

    @property
    def typical_values(self) -> Array:
        """The mean of each channel in training."""
        return self.scaler.center

    def assess(self, rows: Array) -> Evidence:
        """Judge the rows of one unbroken segment, in one pass."""
        allowed, smoothing = self.settings.ahead, self.settings.smoothing
        scaled = self.scaler.apply(rows)
        looks = self.entity.look(scaled, allowed.residuals)
        combined = self.entity.combine(looks, scaled.shape)
        if self.network is not None:
            combined = self.network.add_to(combined, rows)
        expected = self.entity.expected(looks, scaled)
        traces = self._traces(combined)
        return Evidence(
            smoothed(combined.rows, smoothing, allowed.score) / self.unit,
            unusual(combined.values, smoothing, allowed.score),
            None if expected is None else self.scaler.invert(expected),
            traces,
            tuple(traces),
        )

    def _traces(self, combined: Combined) -> Mapping[str, NDArray[np.float64]]:
        """The share of each view in the score before it is averaged."""
        return {
            name: combined.by_part[parts].sum(axis=0) / self.unit
            for name, parts in self.parts_by_trace.items()
        }

    @property
    def parts_by_trace(self) -> dict[str, list[int]]:
        """The parts that each trace is the sum of, by their numbers."""
        forms = self.entity.forms + ([NETWORK] if self.network is not None else [])
        return {
            name: [number for number, form in enumerate(forms) if form == name]
            for name in (*VIEWS, ACROSS, WHOLE, NETWORK)
            if name in forms
        }

    def stream(self, state: State | None = None, *, explained: bool = True) -> ModelStream:
        """Score a segment as it comes, every row once; with a network, by replaying."""
        if self.network is not None:
            return super(ViewsModel, self).stream(state, explained=explained)
        from subadjacent.methods.views.stream import ViewsStream

        return ViewsStream(self, state, explained=explained)

    @cached_property
    def stacked(self) -> StackedViews:
        """Views that expect values, prepared once for all streams."""
        from subadjacent.methods.views.stacked import StackedViews

        return StackedViews(self.entity, len(self.scaler.center))

    def state(self) -> State:
        """Arrays of the scaler, the weights and every view; layouts of neighbours as facts."""
        from subadjacent.methods.views.saved import save

        return save(self)
