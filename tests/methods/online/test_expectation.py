"""Ridge regressions with a forgetting factor."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.expectation import (
    FEATURES,
    LAGS,
    REACH,
    SUB_ADJACENT,
    Expectation,
    lag_features,
)


def test_features_are_means_of_rows_before() -> None:
    rows = np.arange(100.0)[:, None]
    found = lag_features(rows, np.full((1, 1, 2), [7.0, 8.0]), 1)[0, 0]
    # of row 99: 98, 97, 96, 95, then the means of 91 to 94, 83 to 90, 67 to 82 and 35 to 66
    assert found.tolist() == [1, 98, 97, 96, 95, 92.5, 86.5, 74.5, 50.5, 7, 8]


def test_rows_before_the_first_are_like_it() -> None:
    found = lag_features(np.array([[5.0], [9.0]]), np.zeros((1, 1, 2)), 1)[0, 0]
    assert found.tolist() == [1, *[5.0] * len(LAGS), 0, 0]


def test_rows_one_by_one_have_the_features_of_all_at_once() -> None:
    rows = np.random.default_rng(0).standard_normal((REACH + 9, 2))
    season = np.zeros((9, 2, 2))
    whole = lag_features(rows, season, 9)
    for row in range(9):
        one = lag_features(rows[: REACH + row + 1], season[:1], 1)
        np.testing.assert_allclose(one[0], whole[row], rtol=1e-12)


def test_the_sub_adjacent_regression_sees_no_row_nearer_than_five() -> None:
    nearest = [LAGS[number - 1][0] for number in SUB_ADJACENT[1:-2]]
    assert min(nearest) == 5
    expectation = Expectation(1)
    rng = np.random.default_rng(0)
    expectation.learn(rng.standard_normal((200, 1, FEATURES)), rng.standard_normal((200, 1)), 1.0)
    expectation.request_fit()
    unseen = np.setdiff1d(np.arange(FEATURES), SUB_ADJACENT)
    assert (expectation.weights[1, 0, unseen] == 0).all()
    assert (expectation.weights[0, 0] != 0).all()


def test_a_fit_that_is_put_off_is_that_of_the_rows_until_then() -> None:
    rng = np.random.default_rng(1)
    features, rows = rng.standard_normal((300, 1, FEATURES)), rng.standard_normal((300, 1))
    at_once, later = Expectation(1), Expectation(1)
    for expectation in (at_once, later):
        expectation.learn(features[:200], rows[:200], 1.0)
        expectation.request_fit()
        if expectation is at_once:
            expectation.fit_if_due()
        # what comes after does not count before it is solved again
        expectation.learn(features[200:], rows[200:], 1.0)
    assert (at_once.weights == later.weights).all()
    later.request_fit()
    assert (at_once.weights != later.weights).any()


def wave(count: int, period: float) -> np.ndarray:
    return np.sin(2 * np.pi * np.arange(count) / period)[:, None]


def learned(expectation: Expectation, rows: np.ndarray, forgetting: float = 1.0) -> np.ndarray:
    features = lag_features(rows, np.zeros((len(rows) - REACH, 1, 2)), len(rows) - REACH)
    expectation.learn(features, rows[REACH:], forgetting)
    expectation.request_fit()
    return features


def test_it_is_the_ridge_regression_of_rows_on_features() -> None:
    rows = wave(300, 30) + 0.1 * np.random.default_rng(0).standard_normal((300, 1))
    expectation = Expectation(1)
    features = learned(expectation, rows)
    far = features[:, 0][:, SUB_ADJACENT]
    product = far.T @ far
    product += np.diag(1e-3 * np.diag(product) + 1e-6 * len(far) + 0.5)
    np.testing.assert_allclose(
        expectation.weights[1, 0, SUB_ADJACENT], np.linalg.solve(product, far.T @ rows[REACH:, 0])
    )


def test_a_wave_is_expected_by_both_regressions() -> None:
    expectation = Expectation(1)
    rows = wave(2_000, 30)
    features = learned(expectation, rows)
    near, far = expectation.residuals(features, rows[REACH:])
    assert np.abs(near[200:]).max() < 0.1
    assert np.abs(far[200:]).max() < 0.3


def test_old_rows_are_forgotten() -> None:
    expectation = Expectation(1)
    learned(expectation, wave(1_000, 30))
    for _ in range(40):
        learned(expectation, wave(300, 50), forgetting=0.5)
    fresh = Expectation(1)
    learned(fresh, np.tile(wave(300, 50), (1, 1)))
    features = lag_features(wave(400, 50), np.zeros((100, 1, 2)), 100)
    np.testing.assert_allclose(
        expectation.residuals(features, wave(400, 50)[300:])[1],
        fresh.residuals(features, wave(400, 50)[300:])[1],
        atol=0.05,
    )


def test_some_channels_can_be_learned_anew() -> None:
    rng = np.random.default_rng(0)
    features, values = rng.standard_normal((50, 2, FEATURES)), rng.standard_normal((50, 2))
    expectation, plain = Expectation(2), Expectation(2)
    expectation.learn(features, values, 1.0)
    plain.learn(2 * features, values, 1.0)
    expectation.relearn(np.array([1]), 2 * features, values, np.ones(50))
    np.testing.assert_allclose(expectation.gram[1], plain.gram[1])
    np.testing.assert_allclose(expectation.cross_products[1], plain.cross_products[1])
    assert not np.allclose(expectation.gram[0], plain.gram[0])


def test_before_anything_is_learned_a_row_is_like_those_before() -> None:
    features = lag_features(np.arange(100.0)[:, None], np.zeros((1, 1, 2)), 1)
    near, far = Expectation(1).residuals(features, np.array([[99.0]]))
    assert (near.item(), far.item()) == (1.0, pytest.approx(6.5))
