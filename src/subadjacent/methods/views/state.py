"""A views model as arrays and JSON, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import Scaler
from subadjacent.errors import InputError, require_number
from subadjacent.methods.method import Arrays, State
from subadjacent.methods.views.entity import EntityViews, ViewsModel
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.view import JOINT_VIEW, LEVEL, LOCAL, PARTS, VIEWS, View
from subadjacent.ridge.band import FAR_CLIP, BandRidge
from subadjacent.ridge.companions import Companions
from subadjacent.ridge.neighbours import Neighbours
from subadjacent.ridge.sides import StretchRidge
from subadjacent.scoring.usual import SCALES, ChannelScale, JointScale
from subadjacent.scoring.weights import PartWeights


def save(model: ViewsModel) -> State:
    """All that was learned of an entity."""
    weights = model.entity.weights
    arrays: Arrays = {
        "center": model.scaler.center,
        "deviation": model.scaler.deviation,
        "typical": weights.typical,
        "comparable": weights.comparable.astype(np.uint8),
    }
    layouts: dict[str, list[list[int]]] = {}
    for name, view in zip(VIEWS, model.entity.views, strict=True):
        arrays[f"{name}.companions"] = view.companions.weights
        for form, scale in (("alone", view.alone), ("across", view.across)):
            arrays[f"{name}.{form}"] = np.concatenate([scale.squares, scale.spread[None]])
        if view.joint is not None:
            arrays[f"{name}.joint"] = view.joint.squares
        if view.ridge is None:
            continue
        arrays[f"{name}.gains"] = view.ridge.gains
        layouts[name] = []
        for number, ridge in enumerate(view.ridge.models):
            near, behind, ahead, step = (
                ridge.neighbours.near,
                ridge.neighbours.behind,
                ridge.neighbours.ahead,
                ridge.neighbours.step,
            )
            layouts[name].append([near, behind, ahead, step])
            arrays[f"{name}.{number}.axes"] = ridge.axes
            arrays[f"{name}.{number}.weights"] = ridge.weights
    facts: dict[str, Any] = {"unit": model.unit, "neighbours": layouts}
    if model.network is not None:
        scale = model.network.scale
        arrays["network_scale"] = np.concatenate([scale.squares, scale.spread[None]])
        facts["network_factor"] = model.network.factor
    return State(arrays, facts)


def restore(state: State, channels: int, settings: ViewSettings) -> ViewsModel:
    """The inverse of ``save``; refuses what does not fit."""
    read = _Reader(state.arrays)
    scaler = Scaler(read("center", channels), read("deviation", channels), FAR_CLIP)
    typical = read("typical", len(PARTS))
    if (typical < 0).any():
        raise InputError(f"typical must not be negative; got {typical.min()}")
    weights = PartWeights(typical, read("comparable", len(PARTS)) > 0)
    layouts = state.facts["neighbours"]
    views = tuple(_view(read, name, layouts, channels) for name in VIEWS)
    unit = state.facts["unit"]
    require_number("unit", unit, above=0)
    return ViewsModel(settings, scaler, EntityViews(views, weights), float(unit))


class _Reader:
    """Arrays by name, each checked for its shape and for what is no number."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    def __call__(self, name: str, *shape: int) -> NDArray[Any]:
        array = self.arrays[name]
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(f"{name} must be finite and have shape {shape}; got {array.shape}")
        return array

    def columns(self, name: str) -> int:
        return int(self.arrays[name].shape[-1])


def _view(read: _Reader, name: str, layouts: dict[str, Any], channels: int) -> View:
    alone, across = (
        ChannelScale(scale[:-1], scale[-1])
        for form in ("alone", "across")
        if (scale := read(f"{name}.{form}", len(SCALES) + 1, channels)) is not None
    )
    companions = Companions(read(f"{name}.companions", channels, channels))
    joint = JointScale(read(f"{name}.joint", 2 * len(SCALES))) if name == JOINT_VIEW else None
    ridge = None if name == LEVEL else _ridge(read, name, layouts[name], channels)
    return View(ridge, companions, alone, across, joint)


def _ridge(read: _Reader, name: str, layouts: list[list[int]], channels: int) -> StretchRidge:
    models = []
    for number, layout in enumerate(layouts):
        neighbours = Neighbours(*layout)
        axes_name = f"{name}.{number}.axes"
        axes = read(axes_name, channels, read.columns(axes_name))
        features = neighbours.count * axes.shape[1] + 1
        weights = read(f"{name}.{number}.weights", features, channels)
        models.append(BandRidge(neighbours, axes, weights, name == LOCAL))
    gains = read(f"{name}.gains", len(models), channels)
    if (gains <= 0).any():
        raise InputError(f"{name}.gains must be above 0; got {gains.min()}")
    return StretchRidge(tuple(models), gains)
