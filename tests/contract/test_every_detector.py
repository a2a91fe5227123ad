"""What every detector of the registry keeps to; each is fitted once for all these tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract.detectors import FIVE, ROW_BY_ROW, WRAPPED, quick
from subadjacent import InputError, SubAdjacentError, TrainSeries, load
from subadjacent.data.plant import Plant
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.silence import silent_rows
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import REGISTRY

NEED_ORDER = ("check_methods_sample_order_invariance", "check_methods_subset_invariance")
# detectors that may pass over a spike, each for a reason that is its own
BLIND_TO_SPIKES = {
    "random": "scores do not depend on the data",
    "lstm": "errors are averaged over the 105 rows before, as published",
    "anomaly-transformer": "the discrepancy outweighs the error at the usual temperature",
    "dagmm": "its errors are relative to a sample's own length, and its code is bounded",
    "thoc": "it compares directions of bounded features, which say little of size",
}
# of the channel that never moves
CONSTANT = 7.0


# ---- scikit-learn's own checks


def expected_failures(detector: BaseDetector) -> dict[str, str]:
    names = {repr(quick(name)): name for name in REGISTRY}
    name = names[repr(detector)]
    if name in ROW_BY_ROW:
        return {}
    if name == "ecod":
        return {NEED_ORDER[1]: "PyOD compares a row with the rows that it is scored with"}
    failures = dict.fromkeys(NEED_ORDER, "scores depend on neighbours in time")
    if name == "lstm":
        failures["check_parameters_default_constructible"] = "its threshold is an object"
    return failures


@parametrize_with_checks(
    [quick(name) for name in FIVE],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_five_detectors_keep_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.sweep
@parametrize_with_checks(
    [quick(name) for name in REGISTRY if name not in FIVE],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_all_others_keep_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


# ---- our own


# scipy's, at a channel that never moves; ECOD takes the skewness of each
pytestmark = pytest.mark.filterwarnings("ignore:Precision loss occurred in moment calculation")


@pytest.fixture(scope="module", params=REGISTRY)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def windows(name: str) -> dict[str, int]:
    """Shorter windows than usual for those that look at any."""
    return {} if name in (*ROW_BY_ROW, *WRAPPED) else {"window": 20, "stride": 4}


def with_constant(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([rows, np.full(len(rows), CONSTANT)])


def in_feet(rows: np.ndarray) -> np.ndarray:
    return rows / 12 + 5


@pytest.fixture(scope="module")
def train(plant: Plant) -> dict[str, np.ndarray]:
    """The same rows in two units; one channel never moves."""
    rows = with_constant(plant.train)
    return {"inches": rows, "feet": in_feet(rows)}


@pytest.fixture(scope="module")
def test(plant: Plant) -> np.ndarray:
    rows = with_constant(plant.test)
    rows[300:320, -1] += 0.5
    return rows


@pytest.fixture(scope="module")
def detector(name: str, train: dict[str, np.ndarray]) -> BaseDetector:
    """Fitted; tests must not change it."""
    return quick(name, **windows(name), random_state=5, contamination=0.1).fit(train)


def scores_of(detector: BaseDetector, rows: np.ndarray, entity: str = "inches") -> np.ndarray:
    return np.asarray(detector.decision_function({entity: rows})[entity])


def silent_rows_of(detector: BaseDetector, rows: np.ndarray, entity: str) -> Any:
    """Rows with a stuck channel, as the detector's own assessment finds them."""
    return silent_rows(TrainSeries(rows, entity=entity), detector.profiles_.of(entity))


def test_a_clone_has_the_same_parameters_and_nothing_learned(
    name: str, detector: BaseDetector, test: np.ndarray
) -> None:
    assert type(detector).__name__ == REGISTRY[name].class_name
    copy = clone(detector)
    assert repr(copy.get_params()) == repr(detector.get_params())
    with pytest.raises(NotFittedError):
        copy.decision_function(test)


def test_any_number_of_rows_gets_finite_scores_and_explanations(
    detector: BaseDetector, test: np.ndarray
) -> None:
    for count in (1, 2, 19, 20, 21, 47):
        scores = scores_of(detector, test[:count])
        assert scores.shape == (count,)
        assert np.isfinite(scores).all()
        assert detector.explain({"inches": test[:count]})["inches"].shape == (count, 5)


def test_the_same_seed_gives_the_same_scores_whatever_the_labels(
    detector: BaseDetector, train: dict[str, np.ndarray], test: np.ndarray, plant: Plant
) -> None:
    again = clone(detector).fit(train, np.tile(plant.labels, 2))
    np.testing.assert_array_equal(scores_of(again, test), scores_of(detector, test))


def test_a_spike_scores_above_every_normal_row(
    name: str, detector: BaseDetector, plant: Plant
) -> None:
    if name in BLIND_TO_SPIKES:
        pytest.skip(BLIND_TO_SPIKES[name])
    spiked = with_constant(plant.base)
    spiked[500:505, :-1] += 20 * plant.train.std(axis=0)
    scores = scores_of(detector, spiked)
    assert scores[500:505].max() > np.delete(scores, slice(450, 550)).max()


def test_each_entity_has_a_scale_of_its_own_and_an_unseen_one_is_scored_too(
    name: str, detector: BaseDetector, plant: Plant, caplog: pytest.LogCaptureFixture
) -> None:
    """An entity measured in another unit gets the scores that it has in the first unit."""
    # the channel that never moved has no unit
    test = with_constant(plant.test)
    inches, feet = scores_of(detector, test), scores_of(detector, in_feet(test), "feet")
    assert np.isfinite(inches).all()
    if name != "random":
        np.testing.assert_allclose(inches, feet, rtol=1e-2, atol=1e-3)
    assert np.isfinite(scores_of(detector, test / 36, "yards")).all()
    assert "not seen in fitting" in caplog.text


