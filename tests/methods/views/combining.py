"""Rows, and the surprise of rows to the views of an entity, that tests share."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.view_facts import FACTS, FORECASTING
from subadjacent.methods.views.entity import EntityViews
from subadjacent.methods.views.fit import fit_views
from subadjacent.methods.views.forecasts import Forecasts
from subadjacent.methods.views.novelty import Novelty
from subadjacent.methods.views.row_buffer import RowBuffer
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.shapes import ShapeView
from subadjacent.methods.views.view import PARTS, Part

Rows = NDArray[np.float32]
Floats = NDArray[np.float64]
FORECAST = ViewSettings(views=FORECASTING)
CAUSAL = ViewSettings(views=FORECASTING, lookahead=0)


class PartSurprise(NamedTuple):
    """The surprise of a segment to one part, before any factor."""

    part: Part
    surprise: Floats
    assessed: NDArray[np.bool_]


class Combined(NamedTuple):
    """The surprise of a segment to all parts, and what each adds to it: novelty views last."""

    values: Floats  # (T, C)
    rows: Floats  # (T,)
    by_part: Floats  # (P, T)


def waves(rows: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    values = 1.4 * np.sin(time / [5.0, 8.0, 13.0]) + 0.1 * rng.normal(size=(rows, 3))
    return values.astype(np.float32)


def fitted(rows: int = 3000, settings: ViewSettings = FORECAST) -> EntityViews:
    return fit_views([[waves(rows)]], settings)[0].entity


def part_surprises(
    entity: EntityViews, rows: Rows, lookahead: int | None = None
) -> dict[tuple[str, str], PartSurprise]:
    """The surprise of a segment to each part of the forecasting views, by view and form."""
    forecasts = Forecasts(entity.forecasting, entity.weights, rows.shape[1])
    residuals = forecasts.residuals(rows, 0, len(rows), expected=False)
    surprise = forecasts._surprise(residuals.table, 0, len(rows), lookahead)
    names = list(entity.forecasting)
    return {
        (part.view, part.form): PartSurprise(
            part,
            surprise[:, forecasts.parts.index(part)],
            residuals.assessed[:, names.index(part.view)],
        )
        for part in PARTS
        if part in forecasts.parts
    }


def combined(entity: EntityViews, rows: Rows, lookahead: int | None = None) -> Combined:
    forecasts = Forecasts(entity.forecasting, entity.weights, rows.shape[1])
    residuals = forecasts.residuals(rows, 0, len(rows), expected=False)
    values, by_part = forecasts.combine(
        residuals.table, residuals.assessed, 0, len(rows), lookahead
    )
    order = [forecasts.parts.index(part) for part in PARTS if part in forecasts.parts]
    means, added = values.mean(axis=1), list(by_part[:, order].T)
    for name, (view, weight) in entity.novelty.items():
        own = novelty(view, rows) if isinstance(view, ShapeView) else view.novelty(rows)
        added.append(FACTS[name].weight * weight * own.rows)
        means += added[-1]
        values += FACTS[name].weight * weight * own.values
    return Combined(values, means, np.array(added))


def novelty(view: ShapeView, rows: Rows) -> Novelty:
    """The novelty of a segment's shapes."""
    windows = view.no_windows()
    view.add_windows(windows, RowBuffer(rows))
    return view.novelty(windows, len(rows), 0, len(rows), rows.shape[1])


def without_factors(entity: EntityViews) -> EntityViews:
    """The same with all parts at their full weight."""
    return replace(entity, weights=replace(entity.weights, typical=np.zeros(len(PARTS))))
