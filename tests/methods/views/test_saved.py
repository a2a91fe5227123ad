"""A views model as arrays and facts, and back."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from methods.views.combining import waves
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.methods.method import Arrays, State
from subadjacent.methods.views.entity import ViewsModel
from subadjacent.methods.views.method import ViewsMethod
from subadjacent.methods.views.saved import restore
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.states import StateView
from subadjacent.runtime import Runtime


@cache
def model(
    lengths: tuple[int, ...] = (2500,),
    lookahead: int | str = "full",
    views: str | tuple[str, ...] = "all",
) -> ViewsModel:
    """Fitted on one series with a gap after each segment."""
    rows = np.concatenate([waves(rows, seed=rows) for rows in lengths]).astype(np.float64)
    starts = tuple(np.cumsum([0, *lengths[:-1]]).tolist())
    series = TrainSeries(rows, starts=starts)
    assert [stop - start for start, stop in series.segments] == list(lengths)
    settings = ViewSettings(lookahead=lookahead, views=views)
    found = ViewsMethod(settings).fit([series], Runtime()).models.pooled
    assert isinstance(found, ViewsModel)
    return found


def state() -> tuple[Arrays, dict[str, Any]]:
    """Of a model, to be tampered with."""
    saved = model().state()
    return dict(saved.arrays), json.loads(json.dumps(saved.facts))


@pytest.mark.parametrize(
    ("lengths", "lookahead"), [((2500,), "full"), ((400, 300), 0), ((45, 70), 30), ((12,), "full")]
)
def test_what_is_saved_is_restored_the_same(lengths: tuple[int, ...], lookahead: int | str) -> None:
    saved = model(lengths, lookahead)
    arrays, facts = saved.state()
    # facts go through JSON
    again = restore(State(arrays, json.loads(json.dumps(facts))), 3, saved.settings)
    for count in (5, 40, 900):
        rows = waves(count, seed=count).astype(np.float64)
        found, wanted = again.assess(rows), saved.assess(rows)
        np.testing.assert_array_equal(found.score, wanted.score)
        np.testing.assert_array_equal(found.by_channel, wanted.by_channel)
        np.testing.assert_array_equal(found.expected, wanted.expected)
        for name, trace in wanted.traces.items():
            np.testing.assert_array_equal(found.traces[name], trace)
    # also how far it reaches, which no setting says
    assert again.reach == saved.reach
    assert again.blur == saved.blur


def test_what_does_not_matter_is_in_every_part_and_restored() -> None:
    settings = ViewSettings(min_deviation=0.3)
    fitted = ViewsMethod(settings).fit([TrainSeries(waves(2500).astype(float))], Runtime())
    pooled = fitted.models.pooled
    assert isinstance(pooled, ViewsModel)
    for one in (pooled, restore(pooled.state(), 3, settings)):
        for view in one.entity.forecasting.values():
            assert view.alone.floor == pytest.approx(0.009)
            assert view.across.floor == pytest.approx(0.09)
            assert view.joint is None or view.joint.floor == pytest.approx(0.009)
        states = one.entity.novelty["state"].view
        assert isinstance(states, StateView)
        assert states.floor == pytest.approx(0.09)


@pytest.mark.parametrize("views", [("rhythm",), ("state",), ("level", "shape"), ("shape", "state")])
def test_a_model_of_some_views_is_restored_the_same(views: tuple[str, ...]) -> None:
    saved = model(views=views)
    arrays, facts = saved.state()
    assert {name.partition(".")[0] for name in arrays if "." in name} == set(views)
    again = restore(State(arrays, json.loads(json.dumps(facts))), 3, saved.settings)
    rows = waves(400, seed=1).astype(np.float64)
    np.testing.assert_array_equal(again.assess(rows).score, saved.assess(rows).score)
    assert again.reach == saved.reach


def test_entities_with_and_without_states_and_shapes_are_saved_together() -> None:
    # too few rows for either, for states but not for shapes of both lengths, and enough
    series = [
        TrainSeries(waves(rows, seed=rows).astype(np.float64), entity=name)
        for name, rows in (("short", 90), ("middle", 600), ("long", 3000))
    ]
    method = ViewsMethod(ViewSettings())
    models = method.fit(series, Runtime()).models
    found = [models.of(name) for name in ("short", "middle", "long")]
    lengths = [
        [length.grain for length in one.entity.shapes.lengths] if one.entity.shapes else []
        for one in found
        if isinstance(one, ViewsModel)
    ]
    assert lengths == [[], [1], [2, 8]]
    arrays, facts = method.pack(models)
    again = method.unpack(
        State(arrays, json.loads(json.dumps(facts))), 3, ["short", "middle", "long"]
    )
    rows = waves(400, seed=1).astype(np.float64)
    for one, other in zip(models, again, strict=True):
        np.testing.assert_array_equal(one.assess(rows).score, other.assess(rows).score)


def test_facts_are_the_unit_the_weights_and_where_neighbours_stand_by_hand() -> None:
    _, facts = state()
    assert set(facts) == {"unit", "neighbours", "novelty", "grains"}
    assert set(facts["novelty"]) == {"state", "shape"}
    # windows of a fifth of a cycle of 157 rows and of most of it, in 16 points
    assert facts["grains"] == [2, 8]
    both, before, after = [5, 30, 30, 1], [5, 30, 0, 1], [5, 0, 30, 1]
    assert facts["neighbours"] == {
        "rhythm": [both, before, after],
        "local rhythm": [both, before, after],
        "slow rhythm": [[20, 250, 250, 16], [20, 250, 0, 16], [20, 0, 250, 16]],
    }


def refused(message: str, **changed: Any) -> None:
    """Restore a model of which some arrays or facts were changed."""
    arrays, facts = state()
    for name, value in changed.items():
        (arrays if name in arrays else facts)[name] = value
    with pytest.raises(InputError, match=message):
        restore(State(arrays, facts), 3, ViewSettings())


ONE_SHAPE = (
    "center", "deviation", "typical", "comparable", "rhythm.joint", "level.alone", "rhythm.across",
    "rhythm.gains", "local rhythm.0.weights", "slow rhythm.companions", "state.references",
    "shape.1.references", "shape.1.usual",
)  # fmt: skip


def test_arrays_that_do_not_fit_are_refused() -> None:
    arrays, _ = state()
    for name in ONE_SHAPE:
        for bad in (arrays[name][..., :-1], arrays[name] * np.nan, arrays[name][None]):
            refused(f"{name} must (be finite|have shape)", **{name: bad})
    for name in ("state.usual", "shape.0.usual", "shape.0.channels"):
        view, whole = name.rpartition(".")[0], arrays[name]
        for bad in (whole[:-1], whole * np.nan, -1 - whole, whole[None]):
            message = rf"{view}\.\w+ must (have shape|be finite and at least)"
            refused(message, **{name: bad})
    for name in ("state.axes", "state.usual", "shape.0.channels", "shape.1.references"):
        whole = arrays[name]
        for bad in (whole[:, :0] if whole.ndim > 1 else whole[:0], whole.ravel()[0]):
            refused(f"{name} must not be empty; got shape", **{name: np.asarray(bad)})
    with pytest.raises(InputError, match="center must have shape"):
        restore(State(*state()), 4, ViewSettings())


def test_values_that_make_no_sense_are_refused() -> None:
    arrays, facts = state()
    for name, message in (
        ("typical", "typical, the median surprise of each view, must not be negative; got -"),
        ("deviation", r"deviation must be above 0; got \[-"),
        ("rhythm.gains", "rhythm.gains, the scale factors of residuals, must be above 0; got -"),
    ):
        refused(message, **{name: -arrays[name]})
    for channels in ([0, 1, 1], [0, 1, 3]):
        message = "shape.1.channels must be different numbers below 3"
        refused(message, **{"shape.1.channels": np.array(channels)})
    for grains, message in (
        ([2, 0], "grains must be a whole number of at least 1; got 0"),
        ([2.5], "grains must be a whole number of at least 1; got 2.5"),
        ([], "grains must not be empty for a model with a shape view"),
    ):
        refused(message, grains=grains)
    refused("novelty.state must be a finite number of at least 0; got -1", novelty={"state": -1})
    refused("novelty.shape must be a finite number", novelty={"shape": "much"})
    for unit in (0.0, -1.0, float("nan"), "1", None):
        refused("unit must be a finite number above 0", unit=unit)
    for view, layout, message in (
        ("rhythm", [5, 29, 30, 1], "rhythm.0.weights must have shape"),
        ("rhythm", [0, 30, 30, 1], "near must be a whole number of at least 1"),
        ("local rhythm", [5, 130, 130, 5], "step must be 1 for a local model"),
    ):
        models = [layout, *facts["neighbours"][view][1:]]
        refused(message, neighbours={**facts["neighbours"], view: models})
