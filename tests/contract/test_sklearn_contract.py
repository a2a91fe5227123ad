"""Every detector passes scikit-learn's own checks, but for the two that forbid memory.

Those that judge each row by itself pass these two as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from subadjacent import load
from subadjacent.data.plant import Plant
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import DETECTORS
from subadjacent.detectors.rivals.rival import RivalDetector

TIME_ORDER = "scores depend on neighbours in time"
NEED_ORDER = ("check_methods_sample_order_invariance", "check_methods_subset_invariance")
# detectors that judge a row by itself
ROW_BY_ROW = (
    "PCADetector",
    "MagnitudeDetector",
    "KNNDetector",
    "LOFDetector",
    "IsolationForestDetector",
    "ECODDetector",
)
# detectors that may pass over a spike, each for a reason that is its own
BLIND_TO_SPIKES = {
    "RandomDetector": "scores do not depend on the data",
    "LSTMDetector": "errors are averaged over the 105 rows before, as published",
    "AnomalyTransformerDetector": "the discrepancy outweighs the error at the usual temperature",
    "DAGMMDetector": "its errors are relative to a sample's own length, and its code is bounded",
    "THOCDetector": "it compares directions of bounded features, which say little of size",
}


def expected_failures(detector: BaseDetector) -> dict[str, str]:
    ordered = type(detector).__name__ not in ROW_BY_ROW
    return dict.fromkeys(NEED_ORDER, TIME_ORDER) if ordered else {}


def as_checked(kind: type[BaseDetector]) -> BaseDetector:
    """As a user would make it; of its paper's size, a network would take minutes for each check."""
    if issubclass(kind, RivalDetector) or kind.__name__ == "SubAdjacentHybridDetector":
        return kind(size="tiny", epochs=2)
    return kind(size="small") if kind().get_params().get("size") == "paper" else kind()


@parametrize_with_checks(
    [as_checked(kind) for kind in DETECTORS.values()],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_detector_keeps_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(params=DETECTORS.values(), ids=list(DETECTORS))
def kind(request: pytest.FixtureRequest) -> type[BaseDetector]:
    return request.param


def quick(kind: type[BaseDetector], **parameters: Any) -> BaseDetector:
    known = kind().get_params()
    cheap = {"window": 20, "epochs": 2, "stride": 4, "size": "small"}
    if issubclass(kind, RivalDetector) or kind.__name__ == "SubAdjacentHybridDetector":
        cheap |= {"size": "tiny"}
    wanted = cheap | parameters
    return kind(**{name: value for name, value in wanted.items() if name in known})


def test_the_registry_names_every_detector_as_its_class_is_called() -> None:
    assert {name: one.__name__ for name, one in DETECTORS.items()} == {
        name: name for name in DETECTORS
    }


def test_clone_has_the_same_parameters_and_nothing_learned(
    kind: type[BaseDetector], plant: Plant
) -> None:
    detector = quick(kind).fit(plant.train)
    copy = clone(detector)
    assert copy.get_params() == detector.get_params()
    with pytest.raises(NotFittedError):
        copy.decision_function(plant.test)


def test_detector_works_at_the_end_of_a_pipeline(kind: type[BaseDetector], plant: Plant) -> None:
    pipeline = make_pipeline(StandardScaler(), quick(kind)).fit(plant.train)
    assert pipeline.decision_function(plant.test).shape == (1000,)
    assert set(pipeline.predict(plant.test)) <= {0, 1}


def test_same_seed_gives_the_same_scores(kind: type[BaseDetector], plant: Plant) -> None:
    first = quick(kind, random_state=5).fit(plant.train).decision_function(plant.test)
    second = quick(kind, random_state=5).fit(plant.train).decision_function(plant.test)
    np.testing.assert_array_equal(first, second)


def test_labels_given_to_fit_change_nothing(kind: type[BaseDetector], plant: Plant) -> None:
    without = quick(kind).fit(plant.train).decision_function(plant.test)
    with_labels = quick(kind).fit(plant.train, plant.labels).decision_function(plant.test)
    np.testing.assert_array_equal(without, with_labels)


def test_a_spike_scores_above_every_normal_row(kind: type[BaseDetector], plant: Plant) -> None:
    if kind.__name__ in BLIND_TO_SPIKES:
        pytest.skip(BLIND_TO_SPIKES[kind.__name__])
    detector = quick(kind).fit(plant.train)
    spiked = plant.base.copy()
    spiked[500:505] += 20 * plant.train.std(axis=0)
    scores = detector.decision_function(spiked)
    assert scores[500:505].max() > np.delete(scores, slice(450, 550)).max()


def test_a_constant_channel_gives_finite_scores(kind: type[BaseDetector], plant: Plant) -> None:
    train, test = plant.train.copy(), plant.test.copy()
    train[:, 1] = test[:, 1] = 7.0
    test[300:320, 1] = 7.5
    assert np.isfinite(quick(kind).fit(train).decision_function(test)).all()


def test_saved_and_loaded_detector_gives_the_same_scores(
    kind: type[BaseDetector], plant: Plant, tmp_path: Any
) -> None:
    detector = quick(kind).fit(plant.train)
    detector.save(tmp_path / "model")
    loaded = kind.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.decision_function(plant.test), detector.decision_function(plant.test)
    )
    assert loaded.get_params() == detector.get_params()
    assert loaded.alarms(plant.test) == detector.alarms(plant.test)
    assert type(load(tmp_path / "model")) is kind


