"""Neighbours: by hand, against the definition and another library, and what their papers say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor

from methods.tasks import noise, task
from subadjacent.errors import InputError
from subadjacent.methods.method import State
from subadjacent.methods.neighbours import (
    NEAREST,
    Density,
    DensityMethod,
    NearestMethod,
    NearestVector,
    NeighbourPredictor,
    densities,
)
from subadjacent.methods.per_entity import PerEntityMethod


def fitted(method: PerEntityMethod, rows: np.ndarray) -> NeighbourPredictor:
    found = method._fit_one(task(rows))
    assert isinstance(found, NeighbourPredictor)
    return found


# ---- the distance to the k-th neighbour


def test_the_second_neighbour_by_hand() -> None:
    model = fitted(NearestMethod(neighbours=2), np.array([[0.0, 0.0], [1.0, 0.0], [6.0, 8.0]]))
    found = model.predict(np.array([[0.0, 0.0], [4.0, 4.0]]))
    # from the origin (1, 0) is second; from (4, 4) it is the distance 5 of (1, 0), after sqrt(20)
    assert found.expected.tolist() == [[1, 0], [1, 0]]
    assert found.error.tolist() == [1, 5]
    assert found.departures is not None
    assert found.departures.tolist() == [[1, 0], [9, 16]]


def test_windows_are_compared_as_one_vector() -> None:
    model = fitted(NearestMethod(neighbours=1, window=2), np.array([[0.0], [1.0], [2.0]]))
    found = model.predict(np.array([[0.0], [1.0], [5.0]]))
    # (0, 0) to (0, 1); (0, 1); (1, 5) to (1, 2)
    assert found.error.tolist() == [1, 0, 3]
    assert found.expected.tolist() == [[1], [1], [2]]


@pytest.mark.parametrize("window", [1, 4])
def test_the_distance_is_that_of_the_definition(window: int) -> None:
    train, test, k = noise(), noise(50, seed=1), 7
    found = fitted(NearestMethod(neighbours=k, window=window), train).predict(test)
    for row in range(window - 1, 50):
        own = test[row - window + 1 : row + 1]
        distances = [
            np.sqrt(((own - train[start : start + window]) ** 2).sum())
            for start in range(len(train) - window + 1)
        ]
        assert found.error[row] == pytest.approx(sorted(distances)[k - 1], rel=1e-12)


def test_departures_are_parts_of_the_squared_distance() -> None:
    found = fitted(NearestMethod(window=3), noise()).predict(noise(80, seed=1))
    assert found.departures is not None
    np.testing.assert_allclose(found.departures.sum(axis=1), found.error**2)


def test_rows_are_compared_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(DensityMethod(), noise())
    whole = model.predict(noise(100, seed=1))
    monkeypatch.setattr("subadjacent.methods.neighbours.VALUES", 7 * 20 * 3)
    parts = model.predict(noise(100, seed=1))
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other)


def test_there_are_no_more_neighbours_than_rows() -> None:
    model = fitted(NearestMethod(neighbours=9), np.array([[0.0], [3.0]]))
    assert model.predict(np.array([[-1.0]])).error.tolist() == [4]
    assert fitted(DensityMethod(neighbours=9), np.array([[0.0], [3.0], [4.0]])).k == 2


def test_no_more_references_are_kept_than_asked_for() -> None:
    model = fitted(NearestMethod(references=40), noise())
    assert model.references.shape == (40, 3)
    assert {tuple(row) for row in model.references} <= {
        tuple(row) for row in noise().astype(np.float32)
    }


# ---- how dense neighbours lie


def test_the_local_outlier_factor_by_hand() -> None:
    """Rows at 0, 1, 2 and one neighbour: every reachability is 1, so every density is."""
    model = fitted(DensityMethod(neighbours=1), np.array([[0.0], [1.0], [2.0]]))
    assert isinstance(model, Density)
    assert model.radius.tolist() == [1, 1, 1]
    assert model.density.tolist() == [1, 1, 1]
    found = model.predict(np.array([[5.0], [2.5]]))
    # 5 reaches 2 in 3; 2.5 lies within the radius of 2
    assert found.error.tolist() == [3, 1]
    assert found.expected.tolist() == [[2], [2]]
    assert found.departures is not None
    assert found.departures.tolist() == [[9], [0.25]]


@pytest.mark.parametrize("k", [1, 5, 30])
def test_the_factor_is_that_of_scikit_learn(k: int) -> None:
    train, test = noise(), 2 * noise(100, seed=1)
    other = LocalOutlierFactor(n_neighbors=k, novelty=True).fit(train)
    found = fitted(DensityMethod(neighbours=k), train).predict(test)
    np.testing.assert_allclose(found.error, -other.score_samples(test), rtol=1e-6)


def test_a_row_near_a_dense_cluster_is_odder_than_one_among_scattered_rows() -> None:
    """What distances cannot tell: the example that the factor was made for."""
    rng = np.random.default_rng(0)
    dense, scattered = rng.normal(0, 0.1, (200, 2)), rng.normal(20, 4, (200, 2))
    train = np.concatenate([dense, scattered])
    near, among = np.array([[1.0, 1.0]]), np.array([[20.0, 20.0]])
    lof = fitted(DensityMethod(), train)
    assert lof.predict(near).error > 5 * lof.predict(among).error
    assert lof.predict(among).error == pytest.approx(1, abs=0.2)
    ramaswamy = fitted(NearestMethod(neighbours=20), train)
    assert ramaswamy.predict(near).error < 1.2 * ramaswamy.predict(among).error


def test_rows_that_repeat_are_dense_but_not_infinitely() -> None:
    model = fitted(DensityMethod(neighbours=2), np.zeros((50, 4)))
    # a hundredth of a deviation in each of four values
    floor = NEAREST * 2
    found = model.predict(np.array([[0.0] * 4, [1.0, 0, 0, 0]]))
    np.testing.assert_allclose(found.error, [1, 1 / floor])


def test_a_row_alone_has_no_neighbour_but_itself() -> None:
    radius, density = densities(np.ones((1, 4), dtype=np.float32), 1)
    assert radius.tolist() == [0.02]
    assert density.tolist() == [50]


# ---- settings, and what was saved


@pytest.mark.parametrize("method", [NearestMethod, DensityMethod])
@pytest.mark.parametrize(
    ("name", "value"),
    [("neighbours", 0), ("window", 0), ("window", 1_001), ("references", 0)],
)
def test_bad_settings_are_refused(method: Any, name: str, value: int) -> None:
    with pytest.raises(InputError, match=f"{name} must be a whole number"):
        method(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("references", np.zeros((9, 5)), r"references must have shape \(9, 6\); got \(9, 5\)"),
        ("references", np.full((9, 6), np.nan), "references must be finite"),
        ("neighbours", 301, "neighbours must be at most 299, as references; got 301"),
        ("neighbours", 0, "neighbours must be a whole number of at least 1"),
        ("window", 0, "window must be a whole number of at least 1"),
        ("radius", np.ones(5), r"radius must have shape \(299,\)"),
        ("radius", np.zeros(299), "radius must be finite and at least 0.01"),
        ("density", np.full(299, -1.0), "density must be finite and at least 0"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(name: str, value: Any, message: str) -> None:
    method = DensityMethod(window=2)
    arrays, facts = fitted(method, noise()).state()
    changed = (arrays | {name: value}, facts) if name in arrays else (arrays, facts | {name: value})
    with pytest.raises(InputError, match=message):
        method._restore(State(*changed), 3)


def test_what_was_saved_comes_back() -> None:
    for method, kind in (
        (NearestMethod(window=2), NearestVector),
        (DensityMethod(window=2), Density),
    ):
        model = fitted(method, noise())
        again = method._restore(model.state(), 3)
        assert type(again) is kind
        for one, other in zip(
            model.predict(noise(20, seed=1)), again.predict(noise(20, seed=1)), strict=True
        ):
            np.testing.assert_array_equal(one, other)
