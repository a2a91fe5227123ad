"""PyOD's form. PyOD ships no checks: these are what its own tests ask of each of its detectors,
and those of scikit-learn's checks that PyOD's detectors keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pyod.models.knn import KNN
from pyod.models.ts_od import TimeSeriesOD
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from subadjacent import InputError, MagnitudeDetector, SubAdjacentDetector
from subadjacent.adapters.pyod import PyODDetector
from subadjacent.data.plant import Plant

PYOD_SIGNS = "PyOD's labels are 0 and 1, scikit-learn's are 1 and -1"
EXPECTED_FAILURES = {
    "check_do_not_raise_errors_in_init_or_set_params": "PyOD refuses bad shares when it is built",
    "check_outliers_fit_predict": PYOD_SIGNS,
    "check_outliers_train": PYOD_SIGNS,
}


# what PyOD warns of: that it was given labels, and that fit_predict is old
@pytest.mark.filterwarnings("ignore:y should not be presented", "ignore:Function fit_predict is")
@parametrize_with_checks(
    [PyODDetector(MagnitudeDetector())],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
    xfail_strict=True,
)
def test_the_form_keeps_what_scikit_learn_asks_of_pyod(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def fitted(plant: Plant) -> PyODDetector:
    return PyODDetector(contamination=0.05).fit(plant.train)


def test_the_threshold_leaves_the_share_of_training_rows_above_it() -> None:
    """The magnitudes of 0, 1, …, 99 around their mean are highest at both ends."""
    detector = PyODDetector(MagnitudeDetector(), contamination=0.1).fit(np.arange(100.0)[:, None])
    assert np.flatnonzero(detector.labels_).tolist() == [*range(5), *range(95, 100)]
    assert detector.threshold_ == np.percentile(detector.decision_scores_, 90)


def test_attributes_are_those_of_every_detector_of_pyod(fitted: PyODDetector, plant: Plant) -> None:
    assert fitted.decision_scores_.shape == fitted.labels_.shape == (len(plant.train),)
    assert set(fitted.labels_) == {0, 1}
    assert fitted.labels_.mean() == pytest.approx(0.05, abs=1e-3)
    for name in ("threshold_", "_mu", "_sigma"):
        assert np.isfinite(getattr(fitted, name))


def test_scores_are_high_where_rows_are_abnormal(fitted: PyODDetector, plant: Plant) -> None:
    scores = fitted.decision_function(plant.test)
    np.testing.assert_array_equal(
        scores, SubAdjacentDetector().fit(plant.train).decision_function(plant.test)
    )
    assert roc_auc_score(plant.labels, scores) > 0.8
    np.testing.assert_array_equal(fitted.predict(plant.test), scores > fitted.threshold_)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_probabilities_are_two_columns_that_add_up_to_one(
    fitted: PyODDetector, plant: Plant, method: str
) -> None:
    found = fitted.predict_proba(plant.test, method=method)
    assert found.shape == (len(plant.test), 2)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_what_pyod_builds_on_detectors_takes_it(plant: Plant) -> None:
    windows = TimeSeriesOD(PyODDetector(MagnitudeDetector()), window_size=5).fit(plant.train)
    assert isinstance(windows.detector_, PyODDetector)
    assert windows.decision_function(plant.test).shape == (len(plant.test),)


def test_a_copy_has_the_parameters_and_nothing_learned(fitted: PyODDetector, plant: Plant) -> None:
    copy = clone(PyODDetector(MagnitudeDetector(smoothing=3), contamination=0.2))
    assert (copy.contamination, copy.get_params()["detector__smoothing"]) == (0.2, 3)
    with pytest.raises(NotFittedError):
        clone(fitted).decision_function(plant.test)


def test_bad_arguments_are_refused(plant: Plant) -> None:
    with pytest.raises(ValueError, match=r"contamination must be in \(0, 0\.5\], got: 0\.700000"):
        PyODDetector(contamination=0.7)
    with pytest.raises(InputError, match="detector must be a detector of subadjacent, or None"):
        PyODDetector(KNN()).fit(plant.train)
    with pytest.raises(InputError, match="X must be one series; got a dict of several"):
        PyODDetector().fit({"p": plant.train})


def test_a_threshold_of_ours_is_refused_with_the_way_out(plant: Plant) -> None:
    adapter = PyODDetector(MagnitudeDetector(), contamination="1/week")
    with pytest.raises(InputError, match=r"SubAdjacentDetector\(contamination='1/week'\)$"):
        adapter.fit(plant.train)


def test_parameters_of_the_default_inside_can_be_set() -> None:
    assert PyODDetector().set_params(detector__smoothing=5).detector.smoothing == 5
