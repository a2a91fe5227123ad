"""The model of one entity: its rows, seen in all views, become evidence.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import Scaler
from subadjacent.methods.method import Model, State
from subadjacent.methods.views.combine import (
    MANY,
    Combined,
    PartOfStretch,
    combine,
    smoothed,
    smoothing_lengths,
    unusual,
)
from subadjacent.methods.views.network import NetworkView
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.view import (
    ACROSS,
    LOCAL,
    NETWORK,
    PARTS,
    VIEWS,
    WHOLE,
    Look,
    View,
)
from subadjacent.ridge.axes import Rows
from subadjacent.runtime import side_by_side
from subadjacent.scoring.evidence import Array, Evidence, Reach
from subadjacent.scoring.moving import rows_ahead
from subadjacent.scoring.usual import SCALES, SPREAD
from subadjacent.scoring.weights import PartWeights


@dataclass(frozen=True, slots=True, eq=False)
class EntityViews:
    """All views of one entity, on standardised rows.

    Parameters
    ----------
    views
        In the order of ``VIEWS``.
    weights
        In the order of ``PARTS``.
    """

    views: tuple[View, ...]
    weights: PartWeights

    def look(self, rows: Rows, lookahead: int | None) -> list[Look]:
        """What each view makes of a stretch."""
        return side_by_side(
            lambda view: view.look(rows, lookahead), self.views, worth_it=rows.size >= MANY
        )

    def combine(self, looks: list[Look], shape: tuple[int, ...]) -> Combined:
        """What all parts together make of it."""
        parts = [PartOfStretch(part, look.judged) for look in looks for part in look.parts]
        return combine(parts, self.weights.factors(), shape)

    def expected(self, looks: list[Look], rows: Rows) -> Rows:
        """What the local rhythm leads to expect: it follows a level that has moved."""
        place = VIEWS.index(LOCAL)
        ridge = self.views[place].ridge
        assert ridge is not None
        return ridge.expected(rows, looks[place].residuals)

    @property
    def reach(self) -> tuple[int, int]:
        """How far the farthest neighbours of any view stand, before and after a row."""
        sides = [view.ridge.reach for view in self.views if view.ridge is not None]
        return max(before for before, _ in sides), max(after for _, after in sides)


@dataclass(frozen=True, slots=True, eq=False)
class ViewsModel(Model):
    """What was learned of one entity.

    Parameters
    ----------
    scaler
        Brings rows to standard deviations.
    unit
        The score that one training row in a hundred exceeds: one threshold then serves entities
        that are calm and such that are not.
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
        """Rows by which averaging spreads an event; which are its core is known later only."""
        looks_back = self.settings.lookahead == 0
        return 0 if looks_back else max(smoothing_lengths(self.settings.smoothing))

    @property
    def reach(self) -> Reach:
        """Neighbours, then averages of residuals, then averages of the score."""
        allowed = self.settings.ahead
        behind, ahead = self.entity.reach
        every = 1
        if self.network is not None:
            behind, ahead = max(behind, self.network.reach), max(ahead, self.network.reach)
            every = self.network.network.stride
        residual = max(*SCALES, SPREAD)
        score = max(smoothing_lengths(self.settings.smoothing))
        return Reach(
            behind + residual + score,
            ahead + rows_ahead(residual, allowed.residuals) + rows_ahead(score, allowed.score),
            every,
        )

    def assess(self, rows: Array) -> Evidence:
        """Judge the rows of one unbroken stretch, in one pass."""
        allowed, smoothing = self.settings.ahead, self.settings.smoothing
        scaled = self.scaler.apply(rows)
        looks = self.entity.look(scaled, allowed.residuals)
        combined = self.entity.combine(looks, scaled.shape)
        if self.network is not None:
            combined = self.network.add_to(combined, rows)
        return Evidence(
            smoothed(combined.rows, smoothing, allowed.score) / self.unit,
            unusual(combined.values, smoothing, allowed.score),
            self.scaler.invert(self.entity.expected(looks, scaled)),
            self._traces(combined),
        )

    def _traces(self, combined: Combined) -> Mapping[str, NDArray[np.float64]]:
        """What each view adds to the score before it is averaged."""
        forms = [part.form for part in PARTS] + ([NETWORK] if self.network is not None else [])
        return {
            name: combined.by_part[[form == name for form in forms]].sum(axis=0) / self.unit
            for name in (*VIEWS, ACROSS, WHOLE, NETWORK)
            if name in forms
        }

    def state(self) -> State:
        """Arrays of the scaler, the weights and every view; layouts of neighbours as facts."""
        from subadjacent.methods.views.state import save

        return save(self)
