"""Detectors of PyOD and scikit-learn with our interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import pytest
from pyod.models.knn import KNN
from pyod.models.mad import MAD
from pyod.models.pca import PCA
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from subadjacent import InputError, MagnitudeDetector, WrappedDetector, wrap
from subadjacent.adapters.pyod import PyODDetector
from subadjacent.adapters.sklearn import SklearnOutlierDetector
from subadjacent.data.plant import Plant

FOREST = IsolationForest(n_estimators=10, random_state=0)
# isolation forests and local outlier factors are in the registry, and keep to its contract
FOREIGN = (
    OneClassSVM(nu=0.05),
    make_pipeline(StandardScaler(), FOREST),
    KNN(),
    PCA(),
    make_pipeline(StandardScaler(), KNN()),
)

# rows of mean 0 and deviation 1: standardised, they are what they are
UNIT = np.tile([[-1.0], [1.0]], (100, 1))


class Size(OutlierMixin, BaseEstimator):
    """Scikit-learn's form of a detector: low scores are abnormal; these are minus sizes."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        self.rows_ = X
        return self

    def score_samples(self, X: Any) -> Any:
        return -np.abs(X).sum(axis=1)


class Step(Size):
    """Two rows side by side: how far the second is from the first; no score_samples."""

    score_samples = property()  # type: ignore[assignment]

    def decision_function(self, X: Any) -> Any:
        return -np.abs(X[:, 1] - X[:, 0])


class Memory(Size):
    """0 for rows that it has seen, else the distance to the nearest of these."""

    def score_samples(self, X: Any) -> Any:
        return -np.abs(X[:, None] - self.rows_[None]).sum(axis=2).min(axis=1)


class Lost(Size):
    def score_samples(self, X: Any) -> Any:
        return np.where(X[:, 0] > 5, np.nan, 0.0)


class Pairs(Size):
    def score_samples(self, X: Any) -> Any:
        return np.zeros((len(X), 2))


def test_scores_of_scikit_learn_are_turned_round_and_those_of_pyod_are_not() -> None:
    new = np.array([[0.5], [3.0], [-4.0]])
    np.testing.assert_allclose(wrap(Size()).fit(UNIT).decision_function(new), [0.5, 3, 4])
    nearest = wrap(KNN(n_neighbors=1)).fit(UNIT)
    # rows of training are at -1 and 1
    np.testing.assert_allclose(nearest.decision_function(new), [0.5, 2, 3], atol=1e-6)


def test_a_window_has_rows_side_by_side_the_oldest_first() -> None:
    stepping = wrap(Step(), window=2).fit(UNIT)
    # what came before the first row was like it
    new = np.array([[1.0], [1.0], [4.0], [2.0]])
    np.testing.assert_allclose(stepping.decision_function(new), [0, 0, 3, 2])


def test_a_channel_is_worth_what_the_score_loses_at_its_mean() -> None:
    """The size of a row is the sum over channels: without one, it loses that channel's."""
    rows = np.column_stack([UNIT, -UNIT])
    found = wrap(Size()).fit(rows).explain(np.array([[3.0, 1.0], [0.0, -2.0]]))
    # sizes of training rows are all 1 + 1, so a usual loss is 1 in whatever unit
    np.testing.assert_allclose(found, [[3, 1], [0, 2]], rtol=1e-3)
    squares = wrap(Size(), explained_by="deviation").fit(rows)
    np.testing.assert_allclose(
        squares.explain(np.array([[3.0, 1.0], [0.0, -2.0]])), [[9, 1], [0, 4]], rtol=2e-3
    )


def test_occlusion_covers_the_channel_in_all_rows_of_a_window() -> None:
    rows = np.column_stack([UNIT, -UNIT])
    new = np.zeros((5, 2))
    new[2, 0] = 3.0
    found = wrap(Size(), window=3).fit(rows).explain(new)
    # a window loses 3 with the first channel, wherever in it that is; usual are 1 + 1 + 1
    np.testing.assert_allclose(found, [[0, 0], [0, 0], [1, 0], [1, 0], [1, 0]], rtol=1e-3)


def test_training_rows_are_assessed_by_copies_that_have_not_seen_them() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2))
    remembering = wrap(Memory()).fit(rows)
    np.testing.assert_allclose(remembering.decision_function(rows), 0, atol=1e-6)
    assert remembering.decision_scores_.min() > 0
    assert remembering.threshold_ > 0.1


