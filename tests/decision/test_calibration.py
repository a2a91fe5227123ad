"""Thresholds of our own and of other libraries come to one number."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest

from subadjacent.decision.calibration import check_threshold, fit_threshold
from subadjacent.decision.threshold import (
    AlarmBudget,
    AutoRate,
    BaseThreshold,
    ExtremeValue,
    Fixed,
    Quantile,
    Threshold,
    choose_threshold,
)
from subadjacent.errors import InputError

EACH = [AutoRate(), ExtremeValue(), Quantile(0.9), Fixed(1.0), AlarmBudget(interval=60)]


class Labels(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Someone else's threshold: a rule that labels scores."""

    def __init__(self, rule: Callable[[np.ndarray], Any]) -> None:
        self.rule = rule

    def __repr__(self) -> str:
        return "Labels()"

    def fit(self, scores: np.ndarray) -> Labels:
        self.mean_ = scores.mean()
        return self

    def predict(self, scores: np.ndarray) -> Any:
        return self.rule(scores)


class Deviations:
    """Someone else's threshold: far above all scores, and a ``threshold_`` in units of its own."""

    def fit(self, scores: np.ndarray) -> None:
        self.mean, self.spread = scores.mean(), scores.std()
        self.threshold_ = 10.0

    def predict(self, scores: np.ndarray) -> np.ndarray:
        return (scores - self.mean) / self.spread > self.threshold_


def noise(rows: int = 1000) -> np.ndarray:
    return np.random.default_rng(0).exponential(size=rows)


def test_the_cut_of_a_foreign_threshold_is_found_by_asking() -> None:
    cut, fitted = fit_threshold(Labels(lambda scores: scores > 3.5), [5.0, 1.0, 3.0, 4.0])
    assert cut == 3.5
    assert fitted.to_dict() == {"kind": "fixed", "settings": {"value": 3.5}, "threshold_": 3.5}


def test_new_scores_are_judged_as_the_foreign_threshold_would() -> None:
    """Its cut lies far above every score that it was fitted on."""
    scores = noise()
    theirs = Deviations()
    theirs.fit(scores)
    cut, _ = fit_threshold(Deviations(), scores)
    assert cut > scores.max()
    new = np.linspace(0, 30, 10_001)
    np.testing.assert_array_equal(new > cut, theirs.predict(new))


def test_a_cut_below_every_score_is_found() -> None:
    cut, _ = fit_threshold(Labels(lambda scores: scores > -40), [1.0, 2.0])
    assert cut == -40


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            lambda scores: np.abs(scores) > 2,
            (
                "contamination must cut the scores at one value; "
                "Labels() calls 1 normal and -3 anomalous"
            ),
        ),
        (
            np.sign,
            (
                "predict of Labels() must give 0 or 1 for each of 3 scores; "
                "got shape (3,) with [-1.  1.]"
            ),
        ),
        (
            lambda scores: scores[:2] > 0,
            (
                "predict of Labels() must give 0 or 1 for each of 3 scores; "
                "got shape (2,) with [False  True]"
            ),
        ),
        (np.zeros_like, "contamination must call some score anomalous; Labels() calls none so"),
        (np.ones_like, "contamination must call some score normal; Labels() calls none so"),
    ],
)
def test_labels_that_are_no_cut_are_refused(rule: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        fit_threshold(Labels(rule), [-3.0, 1.0, 5.0])
    assert str(caught.value) == message


def test_anything_with_fit_and_predict_is_a_threshold() -> None:
    for one in (Labels(np.isnan), Deviations(), *EACH):
        assert isinstance(one, Threshold)
        assert choose_threshold(one) is one


@pytest.mark.parametrize(
    "threshold",
    [*EACH, Labels(lambda scores: scores > 1), Deviations()],
    ids=lambda x: type(x).__name__,
)
def test_the_callers_object_is_not_touched(threshold: Any) -> None:
    before = copy.deepcopy(vars(threshold))
    _, fitted = fit_threshold(threshold, noise())
    assert vars(threshold) == before
    assert isinstance(fitted, BaseThreshold)
    assert fitted is not threshold


def test_what_will_not_do_is_refused_before_any_training() -> None:
    check_threshold(Quantile(0.9))
    check_threshold(Deviations())
    with pytest.raises(InputError, match="interval must be known"):
        check_threshold(AlarmBudget())
    with pytest.raises(InputError, match="must cut the scores at one value"):
        check_threshold(Labels(lambda scores: np.abs(scores - 0.5) > 0.2))
    with pytest.raises(InputError, match=r"must take scores of shape \(n,\).*IsolationForest"):
        check_threshold(IsolationForest())
