"""Every detector passes scikit-learn's own checks, but for the two that forbid memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from subadjacent.data.plant import Plant
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import DETECTORS

TIME_ORDER = "scores depend on neighbours in time"
EXPECTED_FAILURES = {
    "check_methods_sample_order_invariance": TIME_ORDER,
    "check_methods_subset_invariance": TIME_ORDER,
}


def expected_failures(_detector: BaseDetector) -> dict[str, str]:
    return EXPECTED_FAILURES


# as a user would make them: no parameter is set to please the checks
@parametrize_with_checks(
    [detector() for detector in DETECTORS.values()],
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
    cheap = {"window": 20, "epochs": 2, "stride": 4}
    return kind(**{name: value for name, value in cheap.items() if name in known} | parameters)


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
