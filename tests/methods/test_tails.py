"""Tails: by hand, against the definition, and what the paper says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from methods.tasks import noise, task
from subadjacent.errors import InputError
from subadjacent.methods.method import State
from subadjacent.methods.tails import Tails, TailsMethod


def fitted(rows: np.ndarray, **settings: int) -> Tails:
    found = TailsMethod(**settings)._fit_one(task(rows))
    assert isinstance(found, Tails)
    return found


def test_one_channel_by_hand() -> None:
    """Of 1, 2, 3 and the value itself, how many are as low, and as high."""
    found = fitted(np.array([[3.0], [1.0], [2.0]])).predict(np.array([[2.0], [0.0], [9.0], [1.5]]))
    # 3 of 4 are as low as 2 and 3 as high; only 0 itself is as low, only 9 as high;
    # 2 of 4 are as low as 1.5, 3 as high
    np.testing.assert_allclose(found.error, -np.log([3 / 4, 1 / 4, 1 / 4, 2 / 4]))
    assert found.expected.tolist() == [[2]] * 4


def test_the_largest_of_three_sums_counts() -> None:
    """The first channel leans low, the second high: a row may be odd in both longer tails."""
    train = np.array([[-9.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 9.0]])
    model = fitted(train)
    assert model.leans_low.tolist() == [True, False]
    found = model.predict(np.array([[-20.0, 20.0], [-20.0, -20.0], [20.0, 20.0]]))
    alone = np.log(5)
    np.testing.assert_allclose(found.error, [2 * alone] * 3)
    assert found.departures is not None
    np.testing.assert_allclose(found.departures, [[alone, alone]] * 3)


def definition(train: np.ndarray, row: np.ndarray) -> float:
    """Algorithm 1 of the paper, for one row more."""
    every = np.concatenate([train, row[None]])
    low = high = auto = 0.0
    for channel in range(train.shape[1]):
        values = every[:, channel]
        left = -np.log(np.mean(values <= row[channel]))
        right = -np.log(np.mean(values >= row[channel]))
        centred = train[:, channel] - train[:, channel].mean()
        low, high = low + left, high + right
        auto += left if (centred**3).mean() < 0 else right
    return max(low, high, auto)


def test_scores_are_those_of_the_definition() -> None:
    train, test = np.exp(noise(200, 5)) * [1, -1, 1, -1, 1], np.exp(noise(60, 5, seed=1))
    found = fitted(train.astype(np.float32).astype(float)).predict(test)
    wanted = [definition(train.astype(np.float32), row) for row in test]
    np.testing.assert_allclose(found.error, wanted)


def test_departures_add_up_to_the_score() -> None:
    found = fitted(noise()).predict(noise(50, seed=1))
    assert found.departures is not None
    np.testing.assert_allclose(found.departures.sum(axis=1), found.error)
    assert (found.departures >= 0).all()


def test_beyond_all_that_was_seen_farther_is_no_worse() -> None:
    found = fitted(noise()).predict(np.array([[50.0, 0, 0], [5000.0, 0, 0]]))
    assert found.error[0] == found.error[1]


def test_no_unit_or_bend_of_a_channel_matters() -> None:
    """Only the order of values counts, in the lower and the upper tail."""
    train, test = noise(), noise(50, seed=1)
    plain, bent = fitted(train).predict(test), fitted(train**3).predict(test**3)
    np.testing.assert_allclose(bent.error, plain.error, rtol=0.2)
    np.testing.assert_allclose(plain.error[plain.error.argmax()], bent.error[plain.error.argmax()])


def test_no_more_rows_are_kept_than_asked_for() -> None:
    assert fitted(noise(), references=40).ordered.shape == (40, 3)
    with pytest.raises(InputError, match="references must be a whole number of at least 1"):
        TailsMethod(references=0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ordered", np.zeros((9, 2)), r"ordered must have shape \(9, 3\)"),
        ("ordered", np.array([[1.0] * 3, [0.0] * 3]), "ordered must hold values in rising order"),
        ("ordered", np.zeros((0, 3)), "ordered must hold values in rising order"),
        ("leans_low", np.zeros(2), r"leans_low must have shape \(3,\)"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(name: str, value: Any, message: str) -> None:
    arrays, facts = fitted(noise()).state()
    with pytest.raises(InputError, match=message):
        TailsMethod()._restore(State(arrays | {name: value}, facts), 3)


def test_what_was_saved_comes_back() -> None:
    model = fitted(np.exp(noise()) * [1, -1, 1])
    again = TailsMethod()._restore(model.state(), 3)
    rows = noise(30, seed=1)
    np.testing.assert_array_equal(again.predict(rows).error, model.predict(rows).error)