def test_a_loaded_detector_gives_the_same_scores_and_alarms(
    name: str, detector: BaseDetector, test: np.ndarray, tmp_path: Any
) -> None:
    if name in WRAPPED:
        with pytest.raises(InputError, match="detector must be one of ours to be saved"):
            detector.save(tmp_path / "model")
        return
    detector.save(tmp_path / "model")
    rows = {"inches": test, "feet": in_feet(test), "yards": test / 36}
    for loaded in (load(tmp_path / "model"), type(detector).load(tmp_path / "model")):
        assert type(loaded) is type(detector)
        assert loaded.get_params() == detector.get_params()
        found, expected = loaded.decision_function(rows), detector.decision_function(rows)
        for entity in rows:
            np.testing.assert_array_equal(found[entity], expected[entity])
        assert loaded.alarms(rows) == detector.alarms(rows)


def test_predict_alarms_and_labels_agree(
    detector: BaseDetector, train: dict[str, np.ndarray], test: np.ndarray
) -> None:
    rows = {"inches": test, "feet": in_feet(test)[100:]}
    found, predicted, alarms = detector.assess(rows), detector.predict(rows), detector.alarms(rows)
    assert alarms == found.alarms()
    for entity, evidence, decided in zip(rows, found.evidence, found.decisions, strict=True):
        assert len(decided.events) == sum(alarm.entity == entity for alarm in alarms) > 0
        np.testing.assert_array_equal(found.anomalous[entity], predicted[entity])
        silent = silent_rows_of(detector, rows[entity], entity)
        again = detector.decide(evidence, entity, silent=silent)
        np.testing.assert_array_equal(again.anomalous, predicted[entity])
        np.testing.assert_array_equal(again.severity, decided.severity)
        # each event is where rows are anomalous, and each such row is in one
        covered = np.zeros(len(predicted[entity]), dtype=bool)
        for event in decided.events:
            assert predicted[entity][[event.first, event.last]].all()
            covered[event.first : event.last + 1] = True
        assert covered[predicted[entity] > 0].all()
    parts = np.split(detector.decision_scores_, 2)
    labels = [
        detector.decide(
            Evidence.of_scores(scores),
            entity,
            silent=silent_rows_of(detector, train[entity], entity),
        ).anomalous
        for entity, scores in zip(train, parts, strict=True)
    ]
    np.testing.assert_array_equal(detector.labels_, np.concatenate(labels).astype(int))


def test_alarms_are_explained_in_the_datas_own_units(
    detector: BaseDetector, train: dict[str, np.ndarray], test: np.ndarray
) -> None:
    mean, spread = train["inches"].mean(axis=0), train["inches"].std(axis=0)
    for alarm in detector.alarms({"inches": test}):
        assert alarm.duration == alarm.last + 1 - alarm.first
        assert 0 <= alarm.first <= alarm.peak <= alarm.last < len(test)
        assert (alarm.start, alarm.end) == (alarm.first, alarm.last)
        for cause in alarm.causes:
            column = detector.channels_.index(cause.channel)
            assert cause.seen == test[cause.at, column]
            # the channel that never moved has a deviation of its own choosing
            assert abs(cause.expected - mean[column]) < 12 * max(spread[column], 1.0)
    unusual = detector.explain({"inches": test})["inches"]
    assert unusual.shape == test.shape
    assert np.isfinite(unusual).all()
    assert (unusual >= 0).all()


def test_huge_values_are_scored_up_to_a_limit(detector: BaseDetector, test: np.ndarray) -> None:
    huge = test.copy()
    huge[500] = 1e99
    assert np.isfinite(scores_of(detector, huge)).all()
    huge[500, 2] = 1e101
    with pytest.raises(SubAdjacentError, match=r"column 'channel_2'.* is 1e.101 at row 500"):
        scores_of(detector, huge)


def test_rows_that_never_moved_leave_severities_that_mean_something(name: str) -> None:
    if name == "lof":
        pytest.skip("scikit-learn's factor has no bound where rows repeat")
    rows = np.zeros((200, 2))
    rows[100:110, 0] = 1.0
    detector = quick(name, **windows(name)).fit(np.zeros((200, 2)))
    # in units of the distance from typical scores to the threshold
    assert np.abs(detector.normalized_score(rows)).max() < (2e4 if name == "default" else 1e4)


def test_a_detector_of_one_channel_can_be_saved(name: str, plant: Plant, tmp_path: Any) -> None:
    if name in WRAPPED:
        pytest.skip("cannot be saved")
    detector = quick(name, epochs=1).fit(plant.train[:200, :1])
    detector.save(tmp_path / "model")
    rows = plant.test[:200, :1]
    found = load(tmp_path / "model").decision_function(rows)
    np.testing.assert_array_equal(found, detector.decision_function(rows))


@pytest.mark.parametrize("name", FIVE)
def test_a_detector_works_at_the_end_of_a_pipeline(name: str, plant: Plant) -> None:
    pipeline = make_pipeline(StandardScaler(), quick(name)).fit(plant.train)
    assert pipeline.decision_function(plant.test).shape == (1000,)
    assert set(pipeline.predict(plant.test)) <= {0, 1}
