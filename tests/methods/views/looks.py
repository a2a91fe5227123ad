"""Rows, and what the views of an entity make of them, that tests share."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from subadjacent.methods.views.combine import Combined

from subadjacent.methods.views.entity import EntityViews
from subadjacent.methods.views.fit import fit_views
from subadjacent.methods.views.settings import EXPECTING, ViewSettings
from subadjacent.methods.views.view import PARTS, Part

Rows = NDArray[np.float32]
Floats = NDArray[np.float64]
# the views that expect values, without those that look for something alike
EXPECT = ViewSettings(views=EXPECTING)
CAUSAL = ViewSettings(views=EXPECTING, lookahead=0)


class Judgement(NamedTuple):
    """What one part makes of a segment, before any factor."""

    part: Part
    surprise: Floats
    judged: NDArray[np.bool_]


def waves(rows: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    values = 1.4 * np.sin(time / [5.0, 8.0, 13.0]) + 0.1 * rng.normal(size=(rows, 3))
    return values.astype(np.float32)


def fitted(rows: int = 3000, settings: ViewSettings | None = None) -> EntityViews:
    return fit_views([waves(rows)], settings or EXPECT).entity


def judgements(
    entity: EntityViews, rows: Rows, lookahead: int | None = None
) -> dict[tuple[str, str], Judgement]:
    """What the views that expect values make of a segment, by view and form."""
    parts = [
        (surprise(0, len(rows)), look.judged)
        for look in entity.look(rows, lookahead).expecting.values()
        for surprise in look.parts
    ]
    return {
        (part.view, part.form): Judgement(part, surprise, judged)
        for part, (surprise, judged) in zip(PARTS, parts, strict=True)
    }


def combined(entity: EntityViews, rows: Rows, lookahead: int | None = None) -> Combined:
    return entity.combine(entity.look(rows, lookahead), rows.shape)


def without_factors(entity: EntityViews) -> EntityViews:
    """The same with all parts at their full weight."""
    return replace(entity, weights=replace(entity.weights, typical=np.zeros(len(PARTS))))
