"""Views of every entity in its own unit, and of all together for entities never seen."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from methods.views.combining import Floats, waves
from subadjacent.data.scaling import fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.methods.method import Fitted, Model
from subadjacent.methods.views.entity import EntityViews, ViewsModel
from subadjacent.methods.views.fit import ViewsFit, fit_views
from subadjacent.methods.views.method import (
    MAX_CHANNELS,
    MIN_CHANNEL_UNIT,
    MIN_ROWS,
    MIN_UNIT,
    EntityFit,
    ViewsMethod,
    _last_segments,
    _warn_of_few_rows,
    in_own_unit,
)
from subadjacent.methods.views.outliers import level_folds, outlier_free
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.smoothing import smoothed
from subadjacent.methods.views.weights import PartWeights
from subadjacent.ridge.band import FAR_CLIP
from subadjacent.runtime import Progress, Runtime, in_turn

FULL = ViewSettings()
# 0, 0.01, …, 1: one row in a hundred is above 0.99, and none is far out
EVEN = np.arange(101) / 100
# of one channel
LEAST = max(MIN_UNIT, MIN_CHANNEL_UNIT)
NO_VIEWS = EntityViews({}, PartWeights(np.zeros(0), np.zeros(0, bool)), {})


def own_unit(rows: list[Floats], settings: ViewSettings) -> EntityFit:
    """Units of rows that views which expect values came to, and no others."""
    values = np.concatenate(rows)[:, None]
    sample = [np.ones(len(segment), dtype=bool) for segment in rows]
    return in_own_unit(ViewsFit(NO_VIEWS, rows, rows, values, sample), settings)


def series(
    rows: int, entity: str | None = None, *, seed: int = 0, size: float = 1.0, level: float = 0.0
) -> TrainSeries:
    return TrainSeries(level + size * waves(rows, seed).astype(np.float64), entity=entity)


def fit(*some: TrainSeries, run: Runtime | None = None) -> Fitted:
    return ViewsMethod(FULL).fit(some, run or Runtime())


def same(one: Model, other: Model) -> bool:
    """Whether two models hold the same."""
    left, right = one.state(), other.state()
    return left.facts == right.facts and all(
        np.array_equal(array, right.arrays[name]) for name, array in left.arrays.items()
    )


# ---- units


@pytest.fixture
def scores_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units by hand: scores that have been averaged already."""
    monkeypatch.setattr("subadjacent.methods.views.method.smoothed", lambda rows, *_: rows)


as_they_are = pytest.mark.usefixtures("scores_as_they_are")


@as_they_are
def test_even_scores_by_hand() -> None:
    for factor in (1.0, 10.0):
        found = own_unit([factor * EVEN], FULL)
        assert found.unit == pytest.approx(0.99 * factor)
        # even from 0 to 1.01 now
        np.testing.assert_allclose(found.scores, EVEN / 0.99)
        np.testing.assert_allclose(found.held_out, EVEN / 0.99)


def test_the_strongest_channel_is_in_units_of_its_own_normal_values_by_hand() -> None:
    # one row in a hundred of a channel is above 0.99, of the other above 9.9; one never departs
    values = np.column_stack([EVEN, 10 * EVEN[::-1], np.zeros(101)])
    everything = [np.ones(101, dtype=bool)]
    found = in_own_unit(ViewsFit(NO_VIEWS, [EVEN], [EVEN], values, everything), FULL)
    assert found.channel_units.tolist() == pytest.approx([0.99, 9.9, MIN_CHANNEL_UNIT])
    np.testing.assert_allclose(found.strongest, np.maximum(EVEN, EVEN[::-1]) / 0.99)
    # outliers set no unit, and values are kept of the sampled rows alone
    rows = np.r_[np.tile(EVEN, 10), np.full(20, 1e4)]
    sample = [np.arange(len(rows)) >= 505]
    kept = in_own_unit(ViewsFit(NO_VIEWS, [rows], [rows], rows[505:, None], sample), FULL)
    assert kept.channel_units.tolist() == pytest.approx([0.99], abs=0.02)
    assert len(kept.strongest) <= 505


def slow_unit(scores: Floats) -> float:
    """The definition read aloud: the score at 99 of 100 of the way up the normal ones."""
    level = level_folds(scores, 5, 60)
    ordered: list[float] = sorted(level[outlier_free(level, 60)].tolist())
    place = 0.99 * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return max(ordered[below] + (place - below) * (ordered[above] - ordered[below]), LEAST)


@as_they_are
@pytest.mark.parametrize("count", [1, 2, 37, 500, 1200])
def test_units_are_the_definition(count: int) -> None:
    scores = np.random.default_rng(count).gamma(3.0, size=count)
    scores[:1] += 1e4
    found, unit = own_unit([scores], FULL), slow_unit(scores)
    assert found.unit == pytest.approx(unit)
    np.testing.assert_allclose(found.scores, level_folds(scores, 5, 60) / unit)
    np.testing.assert_allclose(found.held_out, found.scores[outlier_free(found.scores, 60)])


