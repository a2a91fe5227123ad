"""The interface of every detector, shown on the default."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from subadjacent import (
    AlarmBudget,
    Fixed,
    InputError,
    Quantile,
    SubAdjacentDetector,
    TestSeries,
    TrainSeries,
)
from subadjacent.data.plant import Plant
from subadjacent.runtime import Progress

COLUMNS = ["a", "b", "c", "d"]


def fit(rows: Any, **parameters: Any) -> SubAdjacentDetector:
    return SubAdjacentDetector(**parameters).fit(rows)


@pytest.fixture(scope="module")
def fleet(plant: Plant) -> SubAdjacentDetector:
    """Two entities, known by name."""
    return fit({"a": plant.train, "b": plant.train})


# ---- scores and labels


def test_a_row_at_the_threshold_is_not_marked(plant: Plant) -> None:
    # nothing is followed, and no row is assessed by others
    detector = fit(plant.train, adapt_after=None, lookahead=0)
    detector.threshold_ = float(detector.decision_function(plant.test)[500])
    found = detector.assess(plant.test)
    assert not found.decisions[0].rows.is_high[500]
    assert found.normalized_scores[500] == pytest.approx(1)


def test_a_severity_is_one_at_the_threshold_and_zero_at_a_typical_row(plant: Plant) -> None:
    detector = fit(plant.train, adapt_after=None)
    # a threshold by hand: scores alone count
    detector.threshold_ *= 1.0 + 1e-9
    found = detector.assess(plant.test)
    severity, scores, threshold = found.normalized_scores, found.scores, detector.threshold_
    np.testing.assert_array_equal(severity > 1, scores > threshold)
    typical, below = detector.normal_scores_.pooled.typical, scores <= threshold
    np.testing.assert_allclose(severity[below], ((scores - typical) / (threshold - typical))[below])
    np.testing.assert_array_equal(np.argsort(severity), np.argsort(scores))
    np.testing.assert_array_equal(detector.decide(found.evidence[0]).severity, severity)


def test_a_channel_that_stands_out_counts_beside_the_score(plant: Plant) -> None:
    detector = fit(plant.train, adapt_after=None)
    assert detector.strongest_ is not None
    found = detector.assess(plant.test)
    strongest = found.evidence[0].strongest
    assert strongest is not None
    own = (found.scores > found.thresholds) | (strongest > detector.strongest_.level(None))
    np.testing.assert_array_equal(found.normalized_scores > 1, own)


def test_on_a_series_that_moved_zero_is_its_recent_baseline(plant: Plant) -> None:
    detector = fit(plant.train, adapt_after=50)
    found = detector.assess(plant.test + 10 * plant.train.std(axis=0))
    shift = found.decisions[0].rows.shift
    assert (shift[200:] > 1).all()
    # rows vary more about another level: the threshold is no nearer to it than in training
    assert (found.thresholds > found.thresholds[0] + shift - 1e-9).all()


def test_probability_is_a_half_at_the_threshold(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    probabilities = detector.predict_proba(plant.test)
    assert probabilities.shape == (1000, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    above = detector.normalized_score(plant.test) > 1
    np.testing.assert_array_equal(probabilities[:, 1] > 0.5, above)


def test_the_threshold_may_be_changed_after_fitting(plant: Plant) -> None:
    detector = fit(plant.train, lookahead=0, adapt_after=None)
    assert detector.decision.score.rule is not None
    detector.threshold_ = float(np.quantile(detector.decision_function(plant.train), 0.5))
    above = detector.normalized_score(plant.train) > 1
    assert above.mean() == pytest.approx(0.5, abs=0.01)
    assert detector.decision.score.rule is detector.decision.strongest is None
    assert (detector.assess(plant.test).thresholds == detector.threshold_).all()


def test_a_threshold_changed_after_fitting_holds_for_all_entities(plant: Plant) -> None:
    noise = np.random.default_rng(0).normal(size=(1000, 4))
    detector = SubAdjacentDetector(adapt_after=None).fit({"a": plant.train, "b": noise})
    rows = {"a": plant.test, "b": noise, "new": plant.test}
    own = {name: found[0] for name, found in detector.assess(rows).thresholds.items()}
    assert own["a"] != own["b"]
    detector.threshold_ = 1.5
    for found in detector.assess(rows).thresholds.values():
        assert (found == 1.5).all()


@pytest.mark.parametrize("contamination", [Fixed(-1.0), Fixed(0.001), 0.5])
def test_one_is_the_threshold_even_where_that_is_below_a_typical_row(
    plant: Plant, contamination: Any
) -> None:
    found = fit(plant.train, contamination=contamination, adapt_after=None).assess(plant.test)
    flagged = found.decisions[0].rows.severity > 1
    np.testing.assert_array_equal(found.probabilities[:, 1] > 0.5, flagged)
    assert flagged[found.scores > found.thresholds].all()
    assert np.abs(found.normalized_scores).max() < 1e5


# ---- frames and entities


@pytest.fixture(scope="module")
def frame(plant: Plant) -> pd.DataFrame:
    index = pd.date_range("2026-01-01", periods=1000, freq="1min", name="time", tz="Europe/Rome")
    return pd.DataFrame(plant.test, index=index, columns=COLUMNS)


def test_a_pandas_frame_gives_its_own_index_back(frame: pd.DataFrame, plant: Plant) -> None:
    detector = fit(pd.DataFrame(plant.train, columns=COLUMNS))
    for result in (
        detector.decision_function(frame),
        detector.predict(frame),
        detector.predict_proba(frame),
        detector.normalized_score(frame),
        detector.explain(frame),
    ):
        pd.testing.assert_index_equal(result.index, frame.index)
    assert list(detector.explain(frame).columns) == COLUMNS
    alarm = detector.alarms(frame)[0]
    assert alarm.start == frame.index[alarm.first]
    assert alarm.causes[0].channel in "abcd"


def test_a_polars_frame_gives_polars_back(frame: pd.DataFrame, plant: Plant) -> None:
    detector = fit(pl.DataFrame(plant.train, schema=COLUMNS))
    scores = detector.decision_function(pl.DataFrame(plant.test, schema=COLUMNS))
    assert isinstance(scores, pl.Series)
    as_pandas = fit(pd.DataFrame(plant.train, columns=COLUMNS))
    np.testing.assert_array_equal(scores.to_numpy(), as_pandas.decision_function(frame).to_numpy())


def test_channels_in_another_order_are_refused(plant: Plant) -> None:
    frame = pd.DataFrame(plant.train, columns=COLUMNS)
    detector = fit(frame)
    with pytest.raises(InputError, match="feature names"):
        detector.decision_function(frame[["b", "a", "c", "d"]])
    with pytest.raises(InputError, match="feature names"):
        detector.decision_function(frame.rename(columns={"a": "z"}))


def test_another_number_of_channels_is_refused(detector: SubAdjacentDetector, plant: Plant) -> None:
    with pytest.raises(
        InputError, match="X has 3 features, but SubAdjacentDetector is expecting 4"
    ):
        detector.decision_function(plant.test[:, :3])


def test_a_list_of_entities_gives_a_list_back(plant: Plant) -> None:
    detector = fit([plant.train, plant.train[:400]])
    scores = detector.decision_function([plant.test, plant.test[:55]])
    assert [len(one) for one in scores] == [1000, 55]
    assert len(detector.decision_scores_) == 1400


def test_entities_that_cannot_be_matched_by_position_are_refused(
    plant: Plant, fleet: SubAdjacentDetector
) -> None:
    detector = fit([plant.train, plant.train])
    with pytest.raises(InputError, match="fit saw 2 entities, X has 1: pass a dict"):
        detector.decision_function([plant.test])
    with pytest.raises(InputError, match="cannot be matched by position"):
        fleet.decision_function([plant.test, plant.test])


def test_an_entity_never_seen_is_judged_by_what_all_share_and_said_so(
    plant: Plant, caplog: pytest.LogCaptureFixture
) -> None:
    # without views for which the twin of a row is its nearest reference
    views = ("level", "rhythm", "local rhythm", "slow rhythm")
    fleet = SubAdjacentDetector(views=views).fit({"a": plant.train, "b": plant.train})
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        scores = fleet.decision_function({"new": plant.test})
    assert "new" in caplog.text
    # both were the same rows, so the pool is much like each of them
    seen = fleet.decision_function({"a": plant.test})["a"]
    assert np.corrcoef(scores["new"], seen)[0, 1] > 0.99


def test_a_series_without_a_name_is_refused_where_there_were_several_entities(
    plant: Plant, fleet: SubAdjacentDetector
) -> None:
    with pytest.raises(InputError, match="X must name its entity, for fit saw 2"):
        fleet.decision_function(plant.test)


def test_a_long_frame_is_scored_in_its_own_row_order(plant: Plant) -> None:
    times = pd.date_range("2026-01-01", periods=500, freq="1min")
    one = pd.DataFrame(plant.train[:500], columns=COLUMNS).assign(item_id="x", timestamp=times)
    two = pd.DataFrame(plant.train[500:], columns=COLUMNS).assign(item_id="y", timestamp=times)
    mixed = pd.concat([one, two]).sort_values("timestamp", kind="stable").reset_index(drop=True)
    detector = fit(mixed)
    scores = detector.decision_function(mixed)
    apart = detector.decision_function({"x": one[COLUMNS], "y": two[COLUMNS]})
    np.testing.assert_array_equal(scores[mixed.item_id == "x"], apart["x"])
    np.testing.assert_array_equal(scores[mixed.item_id == "y"], apart["y"])


def test_a_gap_in_the_clock_is_never_bridged(plant: Plant) -> None:
    times = pd.date_range("2026-01-01", periods=1000, freq="1min").to_series()
    times.iloc[500:] += pd.Timedelta("3h")
    frame = pd.DataFrame(plant.train, index=pd.DatetimeIndex(times), columns=COLUMNS)
    detector = fit(frame)
    whole = detector.decision_function(frame)
    for part in (slice(0, 500), slice(500, None)):
        alone = detector.decision_function(frame.iloc[part])
        np.testing.assert_array_equal(whole.iloc[part], alone)


# ---- fitting


@pytest.mark.parametrize("failing", ["refused", "interrupted"])
def test_a_failed_fit_leaves_what_was_learned_before(plant: Plant, failing: str) -> None:
    detector = fit(plant.train)
    before = detector.decision_function(plant.test)

    def interrupt(_progress: Progress) -> None:
        raise KeyboardInterrupt

    if failing == "refused":
        with pytest.raises(InputError):
            detector.set_params(near=-1).fit(plant.train[:, :2] * 100)
    else:
        with pytest.raises(KeyboardInterrupt):
            detector.fit(plant.train * 3 + 1, watch=interrupt)
    np.testing.assert_array_equal(detector.decision_function(plant.test), before)


def test_a_refused_first_fit_is_no_fit(plant: Plant) -> None:
    detector = SubAdjacentDetector(near=-1)
    with pytest.raises(InputError):
        detector.fit(plant.train)
    with pytest.raises(NotFittedError):
        detector.decision_function(plant.test)


def test_fitting_and_scoring_can_be_watched(plant: Plant) -> None:
    seen: list[Progress] = []
    rows = {"a": plant.train, "b": plant.train[:300]}
    detector = SubAdjacentDetector().fit(rows, watch=seen.append)
    # the model for strangers, which comes last, is no entity
    assert seen == [Progress("fitting", done, 2, "entities") for done in (1, 2)]
    seen.clear()
    detector.assess(rows, watch=seen.append)
    assert seen == [Progress("scoring", done, 1300, "rows") for done in (1000, 1300)]


def test_labels_cannot_come_in_with_the_rows(plant: Plant) -> None:
    labelled = TestSeries(TrainSeries(plant.test), plant.labels)
    with pytest.raises(InputError, match="must not hold labels"):
        fit(labelled)
    fit(labelled.rows)


def test_fitting_leaves_the_input_and_the_global_generator_alone(plant: Plant) -> None:
    rows = plant.train.copy()
    state = np.random.get_state()[1]  # noqa: NPY002
    fit(rows)
    np.testing.assert_array_equal(rows, plant.train)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


# ---- thresholds


def test_four_fifths_of_a_requested_share_are_held_out_scores_above(plant: Plant) -> None:
    detector = fit(plant.train, contamination=0.1)
    # a fifth is that of the strongest channel
    assert (detector.decision_scores_ > detector.threshold_).mean() == pytest.approx(0.08, abs=0.01)
    assert detector.strongest_ is not None
    assert detector.decision.period(None) == pytest.approx(10)
    # without one, all of it
    causal = fit(plant.train, contamination=0.1, lookahead=0, adapt_after=None)
    (held_out,) = causal.held_out_scores_
    assert (held_out > causal.threshold_).mean() == pytest.approx(0.1, abs=0.01)


def test_a_budget_of_alarms_takes_the_interval_from_the_clock(plant: Plant) -> None:
    index = pd.date_range("2026-01-01", periods=1000, freq="1min")
    frame = pd.DataFrame(plant.train, index=index, columns=COLUMNS)
    told = fit(frame, contamination=AlarmBudget(1, "1day", interval="1min"))
    assert fit(frame, contamination="1/day").threshold_ == told.threshold_


def test_different_clocks_have_no_common_alarm_budget(plant: Plant) -> None:
    minutes, hours = (
        pd.DataFrame(
            plant.train, index=pd.date_range("2026", periods=1000, freq=step), columns=COLUMNS
        )
        for step in ("1min", "1h")
    )
    with pytest.raises(InputError, match="interval must be known"):
        fit({"a": minutes, "b": hours}, contamination="1/day")


def test_a_threshold_object_of_another_library_is_accepted(plant: Plant) -> None:
    class Half:
        def fit(self, scores: np.ndarray) -> None:
            self.cut = np.median(scores)

        def predict(self, scores: np.ndarray) -> np.ndarray:
            return (scores > self.cut).astype(int)

    half = Half()
    detector = fit(plant.train, contamination=half, lookahead=0, adapt_after=None)
    (held_out,) = detector.held_out_scores_
    assert (held_out > detector.threshold_).mean() == pytest.approx(0.5, abs=0.01)
    assert detector.strongest_ is None
    assert not hasattr(half, "cut"), "the caller's object must not be changed"


def test_our_threshold_objects_are_left_as_they_were(plant: Plant) -> None:
    threshold = Quantile(0.9)
    fit(plant.train, contamination=threshold)
    assert not hasattr(threshold, "threshold_")


# ---- what moves for good


@pytest.mark.parametrize("bad", [0, -1, 1.5, "400", True])
def test_rows_to_adapt_after_that_are_none_are_refused(plant: Plant, bad: Any) -> None:
    detector = SubAdjacentDetector(adapt_after=bad)
    for refuse in (detector.check, lambda: detector.fit(plant.train)):
        with pytest.raises(InputError) as caught:
            refuse()
        said = f"adapt_after must be a whole number of at least 1; got {bad!r}"
        assert str(caught.value) == said
    SubAdjacentDetector(adapt_after=None).check()
    SubAdjacentDetector(adapt_after=1).check()


def test_normal_scores_are_known_of_every_entity(plant: Plant) -> None:
    # too few rows to tell what scores are like
    rows = {"long": plant.train, "short": plant.train[:60]}
    detector = fit(rows)
    known = detector.normal_scores_
    assert set(known.by_entity) == {"long", "short"}
    assert known.of("long").rows == 1000
    assert known.of("short") == known.pooled
    assert detector.held_out_rows_ == 1060
    for one in known:
        assert 0 <= one.typical <= one.high <= one.tail.level(1e-9)
