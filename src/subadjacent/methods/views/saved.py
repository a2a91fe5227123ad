"""A views model as arrays and JSON, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import Scaler
from subadjacent.decision.view_facts import FORECASTING, NOVELTIES
from subadjacent.errors import FARTHEST, InputError, require_number, require_whole
from subadjacent.methods.method import Arrays, State, require_array
from subadjacent.methods.views.entity import EntityViews, NoveltyView, ViewsModel
from subadjacent.methods.views.residual_scale import SCALES, ChannelScale, JointScale
from subadjacent.methods.views.settings import LEVEL, LOCAL, SHAPE, STATE, ViewSettings
from subadjacent.methods.views.shapes import POINTS, ShapesOfLength, ShapeView
from subadjacent.methods.views.states import StateView
from subadjacent.methods.views.view import JOINT_VIEW, ForecastingView, parts_of
from subadjacent.methods.views.weights import PartWeights
from subadjacent.ridge.band import FAR_CLIP, BandRidge
from subadjacent.ridge.companions import Companions
from subadjacent.ridge.neighbours import Neighbours
from subadjacent.ridge.sides import SegmentRidge


def save(model: ViewsModel) -> State:
    """The fitted state of an entity's model, as arrays and JSON."""
    weights = model.entity.weights
    arrays: Arrays = {
        "center": model.scaler.center,
        "deviation": model.scaler.deviation,
        "typical": weights.typical,
        "comparable": weights.comparable.astype(np.uint8),
        "channel_units": model.channel_units,
    }
    layouts: dict[str, list[list[int]]] = {}
    for name, view in model.entity.forecasting.items():
        arrays |= _view_arrays(name, view)
        if view.ridge is not None:
            layouts[name] = [_layout(ridge.neighbours) for ridge in view.ridge.models]
    for novelty in model.entity.novelty.values():
        arrays |= _references(novelty.view)
    shapes = model.entity.shapes
    facts: dict[str, Any] = {
        "unit": model.unit,
        "neighbours": layouts,
        "novelty": {name: novelty.weight for name, novelty in model.entity.novelty.items()},
        "grains": [] if shapes is None else [length.grain for length in shapes.lengths],
    }
    return State(arrays, facts)


def _view_arrays(name: str, view: ForecastingView) -> Arrays:
    """The arrays of a forecasting view."""
    arrays: Arrays = {f"{name}.companions": view.companions.weights}
    for form, scale in (("alone", view.alone), ("across", view.across)):
        arrays[f"{name}.{form}"] = np.concatenate([scale.squares, scale.spread[None]])
    if view.joint is not None:
        arrays[f"{name}.joint"] = view.joint.squares
    if view.ridge is not None:
        arrays[f"{name}.gains"] = view.ridge.gains
        for number, ridge in enumerate(view.ridge.models):
            arrays[f"{name}.{number}.axes"] = ridge.axes
            arrays[f"{name}.{number}.weights"] = ridge.weights
    return arrays


def _layout(neighbours: Neighbours) -> list[int]:
    """The arguments of ``Neighbours``, as JSON."""
    return [neighbours.near, neighbours.behind, neighbours.ahead, neighbours.step]


def _references(view: StateView | ShapeView) -> Arrays:
    """The arrays of a novelty view."""
    if isinstance(view, StateView):
        return {
            f"{STATE}.axes": view.axes,
            f"{STATE}.references": view.references,
            f"{STATE}.usual": view.usual,
        }
    arrays: Arrays = {}
    for number, length in enumerate(view.lengths):
        arrays[f"{SHAPE}.{number}.channels"] = length.channels
        arrays[f"{SHAPE}.{number}.references"] = length.references
        arrays[f"{SHAPE}.{number}.usual"] = length.usual
    return arrays


def restore(state: State, channels: int, settings: ViewSettings) -> ViewsModel:
    """The model that ``save`` wrote; refuses inconsistent arrays."""
    read = _Reader(state.arrays)
    scaler = Scaler(read("center", channels), read("deviation", channels), FAR_CLIP)
    forecasting = [name for name in settings.names if name in FORECASTING]
    count = sum(len(parts_of(name)) for name in forecasting)
    typical = read("typical", count)
    if (typical < 0).any():
        raise InputError(
            f"typical, the median surprise of each view, must not be negative; got {typical.min()}"
        )
    weights = PartWeights(typical, read("comparable", count) > 0)
    layouts = state.facts["neighbours"]
    views = {name: _view(read, name, layouts, channels, settings) for name in forecasting}
    novelty = {
        name: _novelty(read, name, state.facts, channels, settings)
        for name in settings.names
        if name in NOVELTIES and name in state.facts["novelty"]
    }
    unit = state.facts["unit"]
    require_number("unit", unit, above=0)
    entity = EntityViews(views, weights, novelty)
    channel_units = read("channel_units", channels)
    if (channel_units <= 0).any():
        raise InputError(f"channel_units must be above 0; got {channel_units.min()}")
    return ViewsModel(settings, scaler, entity, float(unit), channel_units)


