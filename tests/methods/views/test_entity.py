"""The model of one entity: from rows to evidence, in one pass, within its reach."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from methods.views.combining import Rows, combined, part_surprises, waves, without_factors
from subadjacent.data.series import TrainSeries
from subadjacent.decision.view_facts import FORECASTING, NOVELTIES, VIEWS
from subadjacent.methods.views.entity import ViewsModel
from subadjacent.methods.views.forecasts import Forecasts
from subadjacent.methods.views.method import ViewsMethod
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.smoothing import smoothed, unusual
from subadjacent.methods.views.view import PARTS
from subadjacent.runtime import Runtime


@cache
def model(lookahead: int | str = "full", views: str | tuple[str, ...] = "all") -> ViewsModel:
    """Fitted on waves in units of their own: 100 + 20 times."""
    series = TrainSeries(100 + 20 * waves(3000).astype(np.float64))
    settings = ViewSettings(lookahead=lookahead, views=views)
    found = ViewsMethod(settings).fit([series], Runtime()).models.pooled
    assert isinstance(found, ViewsModel)
    return found


def given(rows: int, seed: int) -> Rows:
    return 100 + 20 * waves(rows, seed).astype(np.float64)


# ---- the parts together


def test_a_short_segment_is_judged_by_its_level_and_its_states_alone() -> None:
    whole = without_factors(model().entity)
    entity, rows = replace(whole, novelty={}), waves(20, seed=3)
    rows[10, 1] = 9.0
    parts = part_surprises(entity, rows)
    alone, across = (parts["level", form].surprise for form in ("level", "other channels"))
    wanted = (alone + 0.5 * across) / 1.5
    np.testing.assert_allclose(combined(entity, rows).values, wanted, rtol=1e-5)
    expected = Forecasts(entity.forecasting, entity.weights, 3).residuals(
        rows, 0, len(rows), expected=True
    )
    np.testing.assert_array_equal(expected.expected, rows)
    # too short for a window: a shape is neither here nor there
    by_part = combined(whole, rows).by_part
    assert by_part[-2].any()
    assert not by_part[-1].any()


# ---- evidence


@pytest.mark.parametrize("lookahead", ["full", 0, 30])
def test_evidence_is_the_definition(lookahead: int | str) -> None:
    fitted, rows = model(lookahead), given(700, seed=2)
    rows[300:310, 1] += 40
    found, ahead = fitted.assess(rows), fitted.settings.ahead
    scaled = fitted.scaler.apply(rows)
    whole = combined(fitted.entity, scaled, ahead.residuals)
    np.testing.assert_array_equal(found.score, smoothed(whole.rows, 20, ahead.score) / fitted.unit)
    # explanations are averaged over as many rows as the score
    np.testing.assert_array_equal(
        found.by_channel, unusual(whole.values.astype(np.float32), 20, ahead.score, 0, 700)
    )
    assert not np.allclose(found.by_channel, 100 * np.expm1(whole.values), rtol=0.1)
    assert found.by_channel.shape == rows.shape
    assert found.by_channel[305].argmax() == 1


def test_expected_values_are_those_of_the_local_rhythm_in_the_data_s_own_units() -> None:
    fitted, rows = model(), given(700, seed=2)
    rows[300, 0] += 60
    found = fitted.assess(rows).expected
    assert found is not None
    ridge = fitted.entity.forecasting["local rhythm"].ridge
    assert ridge is not None
    scaled = fitted.scaler.apply(rows)
    # in the middle the first model judges, without any gain
    residuals = ridge.models[0].residuals(scaled, 30, 670)
    wanted = (scaled[30:670] - residuals) * fitted.scaler.deviation + fitted.scaler.center
    np.testing.assert_allclose(found[30:670], wanted, rtol=1e-4)
    # the row itself has no part in what is expected of it, here and at the ends
    assert abs(found[300, 0] - given(700, seed=2)[300, 0]) < 20
    for row in (3, -2):
        moved = given(700, seed=2)
        moved[row, 1] += 200
        again = fitted.assess(moved).expected
        assert again is not None
        assert abs(again[row, 1] - given(700, seed=2)[row, 1]) < 20


def test_traces_add_up_to_the_score_before_it_is_averaged() -> None:
    fitted, rows = model(), given(900, seed=3)
    evidence = fitted.assess(rows)
    assert list(evidence.traces) == [
        "level",
        "rhythm",
        "local rhythm",
        "slow rhythm",
        "state",
        "shape",
        "other channels",
        "all channels",
    ]
    total = np.sum(list(evidence.traces.values()), axis=0)
    whole = combined(fitted.entity, fitted.scaler.apply(rows))
    np.testing.assert_allclose(total, whole.rows / fitted.unit)
    across = [part.form == "other channels" for part in PARTS] + 2 * [False]
    np.testing.assert_allclose(
        evidence.traces["other channels"], whole.by_part[across].sum(axis=0) / fitted.unit
    )


# ---- views that take part


@pytest.mark.parametrize("name", VIEWS)
def test_any_view_may_be_alone(name: str) -> None:
    lookahead = "full"
    fitted, rows = model(lookahead, (name,)), given(700, seed=2)
    rows[300:340] = rows[300:340, [1, 2, 0]]
    found = fitted.assess(rows)
    assert [*fitted.entity.forecasting, *fitted.entity.novelty] == [name]
    assert set(found.traces) <= {name, "other channels", "all channels"}
    assert name in found.traces
    assert np.isfinite(found.score).all()
    assert found.score[300:340].max() > np.median(found.score)
    # only a rhythm leads to expect a value
    assert (found.expected is not None) == ("rhythm" in name)
    # and the others are not there: it says the same as it does among all
    among_all = model(lookahead).assess(rows).traces[name]
    if name in NOVELTIES:
        ratio = model(lookahead).entity.novelty[name].weight * fitted.unit / model(lookahead).unit
        np.testing.assert_allclose(among_all, ratio * found.traces[name], rtol=1e-6)


@pytest.mark.parametrize(
    ("views", "expecting"),
    [(("rhythm", "slow rhythm"), "rhythm"), (("slow rhythm", "state"), "slow rhythm")],
)
def test_without_the_local_rhythm_another_one_says_what_to_expect(
    views: tuple[str, ...], expecting: str
) -> None:
    fitted, rows = model("full", views), given(900, seed=2)
    scaled = fitted.scaler.apply(rows)
    ridge = fitted.entity.forecasting[expecting].ridge
    assert ridge is not None
    wanted = fitted.scaler.invert(ridge.expected(scaled, ridge.residuals(scaled)))
    np.testing.assert_array_equal(fitted.assess(rows).expected, wanted)


# ---- how far a score looks


@pytest.mark.parametrize(
    ("lookahead", "last"),
    # rows that change, up to the last one within reach; far ahead one alone is less than rounding
    [(3, 1), (30, 1), (30, 29), ("full", 60)],
)
def test_a_score_looks_as_far_ahead_as_its_reach_says(lookahead: int | str, last: int) -> None:
    fitted, rows, row = model(lookahead), given(2200, seed=5), 1000
    ahead = fitted.reach.after
    assert ahead
    other = rows.copy()
    other[row + ahead + 1 - last : row + ahead + 1] += 500
    before, after = (fitted.assess(one).score[row] for one in (rows, other))
    assert after != pytest.approx(before, rel=1e-5)


@pytest.mark.parametrize(
    ("lookahead", "after"),
    [
        (0, 0),
        # two rows for each step are too few for neighbours five rows away: averages have all six
        (6, 3 + 3),
        # thirds of 10, as far as the neighbours and both averages
        (30, 30),
        # half of 40 and of 60 rows, less the row itself, and 50 of the slow rhythm's 300; half of a
        # window of 128 rows is less than the first two
        (150, 50 + 19 + 29),
        ("full", 300 + 19 + 29),
    ],
)
def test_reach_is_the_sum_over_the_steps_by_hand(lookahead: int | str, after: int) -> None:
    reach = model(lookahead).reach
    assert reach.after == after
    # as far back as neighbours stand, and both averages
    assert reach.before == 300 + 40 + 60
    # windows of 16 times 2 and 16 times 8 rows begin at multiples of 2 and 8
    assert reach.every == 8


def test_reach_without_windows_is_that_of_neighbours_and_averages_by_hand() -> None:
    assert model(150, FORECASTING).reach == (300 + 40 + 60, 50 + 19 + 29, 1)
    assert model("full", FORECASTING).reach == (300 + 40 + 60, 300 + 19 + 29, 1)


@pytest.mark.parametrize("lookahead", [0, 2, 30, 150, "full"])
def test_nothing_beyond_the_reach_changes_a_row(lookahead: int | str) -> None:
    fitted = model(lookahead)
    reach = fitted.reach
    assert reach.after is not None
    assert lookahead == "full" or reach.after <= lookahead
    row = reach.before + 50
    rows = given(row + reach.after + 50, seed=5)
    other = rows.copy()
    other[row + reach.after + 1 :] += 60
    other[: row - reach.before] -= 60
    before, after = fitted.assess(rows), fitted.assess(other)
    assert not np.allclose(after.score[row - 100], before.score[row - 100], rtol=1e-3)
    np.testing.assert_allclose(after.score[row], before.score[row], rtol=1e-4)
    near = {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(after.by_channel[row], before.by_channel[row], **near)
    assert before.expected is not None
    assert after.expected is not None
    np.testing.assert_allclose(after.expected[row], before.expected[row], rtol=1e-4)
    for name, trace in before.traces.items():
        np.testing.assert_allclose(after.traces[name][row], trace[row], **near)
