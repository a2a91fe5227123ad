"""Darts' form. Darts has no public checks: these use it as Darts' own scorers are used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from darts import TimeSeries, metrics
from darts.ad import ForecastingAnomalyModel, QuantileDetector
from darts.models import LinearRegressionModel
from sklearn.ensemble import IsolationForest

from subadjacent import InputError, MagnitudeDetector, SubAdjacentDetector, TrainSeries
from subadjacent.adapters.darts import DartsScorer
from subadjacent.data.plant import Plant

MINUTES = pd.date_range("2026-01-01", periods=1_000, freq="min")


def series(rows: np.ndarray) -> TimeSeries:
    names = [f"c{number}" for number in range(rows.shape[1])]
    return TimeSeries(times=MINUTES[: len(rows)], values=rows, components=names)


@pytest.fixture(scope="module")
def train(plant: Plant) -> TimeSeries:
    return series(plant.train)


@pytest.fixture(scope="module")
def test(plant: Plant) -> TimeSeries:
    return series(plant.test)


@pytest.fixture(scope="module")
def scorer(train: TimeSeries) -> DartsScorer:
    return DartsScorer().fit(train)


@pytest.fixture(scope="module")
def inside(plant: Plant) -> SubAdjacentDetector:
    """What the scorer has inside."""
    return SubAdjacentDetector().fit(plant.train)


def test_a_series_of_scores_has_the_times_of_the_series(
    scorer: DartsScorer, inside: SubAdjacentDetector, test: TimeSeries, plant: Plant
) -> None:
    found = scorer.score(test)
    assert found.time_index.equals(test.time_index)
    assert list(found.components) == ["score"]
    np.testing.assert_array_equal(found.values()[:, 0], inside.decision_function(plant.test))
    assert scorer.is_univariate
    assert scorer.is_trainable
    assert not scorer.is_probabilistic
    assert str(scorer) == "SubAdjacentDetector"


def test_components_have_scores_of_their_own(
    train: TimeSeries, test: TimeSeries, plant: Plant
) -> None:
    scorer = DartsScorer(MagnitudeDetector(), component_wise=True).fit(train)
    found = scorer.score(test)
    assert list(found.components) == list(test.components)
    inside = MagnitudeDetector().fit(plant.train)
    np.testing.assert_array_equal(found.values(), inside.explain(plant.test))
    assert not scorer.is_univariate


def test_several_series_are_learned_as_one_that_is_broken_between_them(plant: Plant) -> None:
    parts = [series(plant.train[:600]), series(plant.train[600:])]
    scorer = DartsScorer().fit(parts)
    broken = TrainSeries(plant.train, starts=(0, 600))
    expected = SubAdjacentDetector().fit(broken).decision_function(plant.test)
    first, second = scorer.score([series(plant.test), series(plant.test[:300])])
    np.testing.assert_array_equal(first.values()[:, 0], expected)
    assert len(second) == 300


def test_darts_measures_it(scorer: DartsScorer, test: TimeSeries, plant: Plant) -> None:
    truth = TimeSeries(times=test.time_index, values=plant.labels[:, None].astype(float))
    assert scorer.eval_metric(truth, test, metric="AUC_ROC") > 0.8
    # and a detector of Darts finds as many rows as it is asked for
    loud = QuantileDetector(high_quantile=0.98).fit_detect(scorer.score(test))
    assert 10 <= loud.values().sum() <= 30


# Darts' own, with the newest pandas
@pytest.mark.filterwarnings(r"ignore:isinstance\(obj, DateOffset\) is deprecated")
def test_it_scores_what_a_forecast_leaves(train: TimeSeries, test: TimeSeries) -> None:
    forecast = LinearRegressionModel(lags=10).fit(train)
    model = ForecastingAnomalyModel(forecast, scorer=DartsScorer(MagnitudeDetector()))
    found = model.fit(train).score(test)
    assert found.width == 1
    assert len(found) == len(test) - 10
    assert np.isfinite(found.values()).all()


def test_up_and_down_differ_in_what_a_forecast_leaves(train: TimeSeries) -> None:
    none = train * 0
    signed, unsigned = (
        DartsScorer(MagnitudeDetector(), diff_fn=how).fit_from_prediction(train, none)
        for how in (None, metrics.ae)
    )
    up, down = signed.score_from_prediction([train, none], [none, train])
    assert down.values().min() > 2 * up.values().max()
    up, down = unsigned.score_from_prediction([train, none], [none, train])
    np.testing.assert_array_equal(up.values(), down.values())


def test_missing_values_and_numbered_rows_are_taken(plant: Plant) -> None:
    rows = plant.train.copy()
    rows[100:104] = np.nan
    numbered = TimeSeries(times=pd.RangeIndex(len(rows)), values=rows)
    found = DartsScorer(MagnitudeDetector()).fit(numbered).score(numbered)
    assert np.isfinite(found.values()).all()


def test_budgets_of_alarms_know_the_clock(train: TimeSeries) -> None:
    scorer = DartsScorer(MagnitudeDetector(contamination="1/hour")).fit(train)
    assert scorer.detector_.threshold_rule_.interval == 60.0


def test_bad_use_is_refused(train: TimeSeries, test: TimeSeries) -> None:
    with pytest.raises(InputError, match=r"got IsolationForest: subadjacent\.wrap takes those of"):
        DartsScorer(IsolationForest())
    with pytest.raises(ValueError, match="has not been fitted yet"):
        DartsScorer().score(test)
    with pytest.raises(ValueError, match=r"must have `4` component\(s\)"):
        DartsScorer(MagnitudeDetector()).fit(train).score(test[["c0", "c1"]])
    with pytest.raises(ValueError, match="`diff_fn` must be one of Darts 'per time step' metrics"):
        DartsScorer(diff_fn=metrics.mae)


def test_alarms_have_the_times_and_components_of_the_series(
    scorer: DartsScorer, inside: SubAdjacentDetector, test: TimeSeries, plant: Plant
) -> None:
    alarms = scorer.alarms(test, shortest=2)
    expected = inside.alarms(plant.test, shortest=2)
    assert [alarm.first for alarm in alarms] == [alarm.first for alarm in expected] != []
    assert alarms[0].start == test.time_index[alarms[0].first]
    assert alarms[0].causes[0].channel in test.components
    with pytest.raises(ValueError, match="component"):
        scorer.alarms(test["c0"])
    with pytest.raises(InputError, match="series must be one TimeSeries; got list"):
        scorer.alarms([test])
    with pytest.raises(InputError, match="must be fitted before it gives alarms"):
        DartsScorer().alarms(test)


def test_the_detector_inside_refuses_a_time_series_with_the_way_out(
    train: TimeSeries, test: TimeSeries
) -> None:
    inside = DartsScorer(MagnitudeDetector()).fit(train).detector_
    with pytest.raises(InputError, match=r"got TimeSeries: pass X\.to_dataframe\(\)$"):
        inside.predict(test)
