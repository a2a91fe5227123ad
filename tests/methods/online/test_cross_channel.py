"""What a channel is expected to be, given the other channels of the same row."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.cross_channel import (
    CLIP,
    MAX_CHANNELS,
    PENALTY,
    PENALTY_ROWS,
    CrossChannelRegression,
    has_relations,
)

EXACT = np.array([[-1.0, -2.0], [1.0, 2.0]])
"""Two channels, the second twice the first, with mean 0 and deviations 1 and 2."""


def learned(rows: np.ndarray, batches: int = 1) -> CrossChannelRegression:
    relations = CrossChannelRegression(rows.shape[1])
    for batch in np.array_split(rows, batches):
        relations.learn(batch, 1.0)
    relations.request_fit()
    return relations


def test_a_channel_is_expected_at_the_share_that_the_penalty_leaves() -> None:
    # the correlation is 1, so that the coefficient is 1 / (1 + penalty), of two rows
    share = 1 / (1 + PENALTY + PENALTY_ROWS * 2 / 2)
    residuals = learned(EXACT).residuals(np.array([[1.0, 2.0], [1.0, -2.0], [0.0, 2.0]]))
    expected = [[1 - share, 2 - 2 * share], [1 + share, -2 - 2 * share], [-share, 2]]
    np.testing.assert_allclose(residuals, expected, rtol=1e-5)


@pytest.mark.parametrize("channels", [2, 3, 7])
def test_residuals_are_those_of_a_ridge_regression_of_each_channel(channels: int) -> None:
    rng = np.random.default_rng(channels)
    rows = rng.normal(size=(200, channels)) @ rng.normal(size=(channels, channels)) + 5
    relations = learned(rows)
    residuals = relations.residuals(rows[:9])
    centred, deviation = rows - rows.mean(axis=0), rows.std(axis=0)
    standardised = centred / deviation
    penalty = PENALTY + PENALTY_ROWS * channels / len(rows)
    for channel in range(channels):
        others = np.delete(standardised, channel, axis=1)
        gram = others.T @ others / len(rows) + penalty * np.eye(channels - 1)
        weights = np.linalg.solve(gram, others.T @ standardised[:, channel] / len(rows))
        expected = (standardised[:, channel] - others @ weights) * deviation[channel]
        np.testing.assert_allclose(residuals[:, channel], expected[:9], rtol=1e-4, atol=1e-5)


def test_a_wild_channel_does_not_make_the_others_depart_without_bounds() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 1)) + 0.1 * rng.normal(size=(500, 3))
    wild = np.array([[1e9, 0.0, 0.0]])
    residuals = np.abs(learned(rows).residuals(wild))[0]
    assert residuals[1:].max() < CLIP * rows.std()
    assert residuals[0] == residuals.max()


def test_old_rows_are_forgotten() -> None:
    relations = learned(np.tile(EXACT, (50, 1)))
    relations.learn(np.tile(EXACT * [1, -1], (50, 1)), 0.0)
    relations.request_fit()
    assert abs(relations.residuals(np.array([[1.0, -2.0]]))).max() < 0.1


def test_a_channel_that_stands_still_tells_nothing_of_others() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=300), np.full(300, 3.0)])
    residuals = learned(rows).residuals(rows[:5])
    np.testing.assert_allclose(residuals[:, 0], rows[:5, 0] - rows[:, 0].mean(), rtol=1e-4)
    np.testing.assert_allclose(residuals[:, 1], 0, atol=1e-5)


def test_one_channel_and_very_many_have_no_relations() -> None:
    assert [has_relations(count) for count in (1, 2, MAX_CHANNELS, MAX_CHANNELS + 1)] == [
        False,
        True,
        True,
        False,
    ]
    alone = CrossChannelRegression(1)
    alone.learn(np.ones((16, 1)), 1.0)
    alone.request_fit()
    alone.fit_if_due()
    assert not alone.applies
    assert alone.state()["covariance"].size == 0


def test_what_was_learned_is_restored_and_goes_on_alike() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(120, 4)) @ rng.normal(size=(4, 4))
    relations, again = learned(rows), CrossChannelRegression(4)
    again.restore(relations.state())
    for each in (relations, again):
        each.learn(rows[:16] * 2, 0.9)
        each.request_fit()
    np.testing.assert_array_equal(again.residuals(rows), relations.residuals(rows))
