"""All views of an entity, and what they make of rows they had not seen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from methods.views.combining import CAUSAL, FORECAST, Floats, Rows, combined, part_surprises, waves
from reproduce.cases.normal import normal_rows
from subadjacent.decision.view_facts import FORECASTING
from subadjacent.methods.views.fit import (
    ENOUGH,
    PIECE,
    SLOW_NEAR,
    SLOW_STEP,
    ViewsFit,
    _pieces,
    fit_views,
)
from subadjacent.methods.views.residual_scale_fit import (
    AssessedRows,
    ScaleFit,
    fit_channel_scale,
    fit_joint_scale,
)
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.view import PARTS
from subadjacent.ridge.axes import FoldSums, principal_axes
from subadjacent.ridge.companions import fit_companions
from subadjacent.ridge.neighbours import Neighbours
from subadjacent.ridge.sides import SegmentRidge, fit_sides

FULL = ViewSettings()
EVERY_VIEW_CAUSAL = ViewSettings(lookahead=0)


def fit(parts: list[Rows], settings: ViewSettings = FULL) -> ViewsFit:
    return fit_views([parts], settings)[0]


def slow_ridge(found: ViewsFit) -> SegmentRidge:
    ridge = found.entity.forecasting["slow rhythm"].ridge
    assert ridge is not None
    return ridge


@pytest.mark.parametrize(
    ("lengths", "far"),
    # a tenth of the longest segment, and 400 at most; below 36 a step does not fit
    [((5000,), 400), ((700, 650), 70), ((360,), 36), ((359,), None), ((40,), None)],
)
def test_the_slow_rhythm_reaches_as_far_as_there_are_rows_for(
    lengths: tuple[int, ...], far: int | None
) -> None:
    ridge = slow_ridge(fit([waves(rows, seed=rows) for rows in lengths]))
    if far is None:
        assert ridge.models == ()
        assert not ridge.assessed(5000).any()
    else:
        assert ridge.models[0].neighbours == Neighbours(SLOW_NEAR, far, far, SLOW_STEP)
        assert ridge.reach == (far, far)


def test_the_slow_rhythm_reaches_over_a_cycle_that_is_long() -> None:
    time = np.arange(9000)[:, None]
    noise = np.random.default_rng(8).normal(size=(9000, 1))
    slow = (np.sin(2 * np.pi * time / 600) + 0.2 * noise).astype(np.float32)
    neighbours = slow_ridge(fit([slow])).models[0].neighbours
    assert 690 <= neighbours.behind <= 750
    # as many rows as before, further between
    assert neighbours.count <= 2 * 26


@pytest.mark.parametrize("lookahead", ["full", 0, 60])
def test_layouts_are_those_of_the_settings(lookahead: int | str) -> None:
    settings = ViewSettings(near=3, far=12, lookahead=lookahead)
    found = fit([waves(2000)], settings)
    ahead = {"full": 12, 0: 0, 60: 12}[lookahead]
    for name in ("rhythm", "local rhythm"):
        ridge = found.entity.forecasting[name].ridge
        assert ridge is not None
        assert ridge.models[0].neighbours == Neighbours(3, 12, ahead)
        assert {model.local for model in ridge.models} == {name == "local rhythm"}
        # a model of rows to come alone is for those that may look as far ahead as behind
        assert any(not model.neighbours.behind for model in ridge.models) == (lookahead == "full")


@pytest.mark.parametrize("settings", [FORECAST, CAUSAL], ids=["full", "causal"])
@pytest.mark.parametrize("lengths", [(900,), (500, 20, 45)])
def test_surprise_of_training_rows_is_the_mean_over_what_views_had_not_seen(
    lengths: tuple[int, ...], settings: ViewSettings
) -> None:
    """The definition read aloud, view by view; what is large on the median row gets less."""
    parts = [waves(rows, seed=rows) for rows in lengths]
    axes, looks_ahead = principal_axes(parts), settings is FORECAST
    lookahead = settings.ahead.residuals
    every = [np.ones(rows, dtype=bool) for rows in lengths]
    views: list[tuple[Any, list[NDArray[np.bool_]]]] = [(FoldSums(parts).centred(parts), every)]
    slow = max(lengths) // 10
    for local, near, far, step in ((False, 5, 30, 1), (True, 5, 30, 1), (False, 20, slow, 16)):
        layout = Neighbours(near, far, far if looks_ahead else 0, step)
        sides = fit_sides(parts, layout, axes, local=local, looks_ahead=looks_ahead)
        views.append((sides.unseen, [sides.ridge.assessed(rows) for rows in lengths]))
    forms: list[tuple[ScaleFit[Any], list[NDArray[np.bool_]]]] = []
    for number, (residuals, assessed) in enumerate(views):
        left = fit_companions(residuals, assessed).unseen
        there = AssessedRows(assessed)
        forms.append((fit_channel_scale(residuals, there, lookahead), assessed))
        # a tenth of a deviation off what the other channels say does not matter
        forms.append((fit_channel_scale(left, there, lookahead, 0.1**2), assessed))
        if FORECASTING[number] == "rhythm":
            forms.append((fit_joint_scale(residuals, there, lookahead), assessed))
    surprise = [
        [scale.surprise(number, 0, rows) for number, rows in enumerate(lengths)]
        for scale, _ in forms
    ]
    typical = []
    for part, own, (_, assessed) in zip(PARTS, surprise, forms, strict=True):
        each = [row.mean() for one, ok in zip(own, assessed, strict=True) for row in one[ok]]
        typical.append(part.softness * np.median(each) if each else 0.0)
    # those that judge only some rows say nothing of the others
    whole = [all(ok.all() for ok in assessed) for _, assessed in forms]
    common = np.median([one for one, ok in zip(typical, whole, strict=True) if one > 1e-6 and ok])
    factors = [min(1.0, 2 * common / one) if one > 0 else 1.0 for one in typical]
    found = fit(parts, settings)
    np.testing.assert_allclose(found.entity.weights.typical, typical, rtol=1e-4)
    assert found.entity.weights.comparable.tolist() == whole
    for number, rows in enumerate(lengths):
        total, weights = np.zeros(rows), np.zeros(rows)
        for part, factor, own, (_, assessed) in zip(PARTS, factors, surprise, forms, strict=True):
            there = assessed[number]
            total[there] += factor * part.weight * own[number][there].mean(axis=1)
            weights[there] += part.weight
        np.testing.assert_allclose(found.unseen[number], total / weights, rtol=1e-4)


@pytest.mark.parametrize("settings", [FULL, EVERY_VIEW_CAUSAL], ids=["full", "causal"])
def test_threads_change_nothing(settings: ViewSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, fresh = waves(900), waves(300, seed=1)
    found = []
    for many in (0, 10**9):
        for place in ("fit", "forecasts"):
            monkeypatch.setattr(f"subadjacent.methods.views.{place}.MANY", many)
        views = fit([rows], settings)
        found.append((views.unseen[0], combined(views.entity, fresh, settings.ahead.residuals)))
    (unseen, one), (again, other) = found
    np.testing.assert_array_equal(unseen, again)
    for values, wanted in zip(one, other, strict=True):
        np.testing.assert_array_equal(values, wanted)


@pytest.mark.parametrize("lengths", [(1, 100), (100, 1), (700,), (3, 1200)])
def test_rows_are_picked_evenly_however_short_segments_are(lengths: tuple[int, ...]) -> None:
    every = [*lengths] * (4 * ENOUGH // sum(lengths))
    pieces = list(_pieces(every))
    sizes = [last - first for _, first, last in pieces]
    assert all(0 <= first < last <= every[number] for number, first, last in pieces)
    assert ENOUGH / 2 <= sum(sizes) <= 2 * ENOUGH
    # of all lengths, as often as they come
    longest = min(max(lengths), PIECE)
    assert sum(size == longest for size in sizes) * longest >= ENOUGH / 4


def test_some_of_many_rows_tell_how_large_parts_are() -> None:
    rows = waves(3 * ENOUGH + 7)
    found = fit([rows[: ENOUGH + 3], rows[ENOUGH + 3 :]], FORECAST)
    typical = [
        one.part.softness * np.median(one.surprise.mean(axis=1)[one.assessed])
        for one in part_surprises(found.entity, rows).values()
    ]
    np.testing.assert_allclose(found.entity.weights.typical, typical, rtol=0.1)
    # and all of them were assessed, as rows to come will be
    assert [len(part) for part in found.unseen] == [ENOUGH + 3, 2 * ENOUGH + 4]
    fresh = combined(found.entity, waves(3 * PIECE, seed=1)).rows
    assert np.median(np.concatenate(found.unseen)) == pytest.approx(np.median(fresh), rel=0.1)


@pytest.mark.parametrize("lengths", [(12,), (8, 1), (45, 70), (31,)])
def test_few_rows_are_enough(lengths: tuple[int, ...]) -> None:
    found = fit([waves(rows, seed=rows) for rows in lengths])
    assert [len(part) for part in found.unseen] == list(lengths)
    values: list[Floats] = [*found.unseen, combined(found.entity, waves(100)).rows]
    assert all(np.isfinite(part).all() for part in values)


def test_independent_rows_are_told_by_what_the_rhythm_leaves() -> None:
    # waves are expected, so that what is left of them is noise; what moves slowly is left over
    rows = waves(2000)
    assert fit([rows]).independent > 500
    slow = normal_rows("AR 0.95", 400, 40)
    slow = ((slow - slow.mean(axis=0)) / slow.std(axis=0)).astype(np.float32)
    assert fit([slow]).independent < 40
    # nothing is known of them without a rhythm
    assert fit([slow], ViewSettings(views=("level",))).independent == math.inf
