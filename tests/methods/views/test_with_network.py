"""The default with a network: its residuals add to the views', and no more than they should."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import subadjacent
from subadjacent import InputError, SubAdjacentHybridDetector, TrainSeries, multivariate
from subadjacent.data.entities import PerEntity
from subadjacent.methods.method import Fitted, State
from subadjacent.methods.neural.transformers import SubAdjacentMethod
from subadjacent.methods.stream import ReplayStream, joined
from subadjacent.methods.views.entity import ViewsModel
from subadjacent.methods.views.method import ViewsMethod
from subadjacent.methods.views.network import WEIGHT, NetworkView, add_network
from subadjacent.methods.views.residual_scale import ChannelScale
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.view import TOTAL_WEIGHT
from subadjacent.methods.views.with_network import NetworkedViewsMethod
from subadjacent.runtime import Runtime

PLANT = multivariate(n=900, channels=3, seed=4)
METHOD = NetworkedViewsMethod(ViewSettings(), neural=SubAdjacentMethod(size="tiny", epochs=1))
ENTITIES = {
    name: TrainSeries(multivariate(n=rows, channels=3, seed=seed).train, entity=name)
    for name, rows, seed in (("a", 700, 1), ("b", 500, 2), ("too short to hold out", 110, 3))
}


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return METHOD.fit([TrainSeries(PLANT.train)], Runtime())


@pytest.fixture(scope="module")
def fleet() -> Fitted:
    return METHOD.fit(list(ENTITIES.values()), Runtime())


def model_of(fitted: Fitted, entity: str | None = None) -> ViewsModel:
    model = fitted.models.of(entity)
    assert isinstance(model, ViewsModel)
    return model


def network_of(fitted: Fitted, entity: str | None = None) -> NetworkView:
    network = model_of(fitted, entity).network
    assert network is not None
    return network


def test_the_network_has_half_the_weight_of_one_view_by_itself_by_hand() -> None:
    # four views by themselves, four across channels with half the weight, and rows as a whole
    assert TOTAL_WEIGHT == 4 + 4 * 0.5 + 1
    assert WEIGHT == 0.5
    assert add_network(np.array([1.0]), np.array([16.0])).tolist() == [(7 * 1 + 0.5 * 16) / 7.5]


class Blind:
    """A network that leaves the same residual at every value."""

    window = 5
    stride = 5

    def __init__(self, left: float) -> None:
        self.left = left

    def residuals(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        return np.full(rows.shape, self.left, dtype=np.float32)


def with_network(model: ViewsModel, left: float, factor: float = 1.0) -> ViewsModel:
    scale = ChannelScale(np.ones((3, 3)), np.full(3, 1e30))
    blind: Any = Blind(left)
    return replace(model, network=NetworkView(blind, scale, factor))


def test_a_network_without_residuals_only_takes_its_share(fitted: Fitted) -> None:
    plain = replace(model_of(fitted), network=None).assess(PLANT.test)
    silent = with_network(model_of(fitted), 0.0).assess(PLANT.test)
    np.testing.assert_allclose(
        silent.score, plain.score * TOTAL_WEIGHT / (TOTAL_WEIGHT + WEIGHT), atol=1e-4
    )
    np.testing.assert_allclose(silent.traces["network"], 0)


def test_what_the_network_adds_is_its_trace_and_shrinks_with_its_factor(fitted: Fitted) -> None:
    model = model_of(fitted)
    loud = with_network(model, 30.0).assess(PLANT.test)
    turned_down = with_network(model, 30.0, factor=0.25).assess(PLANT.test)
    np.testing.assert_allclose(turned_down.traces["network"], 0.25 * loud.traces["network"])
    # far from the ends: log(1 + 900/100.1) on every scale
    row = WEIGHT / (TOTAL_WEIGHT + WEIGHT) * np.log1p(900 / (100 * 1.001)) / model.unit
    np.testing.assert_allclose(loud.traces["network"][100:-100], row, rtol=1e-5)


def test_traces_add_up_to_the_surprise_of_a_row(fitted: Fitted) -> None:
    model = model_of(fitted)
    unsmoothed = replace(model, settings=ViewSettings(smoothing=1)).assess(PLANT.test)
    total = sum(unsmoothed.traces.values())
    np.testing.assert_allclose(total, unsmoothed.score, atol=1e-6 / model.unit)


def test_a_network_far_larger_than_the_views_is_turned_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    series = [TrainSeries(PLANT.train)]
    usual = network_of(METHOD.fit(series, Runtime()))
    # a typical row that is a thousand times what is usual
    monkeypatch.setattr(
        "subadjacent.methods.views.with_network.typical_surprise", lambda *_rows: 1000.0
    )
    loud = network_of(METHOD.fit(series, Runtime()))
    assert usual.factor == pytest.approx(1.0, abs=0.9)
    assert loud.factor < 0.1 * usual.factor


def test_rows_that_the_network_learned_from_say_nothing_about_what_is_usual(
    fitted: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    import subadjacent.methods.views.with_network as module

    fit = module.fit_channel_scale
    monkeypatch.setattr(
        module,
        "fit_channel_scale",
        lambda parts, *others: seen.append(sum(map(len, parts))) or fit(parts, *others),
    )
    METHOD.fit([TrainSeries(PLANT.train)], Runtime())
    # the last fifth of 900 rows
    assert seen == [180]
    assert len(fitted.scores[0]) == 900


def test_entities_share_the_network_and_have_their_own_scales(fleet: Fitted) -> None:
    networks = {name: network_of(fleet, name) for name in (None, *ENTITIES)}
    assert len({id(view.network.network) for view in networks.values()}) == 1
    assert not np.array_equal(networks["a"].scale.squares, networks["b"].scale.squares)
    # one too short to hold rows out goes by what is usual for all
    short = networks["too short to hold out"]
    np.testing.assert_array_equal(short.scale.squares, networks[None].scale.squares)
    centers = [networks[name].network.scaler.center for name in ("a", "b")]
    assert not np.array_equal(*centers)


def test_what_is_saved_is_restored_the_same(fleet: Fitted) -> None:
    state = METHOD.pack(fleet.models)
    weights = [name for name in state.arrays if name.startswith("network.")]
    assert weights
    restored = METHOD.unpack(state, 3, list(ENTITIES))
    for name, series in ENTITIES.items():
        found, wanted = (
            models.of(name).assess(series.values) for models in (restored, fleet.models)
        )
        np.testing.assert_array_equal(found.score, wanted.score)


@pytest.mark.parametrize(
    ("name", "value"),
    [("network_scale", np.full((4, 4, 3), np.nan)), ("network_scale", np.ones((4, 2, 3)))],
)
def test_arrays_that_do_not_fit_are_refused(
    fleet: Fitted, name: str, value: NDArray[np.float64]
) -> None:
    arrays, facts = METHOD.pack(fleet.models)
    with pytest.raises(InputError, match=name):
        METHOD.unpack(State(arrays | {name: value}, facts), 3, list(ENTITIES))


def test_a_network_needs_to_look_ahead() -> None:
    with pytest.raises(InputError, match="lookahead must be 'full' with a network"):
        NetworkedViewsMethod(ViewSettings(lookahead=3))


def test_reach_and_pieces_follow_the_networks_windows(fitted: Fitted) -> None:
    model = model_of(fitted)
    plain = replace(model, network=None)
    # pieces must suit both the network's windows and those of shapes
    assert model.entity.shapes is not None
    strides = network_of(fitted).network.stride, model.entity.shapes.every
    assert model.reach.every == math.lcm(*strides)
    assert len(set(strides)) == 2
    assert model.reach.before >= plain.reach.before
    wide = replace(network_of(fitted), network=replace(network_of(fitted).network, window=900))
    assert replace(model, network=wide).reach.after > plain.reach.after + 400


@pytest.mark.parametrize("views", [("state",), ("level", "shape")])
def test_a_network_may_be_added_to_any_views(views: tuple[str, ...]) -> None:
    method = replace(METHOD, settings=ViewSettings(views=views))
    fitted = method.fit([TrainSeries(PLANT.train)], Runtime())
    found = model_of(fitted).assess(PLANT.test)
    assert np.isfinite(found.score).all()
    assert {*views, "network"} <= set(found.traces)
    restored = method.unpack(method.pack(fitted.models), 3, []).pooled
    np.testing.assert_array_equal(restored.assess(PLANT.test).score, found.score)


@pytest.mark.parametrize("size", ["huge", 3, ""])
def test_an_unknown_size_is_refused(size: Any) -> None:
    with pytest.raises(InputError, match="size must be"):
        SubAdjacentHybridDetector(size=size).fit(PLANT.train)


def test_a_detector_with_a_network_is_saved_and_loaded(tmp_path: Path) -> None:
    detector = SubAdjacentHybridDetector(max_training_time=0.01).fit(PLANT.train)
    detector.save(tmp_path / "model")
    loaded = subadjacent.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.decision_function(PLANT.test), detector.decision_function(PLANT.test)
    )


def test_the_same_seed_gives_the_same_scores_and_leaves_the_global_one_alone() -> None:
    before = torch.random.get_rng_state()
    first, again = (METHOD.fit([TrainSeries(PLANT.train)], Runtime(seed=7)) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(first.held_out, again.held_out)


def test_without_a_network_it_is_the_plain_method(fitted: Fitted) -> None:
    plain = ViewsMethod(ViewSettings()).fit([TrainSeries(PLANT.train)], Runtime())
    own = plain.models.pooled
    assert isinstance(own, ViewsModel)
    assert own.network is None
    without = replace(model_of(fitted), network=None, unit=own.unit)
    np.testing.assert_allclose(
        without.assess(PLANT.test).score, own.assess(PLANT.test).score, rtol=1e-6
    )
    assert isinstance(plain.models, PerEntity)


def test_a_model_with_a_network_replays_what_it_reaches(
    fitted: Fitted,
) -> None:
    model = model_of(fitted)
    stream = model.stream()
    assert isinstance(stream, ReplayStream)
    rows = PLANT.test[:120]
    found = joined([stream.push(rows[:50]), stream.push(rows[50:]), stream.finish()])
    np.testing.assert_allclose(found.score, model.assess(rows).score, rtol=1e-3, atol=2e-4)


def test_each_of_many_series_has_a_network_of_its_own() -> None:
    series = list(ENTITIES.values())[1:]
    for one, found in zip(series, METHOD.fit_each(series, Runtime()), strict=True):
        alone = METHOD.fit([one], Runtime())
        assert network_of(found, one.entity).scale.squares.shape == (3, 3)
        np.testing.assert_allclose(found.scores[0], alone.scores[0], rtol=1e-5)
