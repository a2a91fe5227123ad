"""Detectors without a network: by hand, against other libraries, and what all keep to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA

from methods.tasks import noise, task
from subadjacent import (
    BaseDetector,
    InputError,
    KNNDetector,
    LinearForecastDetector,
    MagnitudeDetector,
    MatrixProfileDetector,
    PCADetector,
    RandomDetector,
    SubPCADetector,
    TrainSeries,
)
from subadjacent.methods.method import State
from subadjacent.methods.per_entity import PerEntityMethod
from subadjacent.rivals.knn import NearestMethod
from subadjacent.rivals.linear import ForecastMethod
from subadjacent.rivals.matrix_profile import ProfileMethod

CONTROLS = (MagnitudeDetector, PCADetector, RandomDetector, SubPCADetector)
every_control = pytest.mark.parametrize("kind", CONTROLS)


def rows(n: int = 300, channels: int = 6, seed: int = 0) -> np.ndarray:
    """Three hidden walks, mixed into the channels."""
    rng = np.random.default_rng(seed)
    hidden = np.sin(np.cumsum(rng.uniform(0, 0.4, size=(n, 3)), axis=0))
    return hidden @ rng.normal(size=(3, channels)) + 0.1 * rng.normal(size=(n, channels))


def standardised(train: np.ndarray, test: np.ndarray) -> np.ndarray:
    scaled = np.clip((test - train.mean(axis=0)) / train.std(axis=0), -10, 10)
    return scaled.astype(np.float32).astype(float)


# ---- on fingers


def test_magnitude_by_hand() -> None:
    train = np.array([[0.0, 10.0], [2.0, 30.0]] * 5)  # means 1 and 20, deviations 1 and 10
    detector = MagnitudeDetector().fit(train)
    scores = detector.decision_function([[1.0, 20.0], [3.0, 20.0], [3.0, 50.0], [1e6, 20.0]])
    np.testing.assert_allclose(scores, [0.0, 2.0, 6.5, 50.0])
    unusual = detector.explain([[3.0, 50.0]])
    # both channels have a mean square of 1 in training
    np.testing.assert_allclose(unusual, [[4 / 1.001, 9 / 1.001]])


def test_pca_by_hand() -> None:
    """Two channels that move together: what is off their line is not explained."""
    train = np.array([[-1.0, -1.0], [1.0, 1.0]] * 10)
    detector = PCADetector().fit(train)
    scores = detector.decision_function([[2.0, 2.0], [1.0, -1.0], [2.0, 0.0]])
    # (2, 0) is nearest to (1, 1): a square of 1 in each channel
    np.testing.assert_allclose(scores, [0.0, 1.0, 1.0], atol=1e-12)
    assert detector.assess([[2.0, 0.0]]).expected[0].tolist() == pytest.approx([1.0, 1.0])


def test_random_scores_follow_from_the_seed_the_entity_and_the_place_alone() -> None:
    train = rows()
    detector = RandomDetector(random_state=3).fit({"a": train, "b": train})
    found = detector.decision_function({"a": train, "b": train})
    assert not np.array_equal(found["a"], found["b"])
    np.testing.assert_array_equal(
        detector.decision_function({"a": np.zeros((40, 6))})["a"], found["a"][:40]
    )
    other = RandomDetector(random_state=4).fit({"a": train, "b": train})
    assert not np.array_equal(other.decision_function({"a": train})["a"], found["a"])
    assert found["a"].min() >= 0
    assert found["a"].max() <= 1
    assert abs(found["a"].mean() - 0.5) < 0.1


# ---- against scikit-learn, from raw rows to scores


def windows_oracle(values: np.ndarray, length: int) -> np.ndarray:
    return np.array([values[i : i + length].ravel() for i in range(len(values) - length + 1)])


@pytest.mark.parametrize(("window", "components"), [(1, 2), (7, 4), (7, 100)])
def test_sub_pca_scores_a_row_by_the_windows_that_cover_it(window: int, components: int) -> None:
    train = rows()
    most = min(components, 6 * window - 1)
    reference = PCA(n_components=most, svd_solver="full").fit(
        windows_oracle(standardised(train, train), window)
    )
    detector = SubPCADetector(window=window, components=components).fit(train)
    for n in (7, 8, 13, 14, 200):
        test = rows(n, seed=1)
        cut = windows_oracle(standardised(train, test), window)
        errors = ((cut - reference.inverse_transform(reference.transform(cut))) ** 2).mean(axis=1)
        expected = [
            np.mean([errors[one] for one in range(len(errors)) if one <= row < one + window])
            for row in range(n)
        ]
        np.testing.assert_allclose(detector.decision_function(test), expected, rtol=1e-3, atol=1e-6)


# ---- what all of them keep to


@every_control
def test_rows_before_a_break_in_the_clock_do_not_reach_behind_it(kind: type[BaseDetector]) -> None:
    detector = kind(smoothing=5).fit(rows())
    first, second = rows(50, seed=1), rows(30, seed=2)
    whole = TrainSeries(np.concatenate([first, second]), starts=(0, 50))
    np.testing.assert_allclose(
        detector.decision_function(whole)[50:], detector.decision_function(second), rtol=1e-9
    )


@pytest.mark.parametrize("kind", [MagnitudeDetector, PCADetector, SubPCADetector])
def test_a_new_entity_is_assessed_by_all(kind: type[BaseDetector]) -> None:
    a, b = rows(seed=1), 5 * rows(seed=2) + 3
    both = kind().fit({"a": a, "b": b})
    # all rows as one series, broken between the two
    pooled = kind()
    joined = TrainSeries(np.concatenate([a, b]), starts=(0, len(a)))
    pooled.fit(joined)
    test = rows(seed=3)
    np.testing.assert_allclose(
        both.decision_function({"new": test})["new"], pooled.decision_function(test), rtol=1e-4
    )


REFUSED: list[tuple[type[BaseDetector], str, Any, str]] = [
    (MagnitudeDetector, "smoothing", 0, "a whole number of at least 1"),
    (MagnitudeDetector, "clip", 0, "a finite number above 0"),
    (MagnitudeDetector, "fill_limit", -1, "a whole number"),
    (PCADetector, "variance", 0, "a finite number above 0; got 0"),
    (PCADetector, "variance", 1.0, "below 1; got 1.0"),
    (SubPCADetector, "window", 0, "a whole number of at least 1; got 0"),
    (SubPCADetector, "components", 0, "a whole number of at least 1"),
    (SubPCADetector, "components", 1.5, "a whole number of at least 1; got 1.5"),
    (RandomDetector, "random_state", "x", "None, a whole number"),
    (KNNDetector, "neighbours", 0, "a whole number"),
    (KNNDetector, "window", 0, "a whole number"),
    (KNNDetector, "window", 1_001, "a whole number of at most"),
    (KNNDetector, "references", 0, "a whole number"),
    (LinearForecastDetector, "window", 0, "a whole number of at least 1"),
    (LinearForecastDetector, "window", 10_001, "a whole number of at most 10,000"),
    (LinearForecastDetector, "penalty", 0, "a finite number above 0"),
    (MatrixProfileDetector, "window", 2, "a whole number"),
    (MatrixProfileDetector, "window", 1_001, "a whole number of at most"),
    (MatrixProfileDetector, "references", 0, "a whole number"),
]


def test_a_bad_parameter_is_refused_by_fit() -> None:
    for kind, name, value, rule in REFUSED:
        with pytest.raises(InputError, match=f"{name} must be {rule}"):
            kind(**{name: value}).fit(rows())


# the method → a name in the state of a model of 300 rows of 3 channels, a value, and the refusal
DAMAGED: dict[PerEntityMethod, list[tuple[str, Any, str]]] = {
    NearestMethod(window=2): [
        ("references", np.zeros((9, 5)), r"references must have shape \(9, 6\); got \(9, 5\)"),
        ("references", np.full((9, 6), np.nan), "references must be finite"),
        ("neighbours", 301, "neighbours must be at most 299, as references; got 301"),
        ("neighbours", 0, "neighbours must be a whole number of at least 1"),
        ("window", 0, "window must be a whole number of at least 1"),
    ],
    ForecastMethod(window=2): [
        ("weights", np.zeros((5, 3)), r"weights must have shape \(6, 3\)"),
        ("weights", np.full((6, 3), np.inf), "weights must be finite"),
        ("offset", np.zeros(2), r"offset must have shape \(3,\)"),
        ("window", 0, "window must be a whole number of at least 1"),
    ],
    ProfileMethod(window=5): [
        ("references", np.zeros((9, 2)), r"references must have shape \(9, 3\)"),
        ("starts", np.array([0.0]), "starts must hold whole numbers; got float64"),
        ("starts", np.array([1]), "starts must begin with 0 and lie 5 rows apart at least"),
        ("starts", np.array([0, 297]), "starts must begin with 0 and lie 5 rows apart"),
        ("starts", np.array([], dtype=np.int64), "starts must begin with 0"),
        ("window", 2, "window must be a whole number of at least 3"),
        ("window", 301, "starts must begin with 0 and lie 301 rows apart"),
    ],
}


def test_a_state_that_does_not_fit_is_refused() -> None:
    for method, changes in DAMAGED.items():
        arrays, facts = method._fit_one(task(noise())).state()
        for name, value, message in changes:
            changed = [part | {name: value} if name in part else part for part in (arrays, facts)]
            with pytest.raises(InputError, match=message):
                method._restore(State(*changed), 3)


# ---- the real sets