def test_a_detector_of_one_channel_can_be_saved(
    kind: type[BaseDetector], plant: Plant, tmp_path: Any
) -> None:
    detector = quick(kind).fit(plant.train[:, :1])
    detector.save(tmp_path / "model")
    np.testing.assert_array_equal(
        kind.load(tmp_path / "model").decision_function(plant.test[:, :1]),
        detector.decision_function(plant.test[:, :1]),
    )


def test_each_entity_has_a_scale_of_its_own_and_a_new_one_is_scored_too(
    kind: type[BaseDetector], plant: Plant, caplog: pytest.LogCaptureFixture
) -> None:
    """An entity measured in another unit gets the scores that it has in the first unit."""
    inches, feet = plant.train, plant.train / 12 + 5
    detector = quick(kind).fit({"inches": inches, "feet": feet})
    found = detector.decision_function({"inches": plant.test, "feet": plant.test / 12 + 5})
    if kind.__name__ != "RandomDetector":
        np.testing.assert_allclose(found["inches"], found["feet"], rtol=1e-2, atol=1e-3)
    new = detector.decision_function({"yards": plant.test / 36})
    assert np.isfinite(new["yards"]).all()
    assert "not seen in fitting" in caplog.text


def test_alarms_name_every_row_and_explain_it_in_the_datas_own_units(
    kind: type[BaseDetector], plant: Plant
) -> None:
    detector = quick(kind, contamination=0.1).fit(plant.train)
    alarms = detector.alarms(plant.test)
    times = sorted(bounds for alarm in alarms for bounds in alarm.occurrences)
    named = [row for first, last in times for row in range(first, last + 1)]
    assert named == np.flatnonzero(detector.predict(plant.test)).tolist() != []
    for alarm in alarms:
        assert alarm.duration == alarm.last + 1 - alarm.first
        assert (alarm.first, alarm.last) == (alarm.occurrences[0][0], alarm.occurrences[-1][1])
    spread = plant.train.std(axis=0)
    for alarm in alarms:
        for cause in alarm.causes:
            column = detector.channels_.index(cause.channel)
            assert cause.seen == plant.test[cause.at, column]
            away = abs(cause.expected - plant.train[:, column].mean())
            assert away < 12 * spread[column]
    unusual = detector.explain(plant.test)
    assert unusual.shape == plant.test.shape
    assert np.isfinite(unusual).all()
    assert (unusual >= 0).all()


def test_rows_that_never_moved_leave_severities_that_mean_something(
    kind: type[BaseDetector],
) -> None:
    train, test = np.zeros((200, 2)), np.zeros((200, 2))
    test[100:110, 0] = 1.0
    detector = quick(kind).fit(train)
    # the unit is how far the threshold lies from typical scores; to the default these differ by
    # next to nothing, what its network leaves of rows that never moved
    most = 2e4 if kind.__name__ == "SubAdjacentDetector" else 1e4
    assert np.abs(detector.normalized_score(test)).max() < most
