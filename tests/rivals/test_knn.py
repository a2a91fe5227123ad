"""Neighbours: by hand, against the definition and another library, and what their papers say."""

from __future__ import annotations

import numpy as np
import pytest

from methods.tasks import noise, task
from subadjacent.methods.per_entity import PerEntityMethod
from subadjacent.rivals.knn import (
    NearestMethod,
    NearestVector,
)


def fitted(method: PerEntityMethod, rows: np.ndarray) -> NearestVector:
    found = method._fit_one(task(rows))
    assert isinstance(found, NearestVector)
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


def test_rows_are_compared_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(NearestMethod(), noise())
    whole = model.predict(noise(100, seed=1))
    monkeypatch.setattr("subadjacent.rivals.knn.CHUNK_VALUES", 7 * 10 * 3)
    parts = model.predict(noise(100, seed=1))
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other)


def test_there_are_no_more_neighbours_than_rows() -> None:
    model = fitted(NearestMethod(neighbours=9), np.array([[0.0], [3.0]]))
    assert model.predict(np.array([[-1.0]])).error.tolist() == [4]


def test_no_more_references_are_kept_than_requested() -> None:
    model = fitted(NearestMethod(references=40), noise())
    assert model.references.shape == (40, 3)
    assert {tuple(row) for row in model.references} <= {
        tuple(row) for row in noise().astype(np.float32)
    }
