"""scikit-learn's outlier form: its own checks, and its signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from reproduce.cases.normal import normal_rows
from subadjacent import InputError, KNNDetector, MagnitudeDetector, SubAdjacentDetector
from subadjacent.adapters.sklearn import SklearnOutlierDetector
from subadjacent.data.plant import Plant


@parametrize_with_checks(
    # a share, since a check demands outliers among rows that are all normal
    [SklearnOutlierDetector(MagnitudeDetector(), contamination=0.1)]
)
def test_the_form_keeps_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_row_far_from_the_mean_is_minus_one_and_scores_low() -> None:
    """One channel of mean 0 and deviation 1: the magnitude of a value is its square."""
    rows = np.tile([[-1.0], [1.0]], (50, 1))
    outlier = SklearnOutlierDetector(MagnitudeDetector(contamination=0.5)).fit(rows)
    new = np.array([[1.0], [3.0], [0.0]])
    np.testing.assert_allclose(outlier.score_samples(new), [-1, -9, 0], rtol=1e-6, atol=1e-6)
    assert outlier.offset_ == -outlier.detector_.threshold_
    np.testing.assert_array_equal(
        outlier.decision_function(new), outlier.score_samples(new) - outlier.offset_
    )
    assert outlier.predict(new).tolist() == [1, -1, 1]


def test_a_share_of_training_rows_are_outliers() -> None:
    rows = np.arange(100.0)[:, None]
    outlier = SklearnOutlierDetector(MagnitudeDetector(), contamination=0.1).fit(rows)
    # the ten that are farthest from the mean, 49.5
    assert np.flatnonzero(outlier.predict(rows) < 0).tolist() == [*range(5), *range(95, 100)]
    # also where scores of rows that were held out differ from those of predict
    rows = np.random.default_rng(0).normal(size=(200, 2))
    outlier = SklearnOutlierDetector(KNNDetector(), contamination=0.1).fit(rows)
    assert (outlier.predict(rows) < 0).sum() == 20


@pytest.mark.parametrize("index", [True, False])
def test_training_rows_have_the_scores_of_models_that_had_not_seen_them(index: bool) -> None:
    rows = pd.DataFrame(normal_rows("white", 600, 2, 0), columns=["a", "b"])
    times = pd.date_range("2026-01-01", periods=600, freq="min", name="time")
    frame = rows.set_index(times) if index else rows.assign(time=times)
    outlier = SklearnOutlierDetector(KNNDetector()).fit(frame)
    held_out = -np.asarray(outlier.detector_.decision_scores_)
    np.testing.assert_array_equal(outlier.score_samples(frame), held_out)
    # one value more or less makes other rows of them
    changed = frame.copy()
    changed.loc[changed.index[5], "a"] += 1e-9
    assert (outlier.score_samples(changed) != held_out).all()


@pytest.mark.parametrize("share", [0, 0.6, "most", None])
def test_a_share_that_is_none_is_refused(share: Any, plant: Plant) -> None:
    with pytest.raises(InputError, match=r"contamination must be a finite number above 0 and"):
        SklearnOutlierDetector(contamination=share).fit(plant.train)


def test_frames_may_come_and_names_are_kept(plant: Plant) -> None:
    frame = pd.DataFrame(plant.train, columns=list("abcd"))
    outlier = SklearnOutlierDetector(MagnitudeDetector()).fit(frame)
    assert outlier.feature_names_in_.tolist() == list("abcd")
    assert isinstance(outlier.score_samples(frame), np.ndarray)
    assert not hasattr(outlier.fit(plant.train), "feature_names_in_")


def test_the_given_detector_stays_as_it_is(plant: Plant) -> None:
    given = SubAdjacentDetector(contamination=0.02)
    outlier = SklearnOutlierDetector(given).fit(plant.train)
    assert not hasattr(given, "threshold_")
    assert outlier.detector_.contamination == 0.02
    assert outlier.get_params()["detector__contamination"] == 0.02


@pytest.mark.parametrize("several", [dict, list])
def test_several_entities_are_refused(several: type, plant: Plant) -> None:
    X = {"p": plant.train} if several is dict else [plant.train, plant.test]
    outlier = SklearnOutlierDetector(MagnitudeDetector())
    with pytest.raises(InputError, match=f"X must be one series; got a {several.__name__} of sev"):
        outlier.fit(X)
    with pytest.raises(InputError, match="X must be one series"):
        outlier.fit(plant.train).predict(X)


def test_a_detector_of_another_library_and_a_class_are_refused_with_the_way_out(
    plant: Plant,
) -> None:
    with pytest.raises(InputError, match=r"got IsolationForest: subadjacent\.wrap takes those of"):
        SklearnOutlierDetector(IsolationForest()).fit(plant.train)
    with pytest.raises(InputError, match=r"got the class KNNDetector: .* KNNDetector\(\)$"):
        SklearnOutlierDetector(KNNDetector).fit(plant.train)


def test_parameters_of_the_default_inside_can_be_set_and_searched(plant: Plant) -> None:
    adapter = SklearnOutlierDetector().set_params(detector__smoothing=5, contamination=0.1)
    assert isinstance(adapter.detector, SubAdjacentDetector)
    assert (adapter.detector.smoothing, adapter.contamination) == (5, 0.1)
    labels = np.where(plant.labels, -1, 1)
    search = GridSearchCV(
        SklearnOutlierDetector(),
        {"detector__smoothing": [1, 5]},
        scoring="roc_auc",
        cv=TimeSeriesSplit(2),
    )
    search.fit(plant.test, labels)
    assert search.best_params_["detector__smoothing"] in (1, 5)
