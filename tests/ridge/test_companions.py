"""What the other channels leave of a channel's residual, and how that is learned."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from subadjacent.ridge.axes import CLIP as LEARNING_CLIP
from subadjacent.ridge.companions import (
    CLIP,
    MIN_VARIANCE,
    SHRINKAGE,
    TIMES,
    Companions,
    CompanionsFit,
    fit_companions,
)
from subadjacent.ridge.folds import folds, guarded

Assessed = list[NDArray[np.bool_]]


HALF = Companions(np.array([[1.0, -0.5], [-0.5, 1.0]], np.float32))


def test_each_channel_expects_half_of_the_other_by_hand() -> None:
    residuals = np.array([[2.0, 2.0], [2.0, 0.0], [2.0, 4.0]])
    assert HALF.unexplained(residuals).tolist() == [[1.0, 1.0], [2.0, -1.0], [0.0, 3.0]]
    # the one that is far out stays far out; the other is put out by half of the cut, not more
    assert HALF.unexplained(np.array([[1e6, 0.0]])).tolist() == [[CLIP, -CLIP / 2]]
    assert HALF.unexplained(np.array([[-1e6, 1.0]])).tolist() == [[-CLIP - 0.5, 1.0 + CLIP / 2]]


def related(rows: int, channels: int = 3, seed: int = 0) -> NDArray[np.float32]:
    """Residuals that share one cause; the more rows, the better known."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=(rows, 1))
    return (cause + 0.3 * rng.normal(size=(rows, channels))).astype(np.float32)


def everywhere(parts: list[NDArray[np.float32]]) -> Assessed:
    return [np.ones(len(part), dtype=bool) for part in parts]


def fit(parts: list[NDArray[np.float32]], assessed: Assessed | None = None) -> CompanionsFit:
    return fit_companions(parts, everywhere(parts) if assessed is None else assessed)


def left_by_regressions(
    seen: NDArray[np.float64], rows: NDArray[np.float64], times: float = 1.0
) -> NDArray[np.float64]:
    """The definition read aloud, with scikit-learn's ridge: a regression for every channel.

    Relations are those of departures from the mean; what is left is of the rows as they are.
    """
    cut = np.clip(seen, -LEARNING_CLIP, LEARNING_CLIP)
    cut = cut - cut.mean(axis=0)
    channels, count = cut.shape[1], len(cut)
    share = times * max(SHRINKAGE, channels / count)
    added = share * (cut**2).sum() / count / channels + MIN_VARIANCE
    left = np.empty_like(rows)
    for channel in range(channels):
        others = [other for other in range(channels) if other != channel]
        expected = np.zeros(len(rows))
        if others:
            slow = Ridge(alpha=added * count, fit_intercept=False)
            expected = slow.fit(cut[:, others], cut[:, channel]).predict(rows[:, others])
        left[:, channel] = rows[:, channel] - expected
    return left


def left_of_folds(rows: NDArray[np.float64], times: float = 1.0) -> NDArray[np.float64]:
    """What relations of rows outside each fold and its guard leave of it."""
    left = np.empty_like(rows)
    for first, last in folds(len(rows)):
        low, high = guarded((first, last), len(rows))
        others = np.concatenate([rows[:low], rows[high:]])
        left[first:last] = left_by_regressions(others, rows[first:last], times)
    return left


@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize("lengths", [(90,), (30, 1, 44), (3, 90)])
def test_what_is_left_is_by_regressions_on_the_other_folds(
    lengths: tuple[int, ...], channels: int
) -> None:
    parts = [related(rows, channels, seed=rows) for rows in lengths]
    # values that are cut where relations are learned, though not where they are used
    parts[0][0] *= 8
    companions, unseen = fit(parts)
    rows = np.concatenate(parts).astype(np.float64)
    assert [one.shape for one in unseen] == [(rows, channels) for rows in lengths]
    np.testing.assert_allclose(np.concatenate(unseen), left_of_folds(rows), atol=1e-4)
    np.testing.assert_allclose(
        companions.unexplained(rows), left_by_regressions(rows, rows), atol=1e-4
    )


@pytest.mark.parametrize("strength", [0.0, 0.5, 3.0])
def test_the_folds_choose_how_far_relations_of_many_channels_are_held_back(
    strength: float,
) -> None:
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(100, 30)) + strength * rng.normal(size=(100, 1))
    errors = {
        times: float((left_of_folds(rows, times) ** 2 / (rows**2).mean(axis=0)).sum())
        for times in TIMES
    }
    best = min(errors, key=lambda times: errors[times])
    # noise is held back, a common cause is not
    assert best == {0.0: TIMES[-1], 0.5: best, 3.0: TIMES[0]}[strength]
    companions, unseen = fit([rows.astype(np.float32)])
    np.testing.assert_allclose(unseen[0], left_of_folds(rows, best), atol=1e-3)
    np.testing.assert_allclose(
        companions.unexplained(rows), left_by_regressions(rows, rows, best), atol=1e-3
    )


def test_with_many_rows_there_is_nothing_to_choose() -> None:
    # relations that turn round between folds would rather be held back
    rows = related(1000, channels=4, seed=9)
    rows[::2, 0] *= -1
    rows[500:, 1] *= -1
    expected = left_by_regressions(rows.astype(np.float64), rows.astype(np.float64))
    np.testing.assert_allclose(fit([rows]).companions.unexplained(rows), expected, atol=1e-3)


def test_rows_that_are_not_assessed_count_for_nothing() -> None:
    parts = [related(60, seed=1), related(45, seed=2)]
    assessed = [np.arange(60) >= 13, np.arange(45) % 3 > 0]
    companions, unseen = fit(parts, assessed)
    spoiled = [
        np.where(where[:, None], part, 5) for part, where in zip(parts, assessed, strict=True)
    ]
    again = fit(spoiled, assessed)
    np.testing.assert_array_equal(again.companions.weights, companions.weights)
    kept = [part[where] for part, where in zip(parts, assessed, strict=True)]
    apart = fit(kept)
    np.testing.assert_array_equal(apart.companions.weights, companions.weights)
    for one, other, where, alone in zip(unseen, again.unseen, assessed, apart.unseen, strict=True):
        assert not one[~where].any()
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one[where], alone)


def test_without_assessed_rows_there_are_no_relations_and_nothing_is_left() -> None:
    for lengths in ((5,), (5, 9)):
        parts = [related(rows) for rows in lengths]
        companions, unseen = fit(parts, [np.zeros(rows, dtype=bool) for rows in lengths])
        np.testing.assert_array_equal(companions.weights, np.eye(3))
        assert not any(one.any() for one in unseen)
        assert [len(one) for one in unseen] == list(lengths)


def test_fewer_rows_than_folds_are_enough() -> None:
    for rows in (1, 2, 4):
        companions, unseen = fit([related(rows)])
        assert np.isfinite(companions.weights).all()
        np.testing.assert_array_equal(np.diag(companions.weights), 1)
        assert unseen[0].shape == (rows, 3)
        assert np.isfinite(unseen[0]).all()
