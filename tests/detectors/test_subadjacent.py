"""What a user sees of the detector."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.exceptions import NotFittedError

from conftest import SMALL
from subadjacent import (
    AlarmBudget,
    Fixed,
    InputError,
    Progress,
    Quantile,
    SubAdjacentDetector,
    TestSeries,
    TrainSeries,
    multivariate,
)
from subadjacent.data.plant import Plant


def quick(**parameters: Any) -> SubAdjacentDetector:
    return SubAdjacentDetector(**SMALL | parameters)


# ---- scores and labels


def test_every_row_gets_one_finite_score(detector: SubAdjacentDetector, plant: Plant) -> None:
    for rows in (1, 2, 19, 20, 21, 47):
        scores = detector.decision_function(plant.test[:rows])
        assert scores.shape == (rows,)
        assert np.isfinite(scores).all()


def test_training_scores_are_those_of_the_training_rows(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    np.testing.assert_array_equal(
        detector.decision_scores_, detector.decision_function(plant.train)
    )
    np.testing.assert_array_equal(detector.labels_, detector.predict(plant.train))


def test_predict_marks_the_rows_above_the_threshold(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    above = detector.decision_function(plant.test) > detector.threshold_
    np.testing.assert_array_equal(detector.predict(plant.test), above.astype(int))
    assert 0 < above.mean() < 0.3


def test_normalized_score_is_one_at_the_threshold_and_zero_at_a_typical_row(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    scores = detector.decision_function(plant.test)
    normalized = detector.normalized_score(plant.test)
    np.testing.assert_array_equal(normalized > 1, scores > detector.threshold_)
    held_out = detector.normalized_score(plant.train)[800:]
    assert np.median(held_out) == pytest.approx(0, abs=1e-9)


def test_probability_is_a_half_at_the_threshold(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    probabilities = detector.predict_proba(plant.test)
    assert probabilities.shape == (1000, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(probabilities[:, 1] > 0.5, detector.predict(plant.test) == 1)


def test_fit_predict_is_fit_and_then_predict(plant: Plant) -> None:
    np.testing.assert_array_equal(
        quick().fit_predict(plant.train), quick().fit(plant.train).predict(plant.train)
    )


@pytest.mark.parametrize("other", ["fast", "network"])
def test_a_recipe_changed_after_fitting_is_refused_until_fitted_again(
    plant: Plant, tmp_path: Path, other: str
) -> None:
    detector = SubAdjacentDetector(epochs=0).fit(plant.train)
    detector.set_params(recipe=other)
    with pytest.raises(InputError, match=f"recipe must be 'combined', .*; got '{other}'"):
        detector.decision_function(plant.test)
    with pytest.raises(InputError, match="recipe must be 'combined'"):
        detector.alarms(plant.test)
    with pytest.raises(InputError, match="recipe must be 'combined'"):
        detector.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    assert np.isfinite(detector.fit(plant.train).decision_function(plant.test)).all()


def test_the_threshold_may_be_changed_after_fitting(plant: Plant) -> None:
    detector = quick().fit(plant.train)
    detector.threshold_ = float(np.quantile(detector.decision_scores_, 0.5))
    assert detector.predict(plant.train).mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("contamination", [Fixed(-1.0), Fixed(0.001), 0.5])
def test_one_is_the_threshold_even_where_that_is_below_a_typical_row(
    plant: Plant, contamination: Any
) -> None:
    detector = quick(contamination=contamination).fit(plant.train)
    flagged = detector.predict(plant.test) == 1
    np.testing.assert_array_equal(detector.normalized_score(plant.test) > 1, flagged)
    np.testing.assert_array_equal(detector.predict_proba(plant.test)[:, 1] > 0.5, flagged)
    assert np.abs(detector.normalized_score(plant.test)).max() < 1e5


def test_scores_do_not_depend_on_what_comes_after_a_whole_window(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    whole = detector.decision_function(plant.test)
    part = detector.decision_function(plant.test[:200])  # ten windows of 20
    np.testing.assert_allclose(part, whole[:200], rtol=1e-5)


@pytest.mark.parametrize("dynamic", ["none", "trailing", "released", "printed"])
@pytest.mark.parametrize("temperature", [0.0, 50.0])
def test_every_form_of_the_score_gives_finite_scores(
    plant: Plant, dynamic: str, temperature: float
) -> None:
    detector = quick(dynamic=dynamic, temperature=temperature, block=30).fit(plant.train)
    assert np.isfinite(detector.decision_function(plant.test)).all()


def test_overlapped_scoring_is_near_the_plain_one(plant: Plant) -> None:
    plain = quick().fit(plant.train)
    overlapped = quick(scoring_stride=5).fit(plant.train)
    scores = plain.decision_function(plant.test), overlapped.decision_function(plant.test)
    assert np.corrcoef(*scores)[0, 1] > 0.7
    assert not np.array_equal(*scores)


# ---- explanation


def test_the_disturbed_channel_of_twenty_is_named_first() -> None:
    plant = multivariate(n=1_500, channels=20, seed=1, kinds=())
    detector = quick(epochs=6).fit(plant.train)
    disturbed = plant.test.copy()
    disturbed[700:712, 13] += 6 * plant.train[:, 13].std()
    alarms = [a for a in detector.alarms(disturbed) if a.first < 720 and a.last >= 700]
    assert len(alarms) == 1
    cause = alarms[0].causes[0]
    assert cause.channel == "channel_13"
    assert 700 <= cause.at < 712
    assert cause.seen == disturbed[cause.at, 13]
    # what was expected is nearer to the undisturbed value than what was seen
    undisturbed = plant.test[cause.at, 13]
    assert abs(cause.expected - undisturbed) < abs(cause.seen - undisturbed)


def test_explain_gives_a_value_for_every_row_and_channel(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    unusual = detector.explain(plant.test)
    assert unusual.shape == plant.test.shape
    assert (unusual >= 0).all()
    # in units of what is usual: about one on held-out rows
    held_out = detector.explain(plant.train)[800:]
    assert np.median(held_out) < 1 < held_out.max()


def test_alarms_cover_exactly_the_rows_above_the_threshold(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    covered = np.zeros(1000, dtype=int)
    for alarm in detector.alarms(plant.test, gap=0):
        covered[alarm.first : alarm.last + 1] = 1
        assert alarm.duration == alarm.last - alarm.first + 1
        assert alarm.severity > 1
        assert alarm.score == detector.decision_function(plant.test)[alarm.peak]
    np.testing.assert_array_equal(covered, detector.predict(plant.test))


def test_a_series_below_the_threshold_has_no_alarms(plant: Plant) -> None:
    detector = quick(contamination=Fixed(1e9)).fit(plant.train)
    assert detector.alarms(plant.test) == []


def test_a_trace_shows_what_led_to_the_scores(detector: SubAdjacentDetector, plant: Plant) -> None:
    (trace,) = detector.trace(plant.test)
    np.testing.assert_array_equal(trace.decision, detector.decision_function(plant.test))
    scaled = detector.scalers_.pooled
    difference = scaled.apply(trace.expected) - scaled.apply(plant.test)
    np.testing.assert_allclose(trace.error, (difference**2).mean(axis=1), rtol=1e-3, atol=1e-6)
    # with temperature 0 the score of Eq. 6 is the error
    np.testing.assert_allclose(trace.score, trace.error, rtol=1e-5)
    assert ((trace.contribution > 0) & (trace.contribution < 2)).all()


def test_attention_around_a_row_is_that_of_the_window_it_is_scored_by(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    series = TrainSeries(plant.test[:50])
    assert [detector.attention_around(series, row)[0] for row in (0, 19, 20, 49)] == [0, 0, 20, 30]
    _, matrix = detector.attention_around(series, 25)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-5)


# ---- frames and entities


@pytest.fixture(scope="module")
def frame(plant: Plant) -> pd.DataFrame:
    index = pd.date_range("2026-01-01", periods=1000, freq="1min", name="time", tz="Europe/Rome")
    return pd.DataFrame(plant.test, index=index, columns=["a", "b", "c", "d"])


def test_a_pandas_frame_gives_its_own_index_back(frame: pd.DataFrame, plant: Plant) -> None:
    train = pd.DataFrame(plant.train, columns=frame.columns)
    detector = quick().fit(train)
    for result in (
        detector.decision_function(frame),
        detector.predict(frame),
        detector.predict_proba(frame),
        detector.normalized_score(frame),
        detector.explain(frame),
    ):
        pd.testing.assert_index_equal(result.index, frame.index)
    assert list(detector.explain(frame).columns) == ["a", "b", "c", "d"]
    alarm = detector.alarms(frame)[0]
    assert alarm.start == frame.index[alarm.first]
    assert alarm.causes[0].channel in "abcd"


def test_a_polars_frame_gives_polars_back(frame: pd.DataFrame, plant: Plant) -> None:
    columns = ["a", "b", "c", "d"]
    detector = quick().fit(pl.DataFrame(plant.train, schema=columns))
    scores = detector.decision_function(pl.DataFrame(plant.test, schema=columns))
    assert isinstance(scores, pl.Series)
    as_pandas = pd.DataFrame(plant.train, columns=columns)
    np.testing.assert_array_equal(
        scores.to_numpy(), quick().fit(as_pandas).decision_function(frame).to_numpy()
    )


def test_channels_in_another_order_are_refused(plant: Plant) -> None:
    frame = pd.DataFrame(plant.train, columns=["a", "b", "c", "d"])
    detector = quick().fit(frame)
    with pytest.raises(InputError, match="feature names"):
        detector.decision_function(frame[["b", "a", "c", "d"]])
    with pytest.raises(InputError, match="feature names"):
        detector.decision_function(frame.rename(columns={"a": "z"}))


def test_another_number_of_channels_is_refused(detector: SubAdjacentDetector, plant: Plant) -> None:
    with pytest.raises(
        InputError, match="X has 3 features, but SubAdjacentDetector is expecting 4"
    ):
        detector.decision_function(plant.test[:, :3])


def test_entities_share_a_network_and_keep_scalers_of_their_own(plant: Plant) -> None:
    train = {"cold": plant.train, "hot": 1000 + 50 * plant.train}
    detector = quick().fit(train)
    scores = detector.decision_function({"hot": 1000 + 50 * plant.test, "cold": plant.test})
    assert list(scores) == ["hot", "cold"]
    # the same shape in other units scores the same
    np.testing.assert_allclose(scores["hot"], scores["cold"], rtol=1e-3)
    assert detector.entities_ == ("cold", "hot")
    entities = {alarm.entity for alarm in detector.alarms({"hot": 1000 + 50 * plant.test})}
    assert entities == {"hot"}


def test_a_list_of_entities_gives_a_list_back(plant: Plant) -> None:
    detector = quick().fit([plant.train, plant.train[:400]])
    scores = detector.decision_function([plant.test, plant.test[:55]])
    assert [len(one) for one in scores] == [1000, 55]
    assert len(detector.decision_scores_) == 1400


def test_entities_that_cannot_be_matched_by_position_are_refused(plant: Plant) -> None:
    detector = quick().fit([plant.train, plant.train])
    with pytest.raises(InputError, match="fit saw 2 entities, X has 1: pass a dict"):
        detector.decision_function([plant.test])
    by_name = quick().fit({"a": plant.train, "b": plant.train})
    with pytest.raises(InputError, match="cannot be matched by position"):
        by_name.decision_function([plant.test, plant.test])


def test_an_entity_never_seen_is_scaled_by_all_and_said_so(
    plant: Plant, caplog: pytest.LogCaptureFixture
) -> None:
    detector = quick().fit({"a": plant.train, "b": plant.train})
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        scores = detector.decision_function({"new": plant.test})
    assert "new" in caplog.text
    # both were the same rows, so the pool is like each of them
    seen = detector.decision_function({"a": plant.test})["a"]
    np.testing.assert_allclose(scores["new"], seen, rtol=1e-4)


def test_a_series_without_a_name_is_refused_where_there_were_several_entities(
    plant: Plant,
) -> None:
    detector = quick().fit({"a": plant.train, "b": plant.train})
    with pytest.raises(InputError, match="X must name its entity, for fit saw 2"):
        detector.decision_function(plant.test)


def test_channel_names_of_a_series_are_checked_too(plant: Plant) -> None:
    detector = quick().fit(TrainSeries(plant.train, channels=("a", "b", "c", "d")))
    with pytest.raises(InputError, match="must have the channels seen in fitting"):
        detector.decision_function(TrainSeries(plant.test, channels=("b", "a", "c", "d")))


@pytest.mark.parametrize("failing", ["refused", "interrupted"])
def test_a_failed_fit_leaves_what_was_learned_before(plant: Plant, failing: str) -> None:
    detector = quick().fit(plant.train)
    before = detector.decision_function(plant.test)

    def interrupt(_progress: Progress) -> None:
        raise KeyboardInterrupt

    if failing == "refused":
        with pytest.raises(InputError):
            detector.set_params(learning_rate=-1.0).fit(plant.train[:, :2] * 100)
    else:
        with pytest.raises(KeyboardInterrupt):
            detector.fit(plant.train * 3 + 1, watch=interrupt)
    np.testing.assert_array_equal(detector.decision_function(plant.test), before)


def test_a_refused_first_fit_is_no_fit(plant: Plant) -> None:
    detector = quick(learning_rate=-1.0)
    with pytest.raises(InputError):
        detector.fit(plant.train)
    with pytest.raises(NotFittedError):
        detector.decision_function(plant.test)


def test_different_clocks_have_no_common_alarm_budget(plant: Plant) -> None:
    minutes, hours = (
        pd.DataFrame(
            plant.train, index=pd.date_range("2026", periods=1000, freq=step), columns=list("abcd")
        )
        for step in ("1min", "1h")
    )
    with pytest.raises(InputError, match="interval must be known"):
        quick(contamination="1/day").fit({"a": minutes, "b": hours})


def test_blocks_of_one_entity_do_not_depend_on_another(plant: Plant) -> None:
    detector = quick(block=64, temperature=50.0).fit({"a": plant.train, "b": plant.train})
    both = detector.decision_function({"a": plant.test[:77], "b": plant.test})
    alone = detector.decision_function({"b": plant.test})
    np.testing.assert_allclose(both["b"], alone["b"], rtol=1e-5)


def test_fitting_does_not_depend_on_the_state_of_torch(plant: Plant) -> None:
    plain = quick().fit(plant.train).decision_scores_
    with torch.no_grad():
        np.testing.assert_array_equal(quick().fit(plant.train).decision_scores_, plain)
    torch.set_default_dtype(torch.float64)
    try:
        assert np.isfinite(quick().fit(plant.train).decision_scores_).all()
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_long_frame_is_scored_in_its_own_row_order(plant: Plant) -> None:
    times = pd.date_range("2026-01-01", periods=500, freq="1min")
    one = pd.DataFrame(plant.train[:500], columns=list("abcd")).assign(item_id="x", timestamp=times)
    two = pd.DataFrame(plant.train[500:], columns=list("abcd")).assign(item_id="y", timestamp=times)
    mixed = pd.concat([one, two]).sort_values("timestamp", kind="stable").reset_index(drop=True)
    detector = quick().fit(mixed)
    scores = detector.decision_function(mixed)
    apart = detector.decision_function({"x": one[list("abcd")], "y": two[list("abcd")]})
    np.testing.assert_array_equal(scores[mixed.item_id == "x"], apart["x"])
    np.testing.assert_array_equal(scores[mixed.item_id == "y"], apart["y"])


def test_a_gap_in_the_clock_is_never_bridged_by_a_window(plant: Plant) -> None:
    times = pd.date_range("2026-01-01", periods=1000, freq="1min").to_series()
    times.iloc[500:] += pd.Timedelta("3h")
    frame = pd.DataFrame(plant.train, index=pd.DatetimeIndex(times))
    frame.columns = list("abcd")
    detector = quick(smoothing=1).fit(frame)
    whole = detector.decision_function(frame)
    second = detector.decision_function(frame.iloc[500:])
    np.testing.assert_array_equal(whole.iloc[500:], second)


# ---- parameters


def test_short_data_gets_a_shorter_window() -> None:
    rows = np.random.default_rng(0).normal(size=(120, 2))
    detector = SubAdjacentDetector(epochs=1).fit(rows)
    assert detector.window_ == 30
    assert (detector.band_.near, detector.band_.far) == (6, 9)


def test_long_data_gets_the_papers_window_and_band() -> None:
    rows = np.random.default_rng(0).normal(size=(400, 2))
    detector = SubAdjacentDetector(epochs=1).fit(rows)
    assert detector.window_ == 100
    assert (detector.band_.near, detector.band_.far) == (20, 30)


def test_fewer_rows_than_two_windows_are_refused() -> None:
    rows = np.zeros((150, 2))
    with pytest.raises(InputError, match=r"200 rows with window=100; .* n_samples = 150"):
        SubAdjacentDetector(window=100).fit(rows)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 1}, "window must be a whole number of at least 2; got 1"),
        ({"window": "long"}, "window must be a whole number"),
        ({"near": -1}, "near must be a whole number of at least 0"),
        ({"near": 9, "far": 3}, "band needs .*near <= far; got near=9, far=3"),
        ({"near": 15, "far": 16}, "in a window of 20 the largest distance is 10"),
        ({"stride": 0}, "stride must be a whole number of at least 1"),
        ({"size": "huge"}, "size must be one of tiny, small, paper; got 'huge'"),
        ({"attention": "flash"}, "attention must be one of softmax, .*, vanilla; got 'flash'"),
        ({"dynamic": "static"}, "dynamic must be one of trailing, released, printed, none"),
        ({"epochs": -1}, "epochs must be a whole number of at least 0"),
        ({"batch_size": "big"}, "batch_size must be a number or 'auto'; got 'big'"),
        ({"learning_rate": "fast"}, "learning_rate must be a number or 'auto'; got 'fast'"),
        ({"temperature": -1}, "temperature must be a finite number of at least 0"),
        ({"scoring_stride": 21}, "scoring_stride must be at most the window"),
        ({"device": None}, "device must be"),
        ({"device": "meta"}, "device must be"),
        ({"random_state": "x"}, "random_state must be None, a whole number"),
        ({"random_state": -1}, "random_state must be None, a whole number"),
        ({"size": []}, "size must be one of"),
        ({"dynamic": []}, "dynamic must be one of"),
        ({"checkpoint": 5}, "checkpoint must be a path or None; got 5"),
        ({"fill_limit": -1}, "fill_limit must be a whole number of at least 0"),
        ({"smoothing": 0}, "smoothing must be a whole number of at least 1"),
        ({"memory": 1}, "memory must be a whole number of at least 2"),
        ({"clip": 0}, "clip must be a finite number above 0"),
        ({"validation_fraction": 1.0}, "validation_fraction must be below 1; got 1.0"),
        ({"budget": "soon"}, "budget must be"),
        ({"precision": "half"}, "precision must be one of"),
        ({"device": "gpu"}, "device must be"),
        ({"contamination": 0.9}, "contamination must be 'auto', a share .*; got 0.9"),
        ({"contamination": "1/week"}, "interval must be known"),
    ],
)
def test_a_bad_parameter_is_refused_by_fit(
    plant: Plant, parameters: dict[str, Any], message: str
) -> None:
    detector = quick(**parameters)
    with pytest.raises(InputError, match=message):
        detector.fit(plant.train)


def test_contamination_as_a_share_is_the_share_of_held_out_rows_above(plant: Plant) -> None:
    detector = quick(contamination=0.1).fit(plant.train)
    assert detector.labels_[800:].mean() == pytest.approx(0.1, abs=0.01)


def test_a_budget_of_alarms_takes_the_interval_from_the_clock(plant: Plant) -> None:
    index = pd.date_range("2026-01-01", periods=1000, freq="1min")
    frame = pd.DataFrame(plant.train, index=index, columns=list("abcd"))
    detector = quick(contamination="1/day").fit(frame)
    told = quick(contamination=AlarmBudget(1, "1day", interval="1min")).fit(frame)
    assert detector.threshold_ == told.threshold_


def test_a_threshold_object_of_another_library_is_accepted(plant: Plant) -> None:
    class Half:
        def fit(self, scores: np.ndarray) -> None:
            self.cut = np.median(scores)

        def predict(self, scores: np.ndarray) -> np.ndarray:
            return (scores > self.cut).astype(int)

    half = Half()
    detector = quick(contamination=half).fit(plant.train)
    assert detector.predict(plant.train)[800:].mean() == pytest.approx(0.5, abs=0.01)
    assert not hasattr(half, "cut"), "the caller's object must not be changed"


def test_our_threshold_objects_are_left_as_they_were(plant: Plant) -> None:
    threshold = Quantile(0.9)
    quick(contamination=threshold).fit(plant.train)
    assert not hasattr(threshold, "threshold_")


def test_fitting_can_be_watched(plant: Plant) -> None:
    seen: list[Progress] = []
    detector = quick().fit(plant.train, watch=seen.append)
    assert [one.finished for one in seen if one.finished] == detector.history_
    assert seen[0].step == 1


def test_a_fit_killed_in_between_goes_on_from_its_checkpoint(plant: Plant, tmp_path: Any) -> None:
    def stop(progress: Progress) -> None:
        if progress.epoch == 2:
            raise KeyboardInterrupt

    unbroken = quick().fit(plant.train)
    detector = quick(checkpoint=tmp_path / "state")
    with pytest.raises(KeyboardInterrupt):
        detector.fit(plant.train, watch=stop)
    detector.fit(plant.train)
    np.testing.assert_array_equal(detector.decision_scores_, unbroken.decision_scores_)
    assert len(detector.history_) == 2


def test_a_time_budget_stops_training_early(plant: Plant) -> None:
    detector = quick(epochs=10_000, patience=10_000, budget="1s").fit(plant.train)
    assert 1 <= len(detector.history_) < 10_000


def test_labels_cannot_come_in_with_the_rows(plant: Plant) -> None:
    labelled = TestSeries(TrainSeries(plant.test), plant.labels)
    with pytest.raises(InputError, match="must not hold labels"):
        quick().fit(labelled)
    quick().fit(labelled.rows)


def test_nothing_can_be_scored_before_fitting(plant: Plant) -> None:
    for method in ("alarms", "explain", "normalized_score", "predict"):
        with pytest.raises(NotFittedError):
            getattr(SubAdjacentDetector(), method)(plant.test)
    with pytest.raises(NotFittedError):
        SubAdjacentDetector().save("nowhere")


def test_fitting_leaves_the_input_and_the_global_generators_alone(plant: Plant) -> None:
    rows = plant.train.copy()
    numpy_state, torch_state = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    quick().fit(rows)
    np.testing.assert_array_equal(rows, plant.train)
    assert np.array_equal(np.random.get_state()[1], numpy_state[1])  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), torch_state)