def _novelty(
    read: _Reader, name: str, facts: dict[str, Any], channels: int, settings: ViewSettings
) -> NoveltyView:
    weight = facts["novelty"][name]
    require_number(f"novelty.{name}", weight, least=0)
    view: StateView | ShapeView
    if name == STATE:
        view = _states(read, channels, settings.related_floor)
    else:
        view = _shapes(read, facts, channels, settings)
    return NoveltyView(view, float(weight))


def _states(read: _Reader, channels: int, floor: float) -> StateView:
    axes = read(f"{STATE}.axes", channels, read.size(f"{STATE}.axes"))
    count = read.size(f"{STATE}.usual")
    references = read(f"{STATE}.references", count, axes.shape[1])
    return StateView(axes, references, read(f"{STATE}.usual", count, least=0), floor)


def _shapes(
    read: _Reader, facts: dict[str, Any], channels: int, settings: ViewSettings
) -> ShapeView:
    lengths = []
    for number, grain in enumerate(facts["grains"]):
        require_whole("grains", grain, least=1, most=FARTHEST)
        key = f"{SHAPE}.{number}"
        count = read.size(f"{key}.channels")
        own_channels = read(f"{key}.channels", count, least=0).astype(np.int64)
        if len(set(own_channels.tolist())) < count or own_channels.max() >= channels:
            raise InputError(f"{key}.channels must be different numbers below {channels}")
        references_name = f"{key}.references"
        references = read(references_name, count, read.size(references_name, 1), POINTS)
        usual = read(f"{key}.usual", count, least=0)
        lengths.append(ShapesOfLength(grain, own_channels, references, usual))
    if not lengths:
        raise InputError("grains must not be empty for a model with a shape view")
    return ShapeView(tuple(lengths), settings.window_ahead)


class _Reader:
    """Reads arrays by name, and checks that each is finite and of the right shape."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    def __call__(self, name: str, *shape: int, least: float = -math.inf) -> NDArray[Any]:
        array = self.arrays[name]
        require_array(name, array, shape, least)
        return array

    def size(self, name: str, axis: int = -1) -> int:
        """Size of an array along an axis; refuses an empty one."""
        shape = self.arrays[name].shape
        if len(shape) <= axis or not shape or not shape[axis]:
            raise InputError(f"{name} must not be empty; got shape {shape}")
        return int(shape[axis])


def _view(
    read: _Reader, name: str, layouts: dict[str, Any], channels: int, settings: ViewSettings
) -> ForecastingView:
    own_floor = settings.own_floor
    alone, across = (
        ChannelScale(scale[:-1], scale[-1], floor)
        for form, floor in (("alone", own_floor), ("across", settings.related_floor))
        if (scale := read(f"{name}.{form}", len(SCALES) + 1, channels)) is not None
    )
    companions = Companions(read(f"{name}.companions", channels, channels))
    joint = None
    if name == JOINT_VIEW:
        joint = JointScale(read(f"{name}.joint", 2 * len(SCALES)), own_floor)
    ridge = None if name == LEVEL else _ridge(read, name, layouts[name], channels)
    return ForecastingView(ridge, companions, alone, across, joint)


def _ridge(read: _Reader, name: str, layouts: list[list[int]], channels: int) -> SegmentRidge:
    models = []
    for number, layout in enumerate(layouts):
        neighbours = Neighbours(*layout)
        axes_name = f"{name}.{number}.axes"
        axes = read(axes_name, channels, read.size(axes_name))
        features = neighbours.count * axes.shape[1] + 1
        weights = read(f"{name}.{number}.weights", features, channels)
        models.append(BandRidge(neighbours, axes, weights, name == LOCAL))
    gains = read(f"{name}.gains", len(models), channels)
    if (gains <= 0).any():
        raise InputError(
            f"{name}.gains, the scale factors of residuals, must be above 0; got {gains.min()}"
        )
    return SegmentRidge(tuple(models), gains)
