"""Thresholds: by hand, on known noise, on awkward scores, saved and loaded, and refused."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from sklearn.exceptions import NotFittedError

from subadjacent.decision.adaptive import AdaptiveConformal
from subadjacent.decision.calibration import fit_threshold
from subadjacent.decision.conformal import Conformal
from subadjacent.decision.extremes import Tail, cluster_peaks
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.threshold import (
    KINDS,
    AlarmBudget,
    AutoRate,
    DynamicLevel,
    ExtremeValue,
    Fixed,
    Quantile,
    budget_text,
    choose_threshold,
    requested_rate,
    threshold_from_dict,
)
from subadjacent.errors import InputError

EACH = [
    AutoRate(),
    AutoRate(1, most=0.01),
    ExtremeValue(),
    ExtremeValue(risk=1e-6, level=0.9),
    Quantile(),
    Quantile(0.5),
    Fixed(3.5),
    AlarmBudget(interval=60),
    AlarmBudget(2, "1day", "5min", run=3),
    DynamicLevel(),
    DynamicLevel(step=0.5),
    Conformal(),
    Conformal(0.05, block=25),
    AdaptiveConformal(),
    AdaptiveConformal(0.1, gamma=0.05, memory=50),
]

each = pytest.mark.parametrize("threshold", EACH, ids=str)
SWEEP = pytest.mark.sweep


def noise(seed: int, n: int, memory: float = 0.9) -> np.ndarray:
    """Absolute values of noise in which each row remembers the one before."""
    steps = np.random.default_rng(seed).normal(size=n)
    return np.abs(lfilter([1], [1, -memory], steps))


def test_a_quantile_cuts_by_hand() -> None:
    threshold = Quantile(0.75).fit([1, 2, 3, 4, 5])
    assert threshold.threshold_ == 4
    assert threshold.predict([3, 4, 4.1, 9]).tolist() == [0, 0, 1, 1]


def test_an_extreme_value_cuts_by_hand() -> None:
    # over the 0.9 quantile of 0, 1, …, 10, which is 9, there is one score of eleven, by 1:
    # 9 + 1 * log((1 / 11) / risk)
    threshold = ExtremeValue(risk=1 / (11 * np.e**3), level=0.9).fit(np.arange(11))
    assert threshold.threshold_ == pytest.approx(12)


def test_an_automatic_rate_cuts_by_hand() -> None:
    # over the 0.98 quantile of 0, 1, …, 100, which is 98, there is one excursion, by 2: half of
    # one in 101 rows is above 98 + 2 * log(2), one in 5,000 above 98 + 2 * log(5000 / 101)
    scores = np.arange(101)
    assert AutoRate(most=1).fit(scores).threshold_ == pytest.approx(98 + 2 * np.log(2))
    assert AutoRate().fit(scores).threshold_ == pytest.approx(98 + 2 * np.log(5000 / 101))
    # it is never below what one row in a hundred exceeds
    assert AutoRate(1, most=1).fit(scores).threshold_ == 99


def test_an_entity_has_the_lower_of_its_own_level_and_that_of_all_by_hand() -> None:
    # one excursion in a hundred rows: one in 5,000 rises by the logarithm of 50
    quiet, restless = (
        NormalScores(0.0, high, 1.0, 100, Tail(high, 0.0, scale, 0.01))
        for high, scale in ((2.0, 1.0), (3.0, 4.0))
    )
    level = AutoRate().level
    assert level(quiet, quiet) == pytest.approx(2 + np.log(50))
    assert level(restless, quiet) == level(quiet, restless) == pytest.approx(2 + np.log(50))
    assert level(restless, restless) == pytest.approx(3 + 4 * np.log(50))
    # but no lower than what one normal row in a hundred exceeds, of either
    high = replace(restless, high=9.0)
    assert level(high, quiet) == level(quiet, high) == 9.0


def test_rows_close_to_each_other_are_one_false_alarm() -> None:
    single, burst = np.zeros(10_000), np.zeros(10_000)
    for start in range(500, 10_000, 1000):
        single[start] = burst[start : start + 10] = 3
    for rule in (AutoRate(), AlarmBudget(1, "1h", interval="1s")):
        assert rule.fit(single).threshold_ == rule.fit(burst).threshold_


def test_an_automatic_rate_is_kept_on_fresh_rows() -> None:
    rng = np.random.default_rng(0)
    threshold = AutoRate().fit(rng.exponential(size=50_000)).threshold_
    # of as many rows as were fitted on, half of a time: 20 times as many, some ten
    assert 4 <= (rng.exponential(size=1_000_000) > threshold).sum() <= 20


def test_the_requested_rate_and_a_share_of_it_by_hand() -> None:
    for rule, rate in (
        (AutoRate(), 1 / 5000),
        (AutoRate(most=1), 1 / 2000),
        (Quantile(0.75), 0.25),
        (AlarmBudget(2, "1h", interval="1s"), 2 / 3600),
        (ExtremeValue(1e-5), 1e-5),
        (Fixed(3), None),
        (DynamicLevel(), None),
    ):
        assert requested_rate(rule, rows=1000) == (None if rate is None else pytest.approx(rate))
        fifth = rule.part(0.2)
        if fifth is None:
            assert isinstance(rule, ExtremeValue | Fixed | DynamicLevel)
        else:
            assert rate is not None
            assert requested_rate(fifth, rows=1000) == pytest.approx(rate / 5)
    assert budget_text(AlarmBudget(0.5, "2h")) == "0.5/7200s"


def test_a_fixed_threshold_does_not_look() -> None:
    assert Fixed(2).fit([100.0]).threshold_ == 2


def test_an_alarm_budget_cuts_by_hand() -> None:
    # ten clusters that rise by 3 in 2000 rows of a second; asked for 10 / e**2 in 2000 seconds
    scores = np.tile(np.concatenate([np.zeros(198), [1, 3]]), 10)
    threshold = AlarmBudget(10 / np.e**2, per=2000, interval=1).fit(scores)
    assert threshold.threshold_ == pytest.approx(3 * 2)


@pytest.mark.parametrize(
    "name", ["student", *(pytest.param(one, marks=SWEEP) for one in ("exponential", "uniform"))]
)
def test_an_extreme_value_keeps_its_risk_on_fresh_rows(name: str) -> None:
    rng = np.random.default_rng(3)
    draw: dict[str, Callable[[int], np.ndarray]] = {
        "exponential": lambda n: rng.exponential(size=n),
        "uniform": lambda n: rng.uniform(size=n),
        "student": lambda n: rng.standard_t(3, size=n),
    }
    threshold = ExtremeValue(risk=1e-4).fit(draw[name](50_000))
    assert 0.5e-4 < threshold.predict(draw[name](1_000_000)).mean() < 2e-4


@pytest.mark.parametrize("memory", [0.9, pytest.param(0.0, marks=SWEEP)])
@pytest.mark.parametrize(
    "per", ["1day", *(pytest.param(one, marks=SWEEP) for one in ("1h", "3h", "1week"))]
)
def test_an_alarm_budget_is_kept_on_fresh_rows(per: str, memory: float) -> None:
    budget = AlarmBudget(1, per, interval="1min").fit(noise(0, 50_000, memory))
    fresh = noise(1, 1_000_000, memory)
    rows = {"1h": 60, "3h": 180, "1day": 1440, "1week": 10080}[per]
    alarms = len(cluster_peaks(fresh, budget.threshold_, budget.run))
    assert 0.5 < alarms / (len(fresh) / rows) < 2


def test_a_rarity_far_beyond_the_rows_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    scores = noise(0, 1000)
    with caplog.at_level(logging.WARNING):
        AlarmBudget(1, "1day", interval="1min").fit(scores)
        assert caplog.messages == []
        fitted = AlarmBudget(1, "1week", interval="1min").fit(scores)
    assert caplog.messages == [
        (
            "1 alarms in '1week' are one every 1.01e+04 rows, and 1000 rows were fitted on: the "
            f"threshold {fitted.threshold_:.6g} is extrapolated far beyond them; "
            "fit on more rows to rely on it"
        )
    ]


@each
def test_awkward_scores_get_a_finite_threshold(threshold: Any) -> None:
    for scores in (
        [1.0],
        [1.0, 2.0],
        [5.0] * 200,
        [0.0] * 199 + [1.0],
        [0.0, 1.0] * 200,
        [1e200, -1e200, 3.0] * 100,
        [1e-300, 2e-300] * 100,
        [-3.0, -2.0, -1.0],
    ):
        cut, fitted = fit_threshold(threshold, scores)
        assert np.isfinite(cut)
        assert fitted.threshold_ == cut
        assert type(cut) is float


def test_constant_scores_are_no_alarms() -> None:
    for threshold in (AutoRate(), ExtremeValue(), Quantile(), AlarmBudget(interval=60)):
        assert not threshold.fit([5.0] * 200).predict([5.0] * 200).any()


SCORES = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60)


@given(SCORES, SCORES)
def test_predict_says_what_is_above_the_threshold(scores: list[float], new: list[float]) -> None:
    each = (AutoRate(), ExtremeValue(), Quantile(0.7), Fixed(1.0), AlarmBudget(interval=60))
    for threshold in each:
        labels = threshold.fit(scores).predict(new)
        assert labels.tolist() == [int(score > threshold.threshold_) for score in new]


@given(SCORES, st.floats(0.01, 1000))
def test_the_threshold_scales_with_the_scores(scores: list[float], scale: float) -> None:
    values = np.array(scores)
    budget = AlarmBudget(1, "1day", interval=60)
    for threshold in (AutoRate(), ExtremeValue(), Quantile(0.7), budget):
        plain = threshold.fit(values).threshold_
        near = 1e-6 * (1 + np.abs(values).max()) * scale
        assert threshold.fit(values * scale).threshold_ == pytest.approx(plain * scale, abs=near)


@given(SCORES, st.floats(1e-9, 0.019), st.floats(1e-9, 0.019))
def test_a_rarer_alarm_has_a_higher_threshold(scores: list[float], one: float, two: float) -> None:
    low, high = sorted((one, two))
    assert AutoRate(low).fit(scores).threshold_ >= AutoRate(high).fit(scores).threshold_
    assert ExtremeValue(low).fit(scores).threshold_ >= ExtremeValue(high).fit(scores).threshold_
    assert Quantile(1 - low).fit(scores).threshold_ >= Quantile(1 - high).fit(scores).threshold_


@each
def test_a_saved_threshold_comes_back(threshold: Any) -> None:
    for before in (threshold, copy.deepcopy(threshold).fit(noise(0, 2000))):
        after = threshold_from_dict(json.loads(json.dumps(before.to_dict())))
        assert after == before
        assert vars(after) == vars(before)


def test_settings_that_json_does_not_know_are_made_plain() -> None:
    budget = AlarmBudget(np.int64(2), timedelta(hours=1), np.timedelta64(1, "s"), np.int64(4))
    assert json.loads(json.dumps(budget.to_dict())) == {
        "kind": "alarm_budget",
        "settings": {"alarms": 2, "per": 3600.0, "interval": 1.0, "run": 4},
        "threshold_": None,
    }


def test_every_kind_is_saved_under_its_name() -> None:
    assert {threshold.to_dict()["kind"] for threshold in EACH} == set(KINDS)


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        (
            {"kind": "magic"},
            (
                "kind of threshold must be one of auto_rate, extreme_value, quantile, fixed, "
                "alarm_budget, dynamic_level, conformal, adaptive_conformal; got 'magic'"
            ),
        ),
        (
            {},
            (
                "kind of threshold must be one of auto_rate, extreme_value, quantile, fixed, "
                "alarm_budget, dynamic_level, conformal, adaptive_conformal; got None"
            ),
        ),
        (
            {"kind": "quantile", "settings": {"p": 1}},
            (
                "settings must be those of a quantile threshold; "
                "Quantile.__init__() got an unexpected keyword argument 'p'"
            ),
        ),
        ({"kind": "quantile", "settings": {"q": 2}}, "q must be at most 1; got 2"),
        (
            {"kind": "quantile", "threshold_": "high"},
            "threshold_ must be a finite number; got 'high'",
        ),
    ],
)
def test_a_damaged_save_is_refused(saved: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        threshold_from_dict(saved)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Quantile(1.5), "q must be at most 1; got 1.5"),
        (lambda: Quantile("high"), "q must be a finite number of at least 0; got 'high'"),
        (lambda: ExtremeValue(0), "risk must be a finite number above 0; got 0"),
        (
            lambda: ExtremeValue(0.05),
            "risk must be below 0.02, the share of rows above level=0.98; got 0.05",
        ),
        (lambda: ExtremeValue(level=-1), "level must be a finite number of at least 0; got -1"),
        (lambda: AutoRate(0), "alarms must be a finite number above 0; got 0"),
        (
            lambda: AutoRate(most=1.5),
            "most must be a finite number above 0 and of at most 1; got 1.5",
        ),
        (lambda: Fixed(np.nan), "value must be a finite number; got nan"),
        (lambda: AlarmBudget(0), "alarms must be a finite number above 0; got 0"),
        (lambda: AlarmBudget(run=0), "run must be a whole number of at least 1; got 0"),
        (
            lambda: AlarmBudget(per="soon"),
            (
                "per must be a time longer than none, such as '90s', '5min', '1h30m', '2 days' or "
                "'1week', or a number of seconds; got 'soon'"
            ),
        ),
        (
            lambda: AlarmBudget(interval=-1),
            (
                "interval must be a time longer than none, such as '90s', '5min', '1h30m', "
                "'2 days' or '1week', or a number of seconds; got -1"
            ),
        ),
        (
            lambda: AlarmBudget().fit([1.0]),
            (
                "interval must be known to turn an alarm budget into a threshold; got None, as the "
                "rows have no dates or the series differ in it: fit on rows with dates, or pass "
                "interval='60s' for one row a minute"
            ),
        ),
        (
            lambda: AlarmBudget(1, "5min", interval="1min").fit([1.0]),
            "alarms must be rarer than one every run=12 rows; got 1 in '5min', one every 5 rows",
        ),
        (lambda: Quantile().fit([]), "scores must be 1-d, at least one; got shape (0,)"),
        (
            lambda: Quantile().fit([1.0]).predict([np.nan]),
            "scores must be finite; got nan in row 0",
        ),
        (lambda: fit_threshold(Quantile(), [np.inf]), "scores must be finite; got inf in row 0"),
    ],
)
def test_what_breaks_a_rule_is_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value) == message


def test_predict_before_fit_is_refused() -> None:
    with pytest.raises(NotFittedError, match=r"Quantile\(q=0.9\) has no threshold_ yet"):
        Quantile(0.9).predict([1.0])


def test_settings_are_frozen_and_copies_keep_what_was_fitted() -> None:
    threshold = Quantile(0.5).fit([1.0, 2.0, 3.0])
    with pytest.raises(AttributeError):
        threshold.q = 0.9  # type: ignore[misc]
    for other in (copy.deepcopy(threshold), pickle.loads(pickle.dumps(threshold))):
        assert other.threshold_ == 2


def test_an_interval_is_added_to_a_copy() -> None:
    budget = AlarmBudget(3, "1day")
    assert budget.with_interval(60) == AlarmBudget(3, "1day", interval=60)
    assert budget.interval is None


@pytest.mark.parametrize(
    ("contamination", "threshold"),
    [
        ("auto", AutoRate(1 / 2, most=1 / 5000)),
        (0.25, Quantile(0.75)),
        (np.float32(0.25), Quantile(0.75)),
        (0.5, Quantile(0.5)),
        ("1/week", AlarmBudget(1, "1week", interval=60)),
        ("2/day", AlarmBudget(2, "1day", interval=60)),
        ("0.5 / 12h", AlarmBudget(0.5, "12h", interval=60)),
        ("3 per month", AlarmBudget(3, "30d", interval=60)),
        (AlarmBudget(2), AlarmBudget(2, interval=60)),
        (AlarmBudget(2, interval=5), AlarmBudget(2, interval=5)),
        (Fixed(3), Fixed(3)),
    ],
)
def test_contamination_stands_for_a_threshold(contamination: Any, threshold: Any) -> None:
    chosen = choose_threshold(contamination, interval=60.0)
    scores = noise(0, 2000)
    assert type(chosen) is type(threshold)
    assert fit_threshold(chosen, scores)[0] == fit_threshold(threshold, scores)[0]


def test_an_alarm_budget_without_a_clock_is_chosen_and_refused_in_fit() -> None:
    chosen = choose_threshold("1/week", interval=None)
    with pytest.raises(InputError, match="interval must be known"):
        fit_threshold(chosen, [1.0])


@pytest.mark.parametrize(
    "bad",
    [
        *[0, 0.0, 0.6, 1, -0.1, float("nan"), True, False, None],
        *["often", "1/fortnight", "0/week", "/week", "1/", "-1/day", "", [0.1], Quantile],
    ],
)
def test_any_other_contamination_is_refused(bad: Any) -> None:
    with pytest.raises(InputError) as caught:
        choose_threshold(bad, interval=60.0)
    assert str(caught.value) == (
        "contamination must be 'auto', a share of the rows above 0 and up to 0.5, an alarm budget "
        "such as '1/week' or '2/day', or an object with fit(scores) and predict(scores); "
        f"got {bad!r}"
    )


def test_a_name_that_was_accepted_before_is_refused_with_the_object_that_replaces_it() -> None:
    for former, replacement in (
        ("dynamic", "DynamicLevel()"),
        ("conformal", "Conformal(0.01)"),
        (" 0.5 % ", "Conformal(0.005)"),
        ("adaptive", "AdaptiveConformal(0.01)"),
        ("2% adaptive", "AdaptiveConformal(0.02)"),
    ):
        with pytest.raises(InputError) as caught:
            choose_threshold(former)
        assert str(caught.value).endswith(f"; got {former!r}: pass {replacement}")
