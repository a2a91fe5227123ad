"""Isolation forests: by hand, against scikit-learn, and what the paper says of their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from methods.tasks import noise, task
from subadjacent.errors import InputError
from subadjacent.methods.method import State
from subadjacent.methods.trees import Forest, ForestMethod, usual_depth


def fitted(method: ForestMethod, rows: np.ndarray, seed: int = 0) -> Forest:
    found = method._fit_one(task(rows, seed=seed))
    assert isinstance(found, Forest)
    return found


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


@pytest.fixture
def one_tree() -> Forest:
    """8 rows: channel 1 cuts 1 off from 7, which channel 0 cuts into 3 and 4."""
    return Forest(
        left=whole(1, 1, 3, 3, 4),
        right=whole(2, 1, 4, 3, 4),
        channel=whole(1, 0, 0, 0, 0),
        cut=np.array([-1.0, 0, 5, 0, 0]),
        count=whole(8, 1, 7, 3, 4),
        roots=whole(0),
        samples=8,
    )


def test_usual_depths_by_hand() -> None:
    # of 3: 2 (ln 2 + 0.5772) - 4/3
    np.testing.assert_allclose(usual_depth(np.array([1, 2, 3])), [0, 1, 1.2073920], rtol=1e-6)


def test_a_tree_by_hand(one_tree: Forest) -> None:
    found = one_tree.predict(np.array([[0.0, -1.0], [5.0, 0.0], [5.5, 0.0]]))
    usual = usual_depth(np.array([8, 3, 4]))
    depths = np.array([1, 2 + usual[1], 2 + usual[2]])
    np.testing.assert_allclose(found.error, 2 ** (-depths / usual[0]))
    assert found.departures is not None
    bits = [[0, 3], [np.log2(7 / 3), np.log2(8 / 7)], [np.log2(7 / 4), np.log2(8 / 7)]]
    np.testing.assert_allclose(found.departures, bits)
    assert found.expected.tolist() == [[0, 0]] * 3


@pytest.mark.parametrize(("n", "samples"), [(500, 256), (100, 256), (2, 2), (1, 256)])
def test_scores_are_those_of_scikit_learn(n: int, samples: int) -> None:
    train, test = noise(n), 3 * noise(100, seed=1)
    other = IsolationForest(n_estimators=20, max_samples=min(samples, n), random_state=7).fit(train)
    found = fitted(ForestMethod(trees=20, samples=samples), train, seed=7).predict(test)
    np.testing.assert_allclose(found.error, -other.score_samples(test), rtol=1e-12)


def test_long_segments_are_judged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(ForestMethod(trees=5), noise(500))
    at_once = model.predict(noise(50, seed=1))
    monkeypatch.setattr("subadjacent.methods.trees.CHUNK", 7)
    for one, other in zip(at_once, model.predict(noise(50, seed=1)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_usual_rows_are_at_most_about_a_half_and_odd_ones_far_above() -> None:
    """What section 2 of the paper says of scores."""
    model = fitted(ForestMethod(), noise(500))
    assert np.median(model.predict(noise(500, seed=1)).error) < 0.5
    assert model.predict(np.full((1, 3), 8.0)).error[0] > 0.7


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_the_channel_that_is_off_departs_most(channel: int) -> None:
    model = fitted(ForestMethod(), noise(500))
    rows = np.zeros((1, 3))
    usual = model.predict(rows).departures
    rows[0, channel] = 6.0
    found = model.predict(rows).departures
    assert usual is not None
    assert found is not None
    assert found[0].argmax() == channel
    assert found[0, channel] > 2 * usual[0, channel]


def test_another_seed_grows_another_forest() -> None:
    first, again, other = (fitted(ForestMethod(trees=3), noise(500), seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.cut, again.cut)
    assert not np.array_equal(first.cut, other.cut)


@pytest.mark.parametrize(
    ("name", "value"), [("trees", 0), ("trees", 10_001), ("samples", 1), ("samples", 100_001)]
)
def test_bad_settings_are_refused(name: str, value: int) -> None:
    with pytest.raises(InputError, match=f"{name} must be a whole number"):
        ForestMethod(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("left", whole(1, 1, 3), r"left must have shape \(5,\)"),
        ("left", whole(1, 1, 2, 2, 4), "left must name nodes that come later, of 5"),
        ("right", whole(2, 1, 5, 3, 4), "right must name nodes that come later, of 5"),
        ("right", np.array([2.0, 1, 4, 3, 4]), "right must hold whole numbers; got float64"),
        ("channel", whole(2, 0, 0, 0, 0), "channel must be below 2"),
        ("channel", whole(-1, 0, 0, 0, 0), "channel must be finite and at least 0"),
        ("cut", np.full(5, np.nan), "cut must be finite"),
        ("count", whole(8, 0, 7, 3, 4), "count must be finite and at least 1"),
        ("roots", whole(5), "roots must be some of 5 nodes"),
        ("roots", whole(-1), "roots must be finite and at least 0"),
        ("roots", whole(), "roots must be some of 5 nodes"),
        ("samples", 0, "samples must be a whole number of at least 1"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(
    one_tree: Forest, name: str, value: Any, message: str
) -> None:
    arrays, facts = one_tree.state()
    changed = (arrays | {name: value}, facts) if name in arrays else (arrays, {name: value})
    with pytest.raises(InputError, match=message):
        ForestMethod()._restore(State(*changed), 2)


def test_what_was_saved_comes_back(one_tree: Forest) -> None:
    rows = noise(30, channels=2)
    again = ForestMethod()._restore(one_tree.state(), 2)
    np.testing.assert_array_equal(again.predict(rows).error, one_tree.predict(rows).error)
