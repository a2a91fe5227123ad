"""Linear forecasts: by hand, against scikit-learn, and of a process whose weights are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from methods.tasks import noise, task
from subadjacent.rivals.linear import Forecast, ForecastMethod


def fitted(rows: np.ndarray, starts: tuple[int, ...] = (0,), **settings: Any) -> Forecast:
    found = ForecastMethod(**settings)._fit_one(task(rows, starts))
    assert isinstance(found, Forecast)
    return found


def walk(n: int = 300, channels: int = 3, seed: int = 0) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(size=(n, channels))
    return (np.cumsum(steps, axis=0) % 7).astype(np.float32).astype(float)


def test_a_forecast_by_hand() -> None:
    """The sum of the two rows before, and one more."""
    model = Forecast(np.array([[1.0], [1.0]]), np.array([1.0]), length=2)
    found = model.predict(np.array([[1.0], [2.0], [4.0], [6.0]]))
    # 1 stands for both rows before the first
    assert found.expected.tolist() == [[3], [3], [4], [7]]
    assert found.error.tolist() == [4, 1, 0, 1]


@pytest.mark.parametrize(("window", "penalty"), [(1, 1e-3), (4, 1.0), (4, 300.0)])
def test_weights_are_those_of_scikit_learn(window: int, penalty: float) -> None:
    rows, test = walk(), walk(60, seed=1)
    lagged = np.array([rows[end - window : end].ravel() for end in range(window, len(rows))])
    other = Ridge(alpha=penalty).fit(lagged, rows[window:])
    model = fitted(rows, window=window, penalty=penalty)
    np.testing.assert_allclose(model.weights, other.coef_.T, atol=1e-8)
    wanted = other.predict(
        np.array([test[end - window : end].ravel() for end in range(window, len(test))])
    )
    found = model.predict(test)
    np.testing.assert_allclose(found.expected[window:], wanted, atol=1e-8)
    np.testing.assert_allclose(found.error[window:], ((test[window:] - wanted) ** 2).mean(axis=1))


def test_no_window_reaches_over_a_break() -> None:
    """Two levels: across the break the rows before would say the wrong thing."""
    rows = np.concatenate([noise(100, 1), 5 + noise(100, 1, seed=1)])
    lagged = np.concatenate([rows[:99], rows[100:199]])
    other = Ridge(alpha=1.0).fit(lagged, np.concatenate([rows[1:100], rows[101:]]))
    model = fitted(rows, starts=(0, 100), window=1)
    np.testing.assert_allclose(model.weights, other.coef_.T.reshape(1, 1), rtol=1e-6)


def test_so_many_channels_are_looked_back_on_less_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subadjacent.rivals.linear.MAX_PREDICTORS", 8)
    assert fitted(walk(), window=5).length == 2
    assert fitted(walk(channels=9), window=5).length == 1
    assert fitted(walk(channels=1), window=5).length == 5