def test_as_many_training_windows_are_learned_from_as_are_requested() -> None:
    small = wrap(Memory(), samples=50).fit(UNIT)
    model = small.models_.of(None).predictor
    assert len(model.foreign.detector.rows_) == 50


@parametrize_with_checks([wrap(KNN(), explained_by="deviation")])
def test_a_wrapped_detector_keeps_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
def test_a_spike_scores_highest_and_each_alarm_names_a_channel(foreign: Any, plant: Plant) -> None:
    detector = wrap(foreign, contamination=0.05).fit(plant.train)
    alarms = detector.alarms(plant.test)
    spiked = plant.base.copy()
    spiked[500:505] += 20 * plant.train.std(axis=0)
    scores = detector.decision_function(spiked)
    assert scores[500:505].max() > np.delete(scores, slice(450, 550)).max()
    anomalous = np.flatnonzero(detector.predict(plant.test))
    assert len(anomalous)
    # each event is one alarm, and begins with a row that is anomalous
    (decided,) = detector.assess(plant.test).decisions
    assert len(alarms) == len(decided.events)
    assert {event.first for event in decided.events} <= set(anomalous.tolist())
    assert all(alarm.causes[0].channel in detector.channels_ for alarm in alarms)
    unusual = detector.explain(plant.test)
    assert np.isfinite(unusual).all()
    assert (unusual >= 0).all()


def test_the_given_detector_stays_as_it_is_and_copies_have_its_parameters(plant: Plant) -> None:
    given = KNN(n_neighbors=3)
    detector = wrap(given, window=4).fit(plant.train)
    assert not hasattr(given, "decision_scores_")
    copy = clone(detector)
    assert (copy.detector.n_neighbors, copy.window) == (3, 4)
    assert copy.set_params(detector__n_neighbors=7).detector.n_neighbors == 7


def test_it_cannot_be_saved_and_the_way_out_works(plant: Plant, tmp_path: Path) -> None:
    detector = wrap(FOREST).fit(plant.train)
    with pytest.raises(InputError, match=r"IsolationForest has no form but a pickle.*joblib\.dump"):
        detector.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    joblib.dump(detector, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(
        again.decision_function(plant.test), detector.decision_function(plant.test)
    )


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (KMeans(), r"of PyOD \(BaseDetector\) or of outliers in scikit-learn.*got KMeans$"),
        (KNN, r"got <class 'pyod\.models\.knn\.KNN'>: make an instance of it"),
        (IsolationForest, r"got <class '.*IsolationForest'>: make an instance of it"),
        ("knn", "got str"),
        (None, "got NoneType"),
        (make_pipeline(StandardScaler(), KMeans()), "got Pipeline"),
        (MagnitudeDetector(), "be of another library; got MagnitudeDetector, which is ours"),
        (SklearnOutlierDetector(), "got SklearnOutlierDetector, which is ours"),
        (PyODDetector(), "or the detector inside the adapter"),
        (LocalOutlierFactor(), "LocalOutlierFactor has them with novelty=True"),
    ],
    ids=lambda one: one[:20] if isinstance(one, str) else "",
)
def test_anything_else_is_refused(bad: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"(?s)^detector must.*{said}"):
        wrap(bad)
    with pytest.raises(InputError, match=r"^detector must"):
        WrappedDetector(detector=bad).fit(UNIT)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"window": 0}, "window must be a whole number of at least 1; got 0"),
        ({"samples": 0}, "samples must be a whole number of at least 1; got 0"),
        ({"explained_by": "shap"}, "explained_by must be one of occlusion, deviation; got 'shap'"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        wrap(FOREST, **parameters).fit(UNIT)


def test_errors_of_the_wrapped_detector_are_passed_on(plant: Plant) -> None:
    with pytest.raises(InputError, match=r"must be fitted on 1,000 rows of 4 values; MAD says: "):
        wrap(MAD()).fit(plant.train)


@pytest.mark.parametrize(("wrong", "said"), [(Lost(), "nan among them"), (Pairs(), r"\(200, 2\)")])
def test_scores_that_are_none_are_refused(wrong: Any, said: str) -> None:
    rows = UNIT.copy()
    rows[-1] = 60.0
    with pytest.raises(InputError, match=f"must give one finite score a row; got .*{said}"):
        wrap(wrong).fit(rows).decision_function(rows)