@as_they_are
@pytest.mark.parametrize("smoothing", [1, 20])
def test_rows_that_share_an_average_with_an_outlier_set_no_unit(smoothing: int) -> None:
    scores = np.tile(EVEN, 20)
    scores[1000] = 500.0
    found = own_unit([scores], ViewSettings(smoothing=smoothing))
    reach = 1 if smoothing == 1 else 60
    assert len(found.held_out) == len(scores) - 2 * reach - 1


# ---- entities


def test_scores_of_training_rows_are_those_of_views_that_had_not_seen_them() -> None:
    one = series(900, level=5.0, size=3.0)
    found = fit(one)
    scaler = fit_scalers([one], FAR_CLIP).pooled
    (views,) = fit_views([[scaler.apply(one.values)]], FULL)
    wanted = in_own_unit(views, FULL)
    np.testing.assert_allclose(
        wanted.scores * wanted.unit, level_folds(smoothed(views.unseen[0], 20, None), 5, 60)
    )
    np.testing.assert_array_equal(found.scores[0], wanted.scores)
    np.testing.assert_array_equal(found.held_out[0], wanted.held_out)
    pooled = found.models.pooled
    assert same(pooled, ViewsModel(FULL, scaler, views.entity, wanted.unit, wanted.channel_units))


def different() -> list[TrainSeries]:
    """Two entities of other sizes and levels, and other rhythms."""
    slow = 40 + 9 * np.sin(np.arange(1200)[:, None] / [40.0, 50.0, 60.0])
    slow += 0.5 * np.random.default_rng(1).normal(size=slow.shape)
    return [series(900, "fast"), TrainSeries(slow, entity="slow")]


def test_every_entity_has_the_model_that_it_would_have_alone() -> None:
    some = different()
    found = fit(*some)
    for one, scores in zip(some, found.scores, strict=True):
        alone = fit(one)
        name = one.entity
        assert same(found.models.of(name), alone.models.of(name))
        np.testing.assert_array_equal(scores, alone.scores[0])
        # and not the one for strangers
        assert not same(found.models.of(name), found.models.pooled)
    assert list(found.models.by_entity) == ["fast", "slow"]
    assert len(found.held_out) <= 2100


def test_strangers_are_judged_on_the_scale_of_all_entities() -> None:
    """The pooled model is learned on the scale that it will be used with."""
    some = different()
    found = fit(*some)
    scaler = fit_scalers(some, FAR_CLIP).pooled
    views: EntityViews = fit_views([[scaler.apply(one.values) for one in some]], FULL)[0].entity
    units = [fit(one).models.of(one.entity) for one in some]
    known = [one for one in units if isinstance(one, ViewsModel)]
    unit = float(np.median([one.unit for one in known]))
    by_channel = np.median([one.channel_units for one in known], axis=0)
    unseen = ViewsModel(FULL, scaler, views, unit, by_channel)
    assert same(found.models.of("stranger"), unseen)
    assert found.models.of(None) is found.models.pooled


def test_a_single_named_series_has_the_pooled_model_too() -> None:
    models = fit(series(300, "only")).models
    assert same(models.of("only"), models.pooled)


@pytest.mark.parametrize(
    ("most", "kept"), [(0, []), (30, [30]), (100, [100]), (130, [30, 100]), (999, [60, 100])]
)
def test_the_last_rows_of_a_series_are_pooled_by_hand(most: int, kept: list[int]) -> None:
    one = TrainSeries(np.arange(160.0)[:, None], starts=(0, 60))
    found = _last_segments(one, most)
    assert [len(rows) for rows in found] == kept
    if found:
        assert found[-1][-1] == 159
        assert np.concatenate(found).ravel().tolist() == list(range(160))[-sum(kept) :]


# ---- how it runs


def test_every_entity_is_watched_as_it_is_done() -> None:
    seen: list[Progress] = []
    fit(series(100, "a"), series(90, "b"), run=Runtime(watch=seen.append))
    # the model for strangers, which comes last, is no entity
    assert seen == [Progress("fitting", done, 2, "entities") for done in (1, 2)]


def test_of_a_single_series_rows_are_counted_as_views_learn() -> None:
    seen: list[Progress] = []
    fit(series(90), run=Runtime(watch=seen.append))
    # six views, one after the other
    assert seen == [Progress("fitting", 15 * done, 90, "rows") for done in range(7)]


def test_more_channels_than_can_be_held_against_each_other_are_refused_at_once() -> None:
    seen: list[Progress] = []
    wide = TrainSeries(np.zeros((20, MAX_CHANNELS + 1)))
    with pytest.raises(InputError, match=r"at most 2,000 channels.*got 2,001: fit groups"):
        fit(wide, run=Runtime(watch=seen.append))
    assert seen == []


