"""Adaptive conformal thresholds: by hand, against the definition, and against any sequence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from sklearn.exceptions import NotFittedError

from subadjacent.decision.adaptive import AdaptiveConformal
from subadjacent.decision.conformal import Conformal
from subadjacent.decision.threshold import threshold_from_dict
from subadjacent.errors import InputError


def follow_oracle(rule: AdaptiveConformal, scores: list[float]) -> list[tuple[bool, float, float]]:
    """Gibbs and Candès read aloud: error, p-value and alpha of each row."""
    recent, alpha, found = list(rule.recent_), rule.alpha, []
    for score in scores:
        p = (1 + sum(one >= score for one in recent)) / (len(recent) + 1)
        error = p <= alpha
        found.append((error, p, alpha))
        alpha = alpha + rule.gamma * (rule.alpha - error)
        recent = [*recent, score][-rule.memory :]
    return found


def test_a_level_moves_by_hand() -> None:
    rule = AdaptiveConformal(0.25, gamma=0.1, memory=4).fit([1.0, 2.0, 3.0, 4.0])
    assert rule.threshold_ == 4
    live = rule.start()
    # above all four: its p-value is 1 / 5, and a quarter less one error makes alpha smaller
    assert live.step(5.0)
    assert (live.p_value, live.level) == (0.2, 4.0)
    assert live.alpha == pytest.approx(0.25 - 0.1 * 0.75)
    # now 2, 3, 4 and 5 count; no p-value is as low as 0.175, so that even 6 is not above
    assert not live.step(6.0)
    assert (live.p_value, live.level) == (0.2, 6.0)
    assert live.alpha == pytest.approx(0.2)


def test_more_rows_than_the_memory_are_evenly_thinned_by_hand() -> None:
    assert AdaptiveConformal(0.5, memory=4).fit(np.arange(10.0)).recent_ == (0, 3, 6, 9)
    assert AdaptiveConformal(0.5, memory=4).fit(np.arange(3.0)).recent_ == (0, 1, 2)


VALUES = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=80)


@given(VALUES, VALUES, st.floats(0.05, 0.5), st.floats(0.001, 1), st.integers(20, 60))
def test_levels_and_p_values_are_those_of_the_definition(
    normal: list[float], scores: list[float], alpha: float, gamma: float, memory: int
) -> None:
    rule = AdaptiveConformal(alpha, gamma, memory).fit(normal)
    errors, p_values, _ = zip(*follow_oracle(rule, scores), strict=True)
    found = rule.follow(scores)
    assert found.p_values.tolist() == list(p_values)
    assert (np.array(scores) > found.levels).tolist() == list(errors)
    assert rule.predict(scores).tolist() == [int(error) for error in errors]
    assert np.isfinite(found.levels).all()


def test_a_full_memory_forgets_the_oldest_score() -> None:
    rng = np.random.default_rng(0)
    rule = AdaptiveConformal(0.2, gamma=0.05, memory=20).fit(rng.normal(size=20))
    scores = rng.normal(size=200).cumsum().tolist()
    assert rule.follow(scores).p_values.tolist() == [p for _, p, _ in follow_oracle(rule, scores)]


def awkward(kind: str, rule: AdaptiveConformal, rows: int) -> np.ndarray:
    """Sequences made to break a promise; some choose each score by what the level is."""
    rng = np.random.default_rng(7)
    if kind == "always higher":
        return np.arange(rows) + 100.0
    if kind == "always lower":
        return -np.arange(rows) - 100.0
    if kind == "constant":
        return np.zeros(rows)
    if kind == "bursts":
        return np.where(np.arange(rows) % 400 < 100, 1e6, rng.normal(size=rows))
    live, found = rule.start(), []
    for _ in range(rows):
        # an adversary that is above whenever it can be, or only just is not
        low, high = min(live._ordered) - 1, max(live._ordered) + 1
        wants = live.alpha > rule.alpha if kind == "just above" else live.alpha < rule.alpha
        found.append(high if wants else low)
        live.step(found[-1])
    return np.array(found)


KINDS = ("always higher", "always lower", "constant", "bursts", "just above", "just below")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("alpha", "gamma"), [(0.01, 0.005), (0.1, 0.05), (0.3, 1.0), (0.5, 0.001)])
def test_the_share_of_errors_is_within_the_bound_for_any_sequence(
    kind: str, alpha: float, gamma: float
) -> None:
    rule = AdaptiveConformal(alpha, gamma, memory=200).fit(
        np.random.default_rng(0).normal(size=150)
    )
    scores = awkward(kind, rule, 3000)
    errors = np.cumsum(rule.predict(scores))
    rows = np.arange(1, len(scores) + 1)
    bound = (max(alpha, 1 - alpha) + gamma) / (gamma * rows)
    assert (np.abs(errors / rows - alpha) <= bound + 1e-9).all()
    # what is never exceeded, at any row
    assert (errors <= alpha * rows + alpha / gamma + 1 + 1e-6).all()


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=300), st.floats(0.02, 0.5))
def test_no_sequence_has_more_alarms_than_allowed(scores: list[float], alpha: float) -> None:
    rule = AdaptiveConformal(alpha, gamma=0.1, memory=50).fit([0.0, 1.0, 2.0])
    assert rule.predict(scores).sum() <= alpha * len(scores) + alpha / 0.1 + 1 + 1e-6


DRIFTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "grows": lambda time: 1 + 3 * time,
    "jumps": lambda time: np.where(time < 0.3, 1.0, 4.0),
    "comes and goes": lambda time: 1 + 1.5 * (1 - np.cos(6 * np.pi * time)),
}


@pytest.mark.parametrize("drift", list(DRIFTS))
def test_under_drift_the_adaptive_form_keeps_its_share_and_the_split_form_does_not(
    drift: str,
) -> None:
    shares = []
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=4200)
        scores = lfilter([1], [1, -0.5], noise)[200:] ** 2
        scores[1000:] *= DRIFTS[drift](np.linspace(0, 1, 3000))
        rules = (Conformal(0.02), AdaptiveConformal(0.02))
        shares.append([rule.fit(scores[:1000]).predict(scores[1000:]).mean() for rule in rules])
    split, adaptive = np.array(shares).T
    assert (adaptive <= 0.022).all()
    assert (adaptive >= 0.015).all()
    assert split.mean() > 0.08


def test_anomalies_loosen_the_level_and_a_long_one_shows_by_its_first_rows() -> None:
    rng = np.random.default_rng(0)
    rule = AdaptiveConformal(0.01).fit(rng.normal(size=1000))
    scores = rng.normal(size=1000)
    scores[500:600] += 20
    found = np.flatnonzero(rule.predict(scores)[500:600])
    assert found[:3].tolist() == [0, 1, 2]
    assert len(found) <= 5


def test_rows_to_come_do_not_count() -> None:
    rng = np.random.default_rng(1)
    rule = AdaptiveConformal(0.05).fit(rng.normal(size=300))
    scores = rng.normal(size=300)
    whole, part = rule.follow(scores), rule.follow(scores[:120])
    np.testing.assert_array_equal(whole.levels[:120], part.levels)
    np.testing.assert_array_equal(whole.p_values[:120], part.p_values)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: AdaptiveConformal(0), "alpha must be a finite number above 0 and of at most 0.5"),
        (lambda: AdaptiveConformal(gamma=0), "gamma must be a finite number above 0"),
        (
            lambda: AdaptiveConformal(gamma=2),
            "gamma must be a finite number above 0 and of at most 1",
        ),
        (lambda: AdaptiveConformal(memory=0), "memory must be a whole number of at least 1; got 0"),
        (
            lambda: AdaptiveConformal(0.01, memory=99),
            (
                "memory must be at least 1 / alpha, 100 rows, for a row to stand out among them; "
                "got 99"
            ),
        ),
    ],
)
def test_what_breaks_a_rule_is_refused(build: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert message in str(caught.value)


def test_a_level_before_fit_is_refused() -> None:
    with pytest.raises(NotFittedError, match="no threshold_ yet"):
        AdaptiveConformal().start()


@pytest.mark.parametrize(
    "changes",
    [
        {"recent_": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]},
        {"recent_": [9.0, 9.0, 9.0]},
        {"threshold_": 1.0},
    ],
    ids=str,
)
def test_a_damaged_save_is_refused(changes: dict[str, Any]) -> None:
    rule = AdaptiveConformal(0.4, memory=5).fit([0.0, 1.0, 2.0, 3.0, 4.0])
    saved = json.loads(json.dumps(rule.to_dict()))
    after = threshold_from_dict(saved)
    assert isinstance(after, AdaptiveConformal)
    assert after.follow([3.0, 5.0]).levels.tolist() == rule.follow([3.0, 5.0]).levels.tolist()
    with pytest.raises(InputError, match="recent_ must be at most memory=5 scores, and threshold_"):
        threshold_from_dict(saved | changes)
