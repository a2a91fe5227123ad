"""The default's method with a network's residuals added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import Scaler
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError, require_number
from subadjacent.methods.method import Fitted, Method, Model, State, require_array
from subadjacent.methods.neural.method import Trained
from subadjacent.methods.neural.model import WEIGHTS, EntityNetwork
from subadjacent.methods.neural.transformers import SubAdjacentMethod
from subadjacent.methods.views.entity import EntityViews, ViewsModel
from subadjacent.methods.views.fit import ViewsFit
from subadjacent.methods.views.method import EntityFit, ViewsMethod, in_own_unit
from subadjacent.methods.views.network import NetworkView, add_network
from subadjacent.methods.views.residual_scale import SCALES, SOFTNESS, ChannelScale, chunks
from subadjacent.methods.views.residual_scale_fit import AssessedRows, fit_channel_scale
from subadjacent.methods.views.settings import FULL
from subadjacent.methods.views.weights import typical_surprise
from subadjacent.runtime import Runtime

Residuals = list[NDArray[np.float32]]


class _NetworkScale(NamedTuple):
    """The scale of a network's residuals on held-out rows, and their typical surprise."""

    scale: ChannelScale
    typical: float


@dataclass(frozen=True, slots=True)
class NetworkedViewsMethod(ViewsMethod):
    """Trains one network for all entities, and adds its residuals to the views of each."""

    neural: SubAdjacentMethod = field(default_factory=lambda: SubAdjacentMethod(size="small"))

    def __post_init__(self) -> None:
        if self.settings.lookahead != FULL:
            raise InputError(
                f"lookahead must be 'full' with a network, whose windows reach ahead; "
                f"got {self.settings.lookahead!r}"
            )

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        """Fit views and network; the scale of the network's residuals is from held-out rows."""
        trained = self.neural.train(series, run)
        plain = self.fit_entities(series, run)
        residuals = [
            [
                trained.networks.of(one_series.entity).residuals(one_series.values[start:stop])
                for start, stop in one_series.segments
            ]
            for one_series in series
        ]
        scales = _fit_scales(series, residuals, trained, self.settings.own_floor)

        def view(entity: str | None, views: EntityViews) -> NetworkView:
            scale, typical = scales.of(entity)
            return NetworkView(trained.networks.of(entity), scale, views.weights.factor(typical))

        entities = [
            self._with_network(fit.views, view(one_series.entity, fit.views.entity), by_segment)
            for one_series, fit, by_segment in zip(series, plain.entities, residuals, strict=True)
        ]
        fitted = self.fitted(series, plain._replace(entities=entities))
        models = {
            name: replace(model, network=view(name, model.entity))
            for name, model in fitted.models.by_entity.items()
            if isinstance(model, ViewsModel)
        }
        pooled = fitted.models.pooled
        assert isinstance(pooled, ViewsModel)
        pooled = replace(pooled, network=view(None, pooled.entity))
        return fitted._replace(models=PerEntity(pooled, models))

    def fit_each(self, series: Sequence[TrainSeries], run: Runtime) -> list[Fitted]:
        """One network after the other: each is trained on one series."""
        return Method.fit_each(self, series, run)

    def _with_network(self, views: ViewsFit, view: NetworkView, by_segment: Residuals) -> EntityFit:
        rows = [
            add_network(plain, view.surprise(residuals).mean(axis=1, dtype=np.float64))
            for plain, residuals in zip(views.unseen, by_segment, strict=True)
        ]
        return in_own_unit(views._replace(unseen=rows), self.settings)

    def pack(self, models: PerEntity[Model]) -> State:
        """The views of all entities, and the network they share."""
        state = super(NetworkedViewsMethod, self).pack(models)
        pooled = models.pooled
        assert isinstance(pooled, ViewsModel)
        assert pooled.network is not None
        shared = pooled.network.network.state()
        weights = {name: array for name, array in shared.arrays.items() if name.startswith(WEIGHTS)}
        return State(state.arrays | weights, state.facts | {"shared": shared.facts})

    def unpack(self, state: State, channels: int, entities: Sequence[str]) -> PerEntity[Model]:
        """The inverse of ``pack``; refuses what does not fit."""
        shared = {n: array for n, array in state.arrays.items() if n.startswith(WEIGHTS)}
        views = {n: array for n, array in state.arrays.items() if n not in shared}
        plain = super(NetworkedViewsMethod, self).unpack(
            State(views, state.facts), channels, entities
        )
        pooled = plain.pooled
        assert isinstance(pooled, ViewsModel)
        scale = {"center": pooled.scaler.center, "deviation": pooled.scaler.deviation}
        network = self.neural.restore_network(
            State(shared | scale, state.facts["shared"]), channels
        )
        numbered = zip(plain, state.facts["models"], range(1 + len(entities)), strict=True)
        models = [
            self._restore_view(model, facts, views, number, network)
            for model, facts, number in numbered
        ]
        return PerEntity(models[0], dict(zip(entities, models[1:], strict=True)))

    def _restore_view(
        self,
        model: Model,
        facts: dict[str, float],
        arrays: dict[str, NDArray[np.float64]],
        number: int,
        network: EntityNetwork,
    ) -> ViewsModel:
        assert isinstance(model, ViewsModel)
        scale = arrays["network_scale"][number]
        require_array("network_scale", scale, (len(SCALES) + 1, len(model.scaler.center)), least=0)
        require_number("network_factor", facts["network_factor"], least=0)
        scaler = Scaler(model.scaler.center, model.scaler.deviation, network.scaler.clip)
        entity_network = replace(network, scaler=scaler)
        usual = ChannelScale(scale[:-1], scale[-1], self.settings.own_floor)
        view = NetworkView(entity_network, usual, float(facts["network_factor"]))
        return replace(model, network=view)


def _fit_scales(
    series: Sequence[TrainSeries],
    residuals: Sequence[Residuals],
    trained: Trained,
    floor: float,
) -> PerEntity[_NetworkScale]:
    """Scales from the held-out rows; an entity without any gets the scale of all."""
    held_out = trained.stacked.unstack(trained.held_out)
    kept = []
    for one_series, by_segment, mask in zip(series, residuals, held_out, strict=True):
        bounds = zip(by_segment, one_series.segments, strict=True)
        kept.append(
            [segment_residuals[mask[start:stop]] for segment_residuals, (start, stop) in bounds]
        )
    everything = [segment_residuals for by_segment in kept for segment_residuals in by_segment]
    return PerEntity(
        _fit_scale(everything, floor),
        {
            one_series.entity: _fit_scale(by_segment, floor)
            for one_series, by_segment in zip(series, kept, strict=True)
            if one_series.entity is not None and any(map(len, by_segment))
        },
    )


def _fit_scale(by_segment: Residuals, floor: float) -> _NetworkScale:
    rows = AssessedRows([np.ones(len(residuals), bool) for residuals in by_segment])
    fit = fit_channel_scale(by_segment, rows, None, floor)
    unseen = [
        fit.surprise(number, first, last).mean(axis=1)
        for number, residuals in enumerate(by_segment)
        for first, last in chunks(len(residuals))
    ]
    return _NetworkScale(fit.scale, typical_surprise(np.concatenate(unseen), SOFTNESS))
