"""Clusters of high scores and how long scores last: by hand, by definition, and of known series."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import rankdata

from subadjacent.scoring.conformal import autocorrelation_time, cluster_size


def at(rows: int, *high: int) -> np.ndarray:
    """Scores of 0 to just below 1 in no order, and those above 1 that are named."""
    scores = np.random.default_rng(0).permutation(rows) / rows
    scores[list(high)] = 1 + np.arange(1, len(high) + 1) / rows
    return scores


def test_a_cluster_by_hand() -> None:
    # four of forty are high: two pairs with 15 rows between them, so 0, 15 and 0 rows between
    assert cluster_size(at(40, 3, 4, 20, 21)) == pytest.approx(3 * 15 * 14 / (2 * 15**2))
    # 9 rows between each: less than one, which no cluster is
    assert cluster_size(at(40, 0, 10, 20, 30)) == 1
    # side by side, or with one row between them at most
    assert cluster_size(at(40, 10, 11, 13, 14)) == 4


@pytest.mark.parametrize("length", [1, 2, 5, 20])
def test_scores_that_stay_for_some_rows_are_clusters_of_so_many(length: int) -> None:
    scores = np.repeat(np.random.default_rng(length).normal(size=5000), length)
    assert cluster_size(scores) == pytest.approx(length, rel=0.15)
    assert autocorrelation_time(scores) == pytest.approx(length, rel=0.25)


def test_scores_that_only_rise_are_one_cluster_that_lasts() -> None:
    assert cluster_size(np.arange(1000.0)) == 100
    assert autocorrelation_time(np.arange(1000.0)) > 200


@pytest.mark.parametrize("scores", [[1.0], [1.0, 1.0], [3.0] * 50, [0.0, 1.0]])
def test_scores_that_say_nothing_come_one_by_one(scores: list[float]) -> None:
    assert cluster_size(np.array(scores)) == 1
    assert autocorrelation_time(np.array(scores)) == 1


@pytest.mark.parametrize("kept", [0.5, 0.9, 0.98])
def test_the_memory_of_an_autoregression_is_known(kept: float) -> None:
    noise = np.random.default_rng(0).normal(size=100_000)
    scores = lfilter([1], [1, -kept], noise)
    # 1 + 2 (kept + kept ** 2 + …), and of ranks a little less
    assert autocorrelation_time(scores) == pytest.approx((1 + kept) / (1 - kept), rel=0.15)


@pytest.mark.parametrize("rows", [2, 3, 10, 11, 200])
def test_memory_is_that_of_the_definition(rows: int) -> None:
    scores = np.cumsum(np.random.default_rng(rows).normal(size=rows))
    assert autocorrelation_time(scores) == pytest.approx(memory_oracle(scores))
    # an outlier is no more than a highest row
    scores[np.argmax(scores)] *= 1e6
    assert autocorrelation_time(scores) == pytest.approx(memory_oracle(scores))


def memory_oracle(scores: np.ndarray) -> float:
    """Autocorrelations of ranks, summed by pairs while these are above 0."""
    ranks = rankdata(scores) - (len(scores) + 1) / 2
    lags = [float(ranks[lag:] @ ranks[: len(ranks) - lag]) for lag in range(len(ranks))]
    total = -1.0
    for lag in range(0, len(lags) - 1, 2):
        pair = (lags[lag] + lags[lag + 1]) / lags[0]
        if pair <= 0:
            break
        total += 2 * pair
    return max(total, 1.0)
