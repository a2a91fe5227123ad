"""Conformal p-values, and how high scores cluster: by hand, by definition, and in shares."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import rankdata
from sklearn.exceptions import NotFittedError

from subadjacent.decision.conformal import (
    Conformal,
    autocorrelation_time,
    block_maxima,
    cluster_size,
    conformal_p_values,
    rank_of,
)
from subadjacent.decision.threshold import threshold_from_dict
from subadjacent.errors import InputError

SWEEP = pytest.mark.sweep


def p_value_oracle(normal: list[float], score: float) -> float:
    """The definition read aloud."""
    return (1 + sum(one >= score for one in normal)) / (len(normal) + 1)


def test_p_values_by_hand() -> None:
    # 0 to 4 of four normal scores are as high
    assert conformal_p_values([1, 2, 2, 3], [9, 3, 2, 1, 0]).tolist() == [0.2, 0.4, 0.8, 1.0, 1.0]


def test_a_chance_cuts_by_hand() -> None:
    # of 99 scores the second highest: above it are p-values of 1 / 100 and 2 / 100
    fitted = Conformal(0.02, cluster=1).fit(np.arange(99))
    assert fitted.threshold_ == 97
    assert fitted.predict([97, 97.5, 98, 99]).tolist() == [0, 1, 1, 1]
    assert fitted.p_values([97, 97.5, 98, 99]).tolist() == [0.03, 0.02, 0.02, 0.01]


def test_a_chance_for_blocks_cuts_by_hand() -> None:
    # blocks of two: 1, 3, …, 37 and a row that is left over
    fitted = Conformal(0.1, block=2, cluster=1).fit([*range(38), 100])
    assert fitted.levels_ == tuple(range(1, 38, 2))
    # of 19 blocks the second highest
    assert fitted.threshold_ == 35
    assert fitted.p_values([36.0]).tolist() == [0.1]
    assert block_maxima(np.array([3.0, 1, 2, 9, 7]), 2).tolist() == [3, 9]


def test_p_values_of_clusters_by_hand() -> None:
    # 6 and 5 say no more than one of them, and so do 2 and 1, 4 and 3
    normal = [6, 5, 2, 1, 4, 3]
    every_second = [[6, 2, 4], [5, 1, 3]]
    # above none, one and two of the three that are left, either way
    expected = np.mean([conformal_p_values(rows, [7, 4.5, 2.5]) for rows in every_second], axis=0)
    assert expected.tolist() == [1 / 4, 2 / 4, 3 / 4]
    assert conformal_p_values(normal, [7, 4.5, 2.5], 2).tolist() == expected.tolist()
    fitted = Conformal(0.5, cluster=2).fit(normal)
    assert fitted.p_values([7, 4.5, 2.5]).tolist() == expected.tolist()
    assert fitted.predict([7, 4.5, 2.5]).tolist() == [1, 1, 0]
    # worth three rows; four, two and none of six are two, one and none of three
    assert fitted.counts_ == (3, 2.5, 2, 1.5, 1, 0.5, 0)


def test_how_high_scores_cluster_is_learned() -> None:
    normal = np.repeat(np.random.default_rng(0).normal(size=500), 4)
    fitted = Conformal(0.05).fit(normal)
    assert fitted.counts_[0] == len(normal) / cluster_size(normal)
    assert cluster_size(normal) > 3
    fresh = np.random.default_rng(1).normal(size=50)
    expected = conformal_p_values(normal, fresh, cluster_size(normal))
    np.testing.assert_allclose(fitted.p_values(fresh), expected, rtol=0.011)


def test_fewer_rows_than_a_block_are_one() -> None:
    assert Conformal(0.5, block=10).fit([1.0, 3.0, 2.0]).threshold_ == 3


SCORES = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=60)


@given(SCORES, SCORES, st.floats(0.001, 0.5))
def test_p_values_and_the_threshold_are_those_of_the_definition(
    normal: list[float], scores: list[float], alpha: float
) -> None:
    expected = [p_value_oracle(normal, score) for score in scores]
    assert conformal_p_values(normal, scores).tolist() == expected
    logging.disable(logging.WARNING)
    fitted = Conformal(alpha, cluster=1).fit(normal)
    logging.disable(logging.NOTSET)
    # few scores are all kept
    assert fitted.p_values(scores).tolist() == expected
    assert fitted.predict(scores).tolist() == [int(p <= alpha) for p in expected]


@given(st.integers(1, 2000), st.integers(0, 2000))
def test_a_rank_is_the_largest_with_so_small_a_share(n: int, k: int) -> None:
    alpha = k / (n + 1)
    assert rank_of(alpha, n) == k
    assert rank_of(np.nextafter(alpha, -1), n) == k - 1


def test_a_rank_is_right_where_a_product_is_rounded_down() -> None:
    assert 0.29 * 100 < 29
    assert rank_of(0.29, 99) == 29


@pytest.mark.parametrize("n", [1, 99, 100, 101, 5000, 200_000])
def test_of_many_scores_few_are_kept_and_p_values_hardly_rise(n: int) -> None:
    rng = np.random.default_rng(n)
    normal, fresh = rng.exponential(size=n), rng.exponential(size=2000)
    fitted = Conformal(0.3, cluster=1).fit(normal)
    exact, kept = conformal_p_values(normal, fresh), fitted.p_values(fresh)
    assert len(fitted.levels_) <= 1000
    assert fitted.counts_[0] == n
    # never lower, and at most 1 % and one rank higher
    assert (kept >= exact).all()
    assert (kept <= 1.01 * exact + 1.01 / (n + 1)).all()
    np.testing.assert_array_equal(fitted.predict(fresh), kept <= 0.3)
    # the hundred highest are told exactly
    np.testing.assert_array_equal(kept[exact * (n + 1) <= 100], exact[exact * (n + 1) <= 100])


def test_p_values_of_exchangeable_scores_are_super_uniform() -> None:
    rng = np.random.default_rng(0)
    n, draws = 30, 20_000
    # counts, so that there are ties
    scores = rng.poisson(3, size=(draws, n + 1)).astype(float)
    as_high = (scores[:, :n] >= scores[:, n:]).sum(axis=1)
    found = (1 + as_high) / (n + 1)
    assert found[0] == conformal_p_values(scores[0, :n], scores[0, n:])[0]
    for alpha in (0.05, 0.1, 0.2, 0.5, 0.9):
        # four deviations of a share of so many draws
        margin = 4 * np.sqrt(alpha * (1 - alpha) / draws)
        assert (found <= alpha).mean() <= alpha + margin


@pytest.mark.parametrize(
    ("n", "alpha"),
    [(199, 0.05), *(pytest.param(*case, marks=SWEEP) for case in ((50, 0.1), (1000, 0.01)))],
)
def test_the_share_of_alarms_is_as_asked_on_independent_rows(n: int, alpha: float) -> None:
    rng = np.random.default_rng(n)
    shares = [
        Conformal(alpha, cluster=1)
        .fit(rng.standard_t(3, size=n))
        .predict(rng.standard_t(3, size=500))
        .mean()
        for _ in range(1000)
    ]
    # given what was fitted on it varies as k / (n + 1) of a beta distribution does; without ties
    # the mean is k / (n + 1)
    mean = rank_of(alpha, n) / (n + 1)
    deviation = np.std(shares) / np.sqrt(len(shares))
    assert abs(np.mean(shares) - mean) <= 4 * deviation
    assert mean <= alpha < mean + 1 / (n + 1)


def remembering(rng: np.random.Generator, rows: int, kept: float = 0.9) -> np.ndarray:
    """Squares of noise in which each row keeps a share of the one before, from its middle on."""
    return np.asarray(lfilter([1], [1, -kept], rng.normal(size=rows + 1000))[1000:] ** 2)


@pytest.mark.parametrize(
    ("kept", "rows", "textbook"),
    [
        (0.9, 200, 0.02),
        *(
            pytest.param(*case, marks=SWEEP)
            for case in ((0.0, 1000, 0.01), (0.99, 200, 0.1), (0.99, 1000, 0.03))
        ),
    ],
)
def test_clusters_are_counted_as_one_where_rows_remember(
    kept: float, rows: int, textbook: float
) -> None:
    """The share of alarms is at most about what is asked; by the textbook it may be ten times."""
    shares: dict[float | None, list[float]] = {None: [], 1: []}
    for seed in range(100):
        scores = remembering(np.random.default_rng(seed), rows + 2000, kept)
        for cluster, found in shares.items():
            fitted = Conformal(0.01, cluster=cluster).fit(scores[:rows])
            found.append(fitted.predict(scores[rows:]).mean())
    assert np.mean(shares[1]) == pytest.approx(textbook, rel=0.3)
    deviation = np.std(shares[None]) / np.sqrt(len(shares[None]))
    assert np.mean(shares[None]) <= 0.01 + 2 * deviation
    # where rows do not remember nothing is lost
    assert kept or np.mean(shares[None]) > 0.007


@pytest.mark.parametrize("alpha", [0.05, *(pytest.param(one, marks=SWEEP) for one in (0.01, 0.2))])
def test_few_rows_that_remember_long_do_not_go_without_a_warning(
    alpha: float, caplog: pytest.LogCaptureFixture
) -> None:
    for seed in range(50):
        Conformal(alpha).fit(remembering(np.random.default_rng(seed), 200, 0.99))
    # some segments are so short that they do not show it
    assert 47 <= len(caplog.messages) <= 50


def test_a_warning_says_how_few_rows_there_are(caplog: pytest.LogCaptureFixture) -> None:
    scores = np.repeat(np.random.default_rng(0).normal(size=15), 20)
    times = round(len(scores) / autocorrelation_time(scores))
    Conformal(0.2).fit(scores)
    assert caplog.messages == [
        (
            f"the 300 held-out rows are only {times} times as many as scores remember: alarms may "
            "be several times as frequent as 20%; fit on more rows, or pass "
            "AdaptiveConformal(0.2), which bounds their share whatever scores do"
        )
    ]
    assert 5 < times < 20
    caplog.clear()
    # who says how rows cluster is not warned
    Conformal(0.2, cluster=20).fit(scores)
    assert caplog.messages == []


def test_rows_that_are_many_for_what_they_remember_need_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        Conformal(0.01).fit(remembering(rng, 3000))
        Conformal(0.05).fit(remembering(rng, 200, 0.5))
        Conformal(0.01).fit(rng.normal(size=500))
    assert caplog.messages == []


def test_blocks_keep_their_share_where_rows_remember() -> None:
    shares = []
    for seed in range(150):
        scores = remembering(np.random.default_rng(seed), 1000 + 1000)
        level = Conformal(0.1, block=50).fit(scores[:1000]).threshold_
        shares.append((block_maxima(scores[1000:], 50) > level).mean())
    # two of 21: blocks are nearly exchangeable
    assert np.mean(shares) <= 0.1 + 4 * np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) >= 0.05


@SWEEP
def test_where_rows_remember_the_mean_share_holds_but_single_fits_stray_further() -> None:
    """What the page says of autocorrelation: on average right, less sure for each fit."""
    shares: dict[str, list[float]] = {"independent": [], "remembering": []}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = {"independent": rng.normal(size=3000) ** 2, "remembering": remembering(rng, 3000)}
        for name, scores in rows.items():
            shares[name].append(Conformal(0.05).fit(scores[:1000]).predict(scores[1000:]).mean())
    for found in shares.values():
        assert abs(np.mean(found) - 0.05) < 0.01
    assert np.std(shares["remembering"]) > 2 * np.std(shares["independent"])


def test_a_chance_rarer_than_the_rows_can_tell_is_no_alarm_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert Conformal(0.01, cluster=1).fit(np.arange(99)).threshold_ == 98
        assert caplog.messages == []
        fitted = Conformal(0.01, cluster=1).fit(np.arange(98))
    assert fitted.threshold_ == sys.float_info.max
    assert not fitted.predict([1e300]).any()
    assert caplog.messages == [
        (
            "a chance of 1% needs at least 99 held-out rows, and there are 98: no row can be an "
            "alarm; fit on more rows, allow a larger chance, or ask for a budget such as '1/week', "
            "which extrapolates"
        )
    ]
    caplog.clear()
    Conformal(0.1, block=5, cluster=1).fit(np.arange(40))
    assert caplog.messages[0].startswith(
        "a chance of 10% needs at least 9 held-out blocks of 5 rows, and"
    )
    caplog.clear()
    Conformal(0.001, cluster=4).fit(np.arange(3995))
    assert caplog.messages[0].startswith(
        "a chance of 0.1% needs at least 3,996 held-out rows, as high scores come in clusters of "
        "4.0, and there are 3,995: no row"
    )


CLUSTER = "cluster must be a finite number of at least 1 and of at most 1e+06; got "


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Conformal(0), "alpha must be a finite number above 0 and of at most 0.5; got 0"),
        (
            lambda: Conformal(0.6),
            "alpha must be a finite number above 0 and of at most 0.5; got 0.6",
        ),
        (lambda: Conformal(block=0), "block must be a whole number of at least 1; got 0"),
        (lambda: Conformal(block=2.5), "block must be a whole number of at least 1; got 2.5"),
        (lambda: Conformal(cluster=0.5), CLUSTER + "0.5"),
        (lambda: Conformal(cluster=True), CLUSTER + "True"),
        (lambda: conformal_p_values([1.0], [1.0], 0), CLUSTER + "0"),
        (lambda: Conformal().fit([]), "scores must be 1-d, at least one; got shape (0,)"),
        (
            lambda: conformal_p_values([1.0], [np.nan]),
            "scores must be finite; got nan in row 0",
        ),
    ],
)
def test_what_breaks_a_rule_is_refused(build: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value) == message


def test_p_values_before_fit_are_refused() -> None:
    with pytest.raises(NotFittedError, match="no threshold_ yet"):
        Conformal().p_values([1.0])


def saved(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        json.dumps(Conformal(0.2, cluster=1).fit(range(9)).to_dict())
    )
    return found | changes


def test_a_saved_chance_gives_the_same_p_values() -> None:
    before = Conformal(0.01).fit(np.random.default_rng(0).normal(size=5000))
    after = threshold_from_dict(json.loads(json.dumps(before.to_dict())))
    assert isinstance(after, Conformal)
    fresh = np.linspace(-5, 5, 400)
    assert after.p_values(fresh).tolist() == before.p_values(fresh).tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels_": "all"}, "levels_ must be a list of 1 to 1,000,000 numbers; got no list"),
        ({"levels_": []}, "levels_ must be a list of 1 to 1,000,000 numbers; got 0"),
        ({"levels_": None}, "levels_ must be a list"),
        ({"levels_": [0.0] * 9}, "levels_ must be in order"),
        ({"levels_": [*range(8), float("nan")]}, "levels_ must be a finite number; got nan"),
        ({"levels_": list(range(8, -1, -1))}, "levels_ must be in order"),
        ({"levels_": [0]}, "counts_ must be one more than the 1 levels_ and end with 0; got 10"),
        ({"counts_": [9] * 10}, "counts_ must be in order"),
        ({"counts_": [9, 8, 7, 6, 5, 4, 3, 2, 1]}, "counts_ must be one more than the 9 levels_"),
        ({"counts_": [9, 8, 7, 6, 5, 4, 3, 2, 1, 0.5]}, "end with 0; got 10 that end with 0.5"),
        ({"counts_": [9, 8, 7, 6, 5, 4, 3, 2, 1, -1]}, "counts_ must be a finite number of"),
        ({"counts_": [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]}, "end with 0; got 10 that end with 1"),
        ({"threshold_": 5.0}, "threshold_ must be the level of alpha=0.2 among levels_; got 5"),
    ],
)
def test_a_damaged_save_is_refused(changes: dict[str, Any], message: str) -> None:
    assert threshold_from_dict(saved()).threshold_ == 7
    with pytest.raises(InputError) as caught:
        threshold_from_dict(saved(**changes))
    assert message in str(caught.value)


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
