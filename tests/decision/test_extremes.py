"""Tails of scores: worked by hand, against scipy, on known distributions, and when they are odd."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from subadjacent.decision.events import join
from subadjacent.decision.extremes import Tail, check_scores, cluster_peaks, fit_tail
from subadjacent.errors import InputError

Draw = Callable[[np.random.Generator, int], np.ndarray]

UP_AND_DOWN = np.array([0.0, 5.0, 0.0, 7.0, 0.0, 0.0, 0.0, 6.0, 0.0])


@pytest.mark.parametrize(
    ("shape", "risk", "level"),
    [
        (0.0, 0.1 / np.e, 12),  # 10 + 2 * log(e)
        (1.0, 0.05, 12),  # 10 + 2 * (2 - 1)
        (1.0, 0.025, 16),  # 10 + 2 * (4 - 1)
        (0.5, 0.025, 14),  # 10 + 2 / 0.5 * (sqrt(4) - 1)
        (-1.0, 0.05, 11),  # 10 + 2 * (1 - 1 / 2)
        (-1.0, 0.025, 11.5),  # 10 + 2 * (1 - 1 / 4)
    ],
)
def test_the_level_of_a_risk_by_hand(shape: float, risk: float, level: float) -> None:
    tail = Tail(base=10, shape=shape, scale=2, rate=0.1)
    assert tail.level(risk) == pytest.approx(level)


def test_a_tail_knows_nothing_below_its_base() -> None:
    tail = Tail(base=10, shape=0.2, scale=2, rate=0.1)
    assert [tail.level(risk) for risk in (0.1, 0.3, 0.9)] == [10, 10, 10]


def test_the_level_of_a_tail_that_ends_stays_below_its_end() -> None:
    tail = Tail(base=10, shape=-0.5, scale=2, rate=0.1)  # ends at 10 + 2 / 0.5
    assert tail.level(1e-300) == pytest.approx(14)


# scipy warns of shapes such as -1e-311, which no fit gives
@given(st.integers(-1000, 1000), st.floats(0.01, 100), st.floats(1e-6, 0.019))
def test_the_level_is_that_of_scipy(thousandths: int, scale: float, risk: float) -> None:
    shape = thousandths / 1000
    tail = Tail(base=0, shape=shape, scale=scale, rate=0.02)
    level = tail.level(risk)
    assert level == pytest.approx(stats.genpareto.isf(risk / 0.02, shape, scale=scale), rel=1e-9)


@pytest.mark.parametrize(
    ("shape", "score", "chance"),
    [
        (0.0, 12, 0.1 / np.e),  # 0.1 * exp(-2 / 2)
        (1.0, 12, 0.05),  # 0.1 / (1 + 2 / 2)
        (0.5, 14, 0.025),  # 0.1 / (1 + 0.5 * 4 / 2) ** 2
        (-1.0, 11, 0.05),  # 0.1 * (1 - 1 / 2)
        (-1.0, 11.5, 0.025),  # 0.1 * (1 - 1.5 / 2)
        # the end of this tail, and beyond
        (-1.0, 12, 0.0),
        (-1.0, 13, 0.0),
    ],
)
def test_the_chance_of_a_score_by_hand(shape: float, score: float, chance: float) -> None:
    tail = Tail(base=10, shape=shape, scale=2, rate=0.1)
    assert tail.chance(score) == pytest.approx(chance)


def test_below_its_base_a_tail_knows_no_chance() -> None:
    tail = Tail(base=10, shape=0.2, scale=2, rate=0.1)
    assert [tail.chance(score) for score in (-np.inf, 0, np.nextafter(10, 0), 10)] == [1, 1, 1, 0.1]


def test_nothing_is_above_a_tail_without_peaks() -> None:
    assert [Tail(4, 0, 0, 0.1).chance(score) for score in (3.9, 4, 4.1)] == [1.0, 0.1, 0.0]
    assert fit_tail([4.0] * 500).chance(4.0) == 0


@given(st.integers(-1000, 1000), st.floats(0.01, 100), st.floats(1e-6, 0.0199))
def test_the_chance_of_a_level_is_its_risk(thousandths: int, scale: float, risk: float) -> None:
    tail = Tail(base=3, shape=thousandths / 1000, scale=scale, rate=0.02)
    assert tail.chance(tail.level(risk)) == pytest.approx(risk, rel=1e-6)


@given(
    st.integers(-1000, 1000),
    st.floats(0, 100),
    st.lists(st.floats(-1e308, 1e308), min_size=2, max_size=9),
)
def test_a_chance_is_one_and_falls_as_scores_rise(
    thousandths: int, scale: float, scores: list[float]
) -> None:
    tail = Tail(base=3, shape=thousandths / 1000, scale=scale, rate=0.02)
    chances = [tail.chance(score) for score in sorted([*scores, 3.0])]
    assert chances == sorted(chances, reverse=True)
    assert all(0 <= chance <= 0.02 or chance == 1 for chance in chances)


@given(st.floats(-1e-9, 1e-9))
def test_the_shape_goes_to_zero_without_a_jump(shape: float) -> None:
    straight = Tail(base=3, shape=0, scale=2, rate=0.02).level(1e-5)
    assert Tail(base=3, shape=shape, scale=2, rate=0.02).level(1e-5) == pytest.approx(straight)


def test_a_level_beyond_all_floats_is_the_largest_float() -> None:
    tail = Tail(base=1e200, shape=1, scale=1e200, rate=0.5)
    assert tail.level(5e-324) == sys.float_info.max


@pytest.mark.parametrize(
    ("run", "peaks"), [(1, [5, 7, 6]), (2, [5, 7, 6]), (3, [7, 6]), (4, [7, 6]), (5, [7])]
)
def test_rows_closer_than_the_run_count_once_by_their_highest(run: int, peaks: list[int]) -> None:
    assert cluster_peaks(UP_AND_DOWN, 1.0, run).tolist() == peaks


def test_no_row_above_the_level_is_no_peak() -> None:
    assert cluster_peaks(UP_AND_DOWN, 7.0, 3).tolist() == []


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(2, 9))
def test_clusters_are_the_events_that_alarms_join(scores: list[int], run: int) -> None:
    values = np.array(scores, dtype=float)
    events = join(values > 1, gap=run - 2)
    expected = [values[start:stop].max() for start, stop in events]
    assert cluster_peaks(values, 1.0, run).tolist() == expected


def test_a_tail_of_one_peak_by_hand() -> None:
    # the 0.9 quantile of 0, 1, …, 10 is 9; one score of eleven is above, by 1
    assert fit_tail(np.arange(11), level_quantile=0.9) == Tail(9, shape=0, scale=1, rate=1 / 11)


def test_few_peaks_have_an_exponential_tail_with_their_mean_excess() -> None:
    scores = np.concatenate([np.zeros(97), [1, 2, 6]])
    assert fit_tail(scores, level_quantile=0.96) == Tail(0, shape=0, scale=3, rate=0.03)


def test_clusters_are_counted_instead_of_rows_when_a_run_is_given() -> None:
    scores = np.tile(np.concatenate([np.zeros(90), [1.0, 0.0, 3.0]]), 10)
    by_row, by_cluster = fit_tail(scores, 0.9), fit_tail(scores, 0.9, run=3)
    assert (by_row.rate, by_row.scale) == pytest.approx((20 / 930, 2))
    assert (by_cluster.rate, by_cluster.scale) == pytest.approx((10 / 930, 3))


@pytest.mark.parametrize(
    ("scores", "tail"),
    [
        ([4.0], Tail(4, 0, 0, 0)),
        ([4.0] * 500, Tail(4, 0, 0, 0)),
        ([0.0] * 90 + [1.0] * 10, Tail(1, 0, 0, 0)),
        ([1.0, 2.0], Tail(1.98, 0, 0.02, 0.5)),
    ],
)
def test_too_little_to_fit_gives_the_highest_score_or_nearly(
    scores: list[float], tail: Tail
) -> None:
    found = fit_tail(scores)
    assert (found.base, found.shape, found.scale, found.rate) == pytest.approx(
        (tail.base, tail.shape, tail.scale, tail.rate)
    )


def test_a_tail_without_peaks_stays_at_the_highest_score() -> None:
    tail = fit_tail([4.0] * 500)
    assert tail.level(1e-9) == 4


DISTRIBUTIONS: dict[str, Draw] = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "student": lambda rng, n: rng.standard_t(3, size=n),
    "squared student": lambda rng, n: rng.standard_t(3, size=n) ** 2,
    "normal": lambda rng, n: rng.normal(size=n),
    "chi square": lambda rng, n: rng.chisquare(1, size=n),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_risk_asked_for_is_the_risk_on_fresh_rows(name: str) -> None:
    rng = np.random.default_rng(5)
    tail = fit_tail(DISTRIBUTIONS[name](rng, 50_000))
    fresh = DISTRIBUTIONS[name](rng, 1_000_000)
    for risk in (1e-3, 1e-4):
        assert risk / 2 < np.mean(fresh > tail.level(risk)) < risk * 2


@pytest.mark.parametrize(
    ("name", "shape"),
    [("exponential", 0), ("uniform", -1), ("student", 1 / 3), ("squared student", 2 / 3)],
)
def test_the_shape_is_that_of_theory(name: str, shape: float) -> None:
    tail = fit_tail(DISTRIBUTIONS[name](np.random.default_rng(6), 100_000))
    assert tail.shape == pytest.approx(shape, abs=0.1)


def test_a_tail_heavier_than_any_with_a_mean_is_exponential() -> None:
    scores = np.random.default_rng(0).pareto(0.3, size=5000)
    tail = fit_tail(scores)
    assert tail.shape == 0
    assert tail.level(1e-4) > scores.mean()


@pytest.mark.parametrize("size", [1e6, 1e9, 1e12])
def test_huge_outliers_among_the_rows_do_not_hide_themselves(size: float) -> None:
    scores = np.random.default_rng(0).exponential(size=5000)
    scores[::1000] = size  # five in a hundred peaks
    scores[::1000] += np.arange(5)
    level = fit_tail(scores).level(1e-4)
    assert (scores > level).sum() == 5


@pytest.mark.parametrize(
    "top",
    [
        np.full(100, 2.0),
        np.repeat([1.0, 2.0], 50),
        np.repeat([1.0, 2.0, 3.0], 33),
        2 + 1e-9 * np.random.default_rng(0).random(100),
    ],
)
def test_peaks_in_a_lump_are_not_all_alarms(top: np.ndarray) -> None:
    scores = np.concatenate([np.zeros(5000 - len(top)), top])
    assert fit_tail(scores, 0.95).level(1e-4) > scores.max()


def refuse(*_: Any, **__: Any) -> tuple[float, float, float]:
    raise stats.FitError("no luck")


@pytest.mark.parametrize("fit", [refuse, lambda *_, **__: (0.9, 0.0, 0.01)])
def test_a_fit_that_fails_or_goes_astray_is_not_used(
    fit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats.genpareto, "fit", fit)
    assert fit_tail(np.random.default_rng(0).exponential(size=5000)).shape == 0


@given(
    st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=80),
    st.floats(0, 1),
    st.integers(1, 20),
)
def test_levels_are_finite_and_rise_as_the_risk_falls(
    scores: list[float], quantile: float, run: int
) -> None:
    tail = fit_tail(scores, quantile, run)
    levels = [tail.level(risk) for risk in (0.5, 1e-2, 1e-4, 1e-9, 1e-100)]
    assert np.isfinite(levels).all()
    assert levels == sorted(levels)
    assert levels[0] >= min(scores)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 7.3, 1e200])
def test_a_level_is_in_the_units_of_the_scores(scale: float) -> None:
    scores = np.random.default_rng(1).standard_t(4, size=4000)
    plain, scaled = fit_tail(scores), fit_tail(scores * scale)
    # the search for the shape stops within 1e-4
    assert scaled.level(1e-4) == pytest.approx(plain.level(1e-4) * scale, rel=1e-3)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "scores must be 1-d, at least one; got shape (0,)"),
        ([[1.0]], "scores must be 1-d, at least one; got shape (1, 1)"),
        (3.0, "scores must be 1-d, at least one; got shape ()"),
        ([1.0, np.nan, np.inf], "scores must be finite; got nan in row 1"),
        (["high"], "scores must be numbers; could not convert string to float: 'high'"),
    ],
)
def test_scores_that_are_none_are_refused(scores: Any, message: str) -> None:
    for function in (check_scores, fit_tail):
        with pytest.raises(InputError) as caught:
            function(scores)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_tail([1.0], 1.5), "level_quantile must be at most 1; got 1.5"),
        (lambda: fit_tail([1.0], -1), "level_quantile must be a finite number of at least 0"),
        (lambda: fit_tail([1.0], run=0), "run must be a whole number of at least 1; got 0"),
        (lambda: Tail(0, 0, -1, 0.1), "scale must be a finite number of at least 0; got -1"),
        (lambda: Tail(0, 0, 1, 2), "rate must be at most 1; got 2"),
        (lambda: Tail(np.nan, 0, 1, 0.1), "base must be a finite number; got nan"),
        (lambda: Tail(0, np.inf, 1, 0.1), "shape must be a finite number; got inf"),
        (lambda: Tail(0, 0, 1, 0.1).level(0), "risk must be a finite number above 0; got 0"),
    ],
)
def test_bad_settings_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