def test_entities_may_be_fitted_elsewhere_and_come_out_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("subadjacent.methods.views.method.MANY_ENTITIES", 2)
    spread: list[int] = []

    def elsewhere(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        spread.append(len(items))
        # as another process would have it
        for item in items:
            yield pickle.loads(pickle.dumps(function))(pickle.loads(pickle.dumps(item)))

    one = fit(*different(), run=Runtime(map=in_turn))
    other = fit(*different(), run=Runtime(map=elsewhere))
    # both entities, and what they have in common
    assert spread == [3]
    for left, right in zip(one.models, other.models, strict=True):
        assert same(left, right)
    for left, right in zip(one.held_out, other.held_out, strict=True):
        np.testing.assert_array_equal(left, right)


def test_few_entities_are_fitted_in_this_process() -> None:
    def never(_function: Any, _items: Any) -> Iterator[Any]:
        raise AssertionError

    assert len(fit(*different(), run=Runtime(map=never)).scores) == 2


def test_too_few_rows_are_refused() -> None:
    message = f"X must have at least {MIN_ROWS} rows; the longest series has n_samples=7"
    with pytest.raises(InputError, match=message):
        fit(series(7), series(3))
    assert np.isfinite(fit(series(8)).held_out[0]).all()


def test_rows_that_stay_alike_are_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    noise = np.random.default_rng(3).normal(size=(600, 4))
    slow = np.cumsum(noise, axis=0)
    slower = slow[60:] - slow[:-60]
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        fit(TrainSeries(noise, entity="noise"))
    assert "effectively independent" not in caplog.text
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        fit(
            TrainSeries(noise, entity="noise"),
            TrainSeries(slow, entity="slow"),
            TrainSeries(slower, entity="mean"),
        )
    assert "2 of 3 series have too few: slow has only" in caplog.text
    # the one that says least is named
    assert "effectively independent rows (600 rows, strongly autocorrelated)" in caplog.text
    assert caplog.text.count("effectively independent") == 1
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        fit(TrainSeries(slow))
    assert "the series has only" in caplog.text
    assert "series have too few" not in caplog.text


@pytest.mark.parametrize(("independent", "warned"), [(39.9, True), (40.0, False)])
def test_as_many_independent_rows_as_are_needed_are_enough(
    independent: float, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    one = TrainSeries(np.random.default_rng(0).normal(size=(300, 2)))
    views = ViewsFit(NO_VIEWS, [], [], np.zeros((0, 2)), [], independent)
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        _warn_of_few_rows([one], [EntityFit(views, 1.0, *[np.zeros(0)] * 4)])
    assert ("the series has only 39 effectively" in caplog.text) == warned


@pytest.mark.parametrize(("rows", "warned"), [(149, True), (150, False)])
def test_short_segments_are_warned_of(
    rows: int, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        fit(series(rows))
    assert ("expect false alarms" in caplog.text) == warned
    assert not warned or f"segment has {rows} rows, few for neighbours up to 30" in caplog.text


def test_views_that_know_nothing_of_a_series_are_said_so(caplog: pytest.LogCaptureFixture) -> None:
    short = TrainSeries(np.random.default_rng(0).normal(size=(300, 2)), entity="pump")
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        found = ViewsMethod(ViewSettings(views=("state",))).fit([short], Runtime())
    assert "none of the chosen views can assess pump, of 300 rows and 2 channels" in caplog.text
    assert not found.models.of("pump").assess(short.values).score.any()
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        ViewsMethod(ViewSettings()).fit([short], Runtime())
    assert not caplog.text


def test_series_of_any_shapes_are_each_fitted_as_alone() -> None:
    random = np.random.default_rng(0)
    shapes = [(90, 2), (60, 2), (90, 2), (90, 3)]
    series = [
        TrainSeries(random.normal(size=shape) * (place + 1), entity=f"machine {place}")
        for place, shape in enumerate(shapes)
    ]
    told: list[Progress] = []
    fits = ViewsMethod(FULL).fit_each(series, Runtime(watch=told.append))
    assert [one.done for one in told] == [2, 3, 4]
    for one, fitted in zip(series, fits, strict=True):
        alone = ViewsMethod(FULL).fit([one], Runtime())
        assert list(fitted.models.by_entity) == [one.entity]
        for name in ("scores", "held_out"):
            np.testing.assert_allclose(
                getattr(fitted, name)[0], getattr(alone, name)[0], rtol=1e-6, atol=1e-9
            )
        for entity in (one.entity, "a stranger"):
            np.testing.assert_allclose(
                fitted.models.of(entity).assess(one.values).score,
                alone.models.of(entity).assess(one.values).score,
                rtol=1e-6,
                atol=1e-9,
            )


def test_one_of_many_series_that_is_too_short_is_refused() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(InputError, match="at least 8 rows"):
        ViewsMethod(FULL).fit_each([TrainSeries(rows), TrainSeries(rows[:7])], Runtime())
