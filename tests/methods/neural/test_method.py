"""Training a network: what is held out, what is usual, what is saved and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from subadjacent.data.plant import Plant
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.methods.method import State
from subadjacent.methods.neural.model import NeuralModel
from subadjacent.methods.neural.transformers import (
    SubAdjacentMethod,
)
from subadjacent.rivals.anomaly_transformer import AnomalyTransformerMethod
from subadjacent.runtime import Runtime

SMALL: dict[str, Any] = {"size": "tiny", "window": 20, "epochs": 1, "stride": 4}
CPU = Runtime(device="cpu")
METHODS = [SubAdjacentMethod, AnomalyTransformerMethod]


def model_of(method: Any, *series: TrainSeries, run: Runtime = CPU) -> NeuralModel:
    model = method.fit(series, run).models.pooled
    assert isinstance(model, NeuralModel)
    return model


@pytest.mark.parametrize("kind", METHODS)
def test_training_scores_are_those_of_assessment(kind: Any, plant: Plant) -> None:
    method = kind(**SMALL, dynamic="trailing", memory=40, smoothing=3)
    fitted = method.fit([TrainSeries(plant.train)], CPU)
    scores = fitted.models.pooled.assess(plant.train).score
    np.testing.assert_allclose(fitted.scores[0], scores, rtol=1e-4, atol=1e-6)
    # a fifth is held out, at the end
    (held_out,) = fitted.held_out
    np.testing.assert_array_equal(held_out, fitted.scores[0][800:])


def test_what_is_usual_is_that_of_held_out_rows(plant: Plant) -> None:
    model = model_of(
        SubAdjacentMethod(**SMALL, temperature=5.0, memory=50), TrainSeries(plant.train)
    )
    scores = model.assess(plant.train).traces["score"][800:]
    assert model.calibration.score == pytest.approx(scores.mean(), rel=1e-4)
    spaced = np.linspace(0, 199, 50).round().astype(int)
    np.testing.assert_allclose(model.calibration.warmup, scores[spaced], rtol=1e-4)


def test_usual_errors_are_the_channels_mean_squares_on_held_out_windows(plant: Plant) -> None:
    model = model_of(SubAdjacentMethod(**SMALL), TrainSeries(plant.train))
    scaled = model.scaler.apply(plant.train)
    windows = torch.from_numpy(np.stack([scaled[at : at + 20] for at in range(800, 981, 10)]))
    with torch.no_grad():
        errors = (model.network(windows).values - windows).square().mean(dim=(0, 1))
    np.testing.assert_allclose(model.calibration.errors, errors, rtol=1e-4)


def test_entities_share_the_network_and_have_scales_of_their_own(plant: Plant) -> None:
    method = SubAdjacentMethod(**SMALL)
    series = [
        TrainSeries(plant.train, entity="a"),
        TrainSeries(100 * plant.train + 7, entity="b"),
    ]
    models = method.fit(series, CPU).models
    one, other = models.of("a"), models.of("b")
    assert isinstance(one, NeuralModel)
    assert isinstance(other, NeuralModel)
    assert one.network is other.network
    np.testing.assert_allclose(other.scaler.deviation, 100 * one.scaler.deviation)
    near = {"rtol": 1e-3, "atol": 1e-4}
    rows = plant.test[:100]
    np.testing.assert_allclose(one.assess(rows).score, other.assess(100 * rows + 7).score, **near)
    # an entity never seen is on the scale of all
    stranger = models.of("c")
    assert not np.allclose(stranger.assess(rows).score, one.assess(rows).score)


@pytest.mark.parametrize("kind", METHODS)
def test_a_packed_fleet_comes_back_with_one_network(kind: Any, plant: Plant) -> None:
    method = kind(**SMALL)
    series = [TrainSeries(plant.train * unit, entity=f"{unit}") for unit in (1, 2, 5)]
    models = method.fit(series, CPU).models
    state = method.pack(models)
    weights = [name for name in state.arrays if name.startswith("network.")]
    assert len(weights) == len(models.pooled.network.state_dict())
    again = method.unpack(state, 4, ["1", "2", "5"])
    for entity in ("1", "5", None):
        was, now = models.of(entity), again.of(entity)
        np.testing.assert_array_equal(was.assess(plant.test).score, now.assess(plant.test).score)
        assert now.history == was.history
    assert again.of("1").network is again.of("5").network


def _weights(arrays: dict[str, Any], _facts: dict[str, Any]) -> None:
    name = next(name for name in arrays if name.startswith("network."))
    arrays[name] = arrays[name][:-1]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda arrays, _: arrays.pop("warmup"), "warmup"),
        (lambda arrays, _: arrays.update(center=np.zeros(3)), r"center must have shape \(4,\)"),
        (
            lambda arrays, _: arrays.update(usual_errors=np.full(4, -1.0)),
            "usual_errors must be finite and at least 0",
        ),
        (lambda arrays, _: arrays.update(deviation=np.zeros(4)), "deviation must be above 0"),
        (lambda arrays, _: arrays.update(warmup=np.array([np.nan])), "warmup must be finite"),
        (lambda arrays, _: arrays.update(warmup=np.empty(0)), r"warmup must have shape \(1,\)"),
        (
            lambda arrays, _: arrays.update({"entities.center": np.zeros((2, 4))}),
            r"entities.center must have shape \(1, 4\); got \(2, 4\)",
        ),
        (lambda _, facts: facts.update(window=1), "window must be a whole number of at least 2"),
        (lambda _, facts: facts.update(window=3), "in a window of 3 the largest distance is 1"),
        (lambda _, facts: facts.update(usual_score="1"), "usual_score must be"),
        (lambda _, facts: facts.update(clip=0), "clip must be"),
        (lambda _, facts: facts["network"].update(channels=5), "must name the 5 that the network"),
        (lambda _, facts: facts["network"].update(attention="flash"), "attention must be one of"),
        (_weights, "must have shape"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(plant: Plant, spoil: Any, message: str) -> None:
    method = SubAdjacentMethod(**SMALL | {"epochs": 0})
    models = method.fit([TrainSeries(plant.train, entity="a")], CPU).models
    arrays, facts = method.pack(models)
    spoil(arrays, facts)
    with pytest.raises((InputError, KeyError, RuntimeError), match=message):
        method.unpack(State(arrays, facts), 4, ["a"])


@pytest.mark.parametrize(
    ("kind", "setting", "message"),
    [
        (SubAdjacentMethod, {"window": 1}, "window must be a whole number of at least 2"),
        (SubAdjacentMethod, {"near": -1}, "near must be a whole number of at least 0"),
        (SubAdjacentMethod, {"near": "close"}, "near must be a whole number"),
        (SubAdjacentMethod, {"size": "large"}, "size must be one of tiny, small, paper"),
        (SubAdjacentMethod, {"attention": "flash"}, "attention must be one of softmax"),
        (SubAdjacentMethod, {"attention_weight": -1}, "attention_weight must be a finite"),
        (AnomalyTransformerMethod, {"attention": "relu"}, "one of vanilla, linear; got 'relu'"),
        (AnomalyTransformerMethod, {"attention_weight": -1}, "attention_weight must be a finite"),
        (SubAdjacentMethod, {"epochs": -1}, "epochs must be a whole number of at least 0"),
        (SubAdjacentMethod, {"patience": 0}, "patience must be a whole number of at least 1"),
        (SubAdjacentMethod, {"batch_size": 0}, "batch_size must be a whole number of at least 1"),
        (SubAdjacentMethod, {"batch_size": "all"}, "batch_size must be a whole number"),
        (SubAdjacentMethod, {"learning_rate": 0}, "learning_rate must be a finite number above 0"),
        (SubAdjacentMethod, {"learning_rate": "x"}, "learning_rate must be a number or 'auto'"),
        (SubAdjacentMethod, {"decay": 0}, "decay must be a finite number above 0"),
        (SubAdjacentMethod, {"stride": 0}, "stride must be a whole number of at least 1"),
        (SubAdjacentMethod, {"max_training_time": "soon"}, "max_training_time must be"),
        (SubAdjacentMethod, {"temperature": -1}, "temperature must be a finite number"),
        (SubAdjacentMethod, {"block": 0}, "block must be a whole number of at least 1"),
        (SubAdjacentMethod, {"scoring_stride": 0}, "scoring_stride must be a whole number"),
        (SubAdjacentMethod, {"smoothing": 0}, "smoothing must be a whole number of at least 1"),
        (SubAdjacentMethod, {"dynamic": "static"}, "dynamic must be one of"),
        (SubAdjacentMethod, {"memory": 1}, "memory must be a whole number of at least 2"),
        (SubAdjacentMethod, {"clip": 0}, "clip must be a finite number above 0"),
        (SubAdjacentMethod, {"checkpoint": 3}, "checkpoint must be a path or None; got 3"),
    ],
    ids=str,
)
def test_a_bad_setting_is_refused_when_the_method_is_built(
    kind: Any, setting: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        kind(**setting)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"near": 11}, "band must hold a point: in a window of 20 the largest distance is 10"),
        ({"scoring_stride": 21}, "scoring_stride must be at most the window"),
        ({"validation_fraction": 1.0}, "validation_fraction must be below 1"),
        ({"window": 600}, "fit needs a series of at least 2 windows"),
    ],
    ids=str,
)
def test_settings_that_do_not_fit_the_rows_are_refused(
    settings: dict[str, Any], message: str, plant: Plant
) -> None:
    with pytest.raises(InputError, match=message):
        SubAdjacentMethod(**SMALL | settings).fit([TrainSeries(plant.train)], CPU)


def test_segments_too_short_for_a_window_are_refused(plant: Plant) -> None:
    broken = TrainSeries(plant.train, starts=tuple(range(0, 1000, 10)))
    with pytest.raises(InputError, match="unbroken segments of at least window=20 rows to learn"):
        SubAdjacentMethod(**SMALL).fit([broken], CPU)
