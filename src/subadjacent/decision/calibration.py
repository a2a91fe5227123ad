"""Fit a threshold to scores: one of ours, or an object of another library."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.decision.base_threshold import BaseThreshold, Threshold
from subadjacent.decision.extremes import check_scores
from subadjacent.decision.threshold import AlarmBudget, Fixed
from subadjacent.errors import InputError

# how often the search for another library's cut may double its step, and halve its bounds
DOUBLINGS, HALVINGS = 100, 200


def fit_threshold(
    threshold: Threshold, scores: ArrayLike, *, warns: bool = True
) -> tuple[float, BaseThreshold]:
    """Fit a copy; return the score above which rows are anomalous, and the fitted threshold.

    The second can be saved: it is the fitted copy, or a ``Fixed`` where the object is not ours.
    The threshold of such an object is found by bisection of its predictions, so that new rows are
    assessed as it would judge them. ``warns`` says whether ours may log that scores are too few.
    """
    values = check_scores(scores)
    if hasattr(threshold, "get_params"):
        from sklearn.base import clone

        # clone forgets what a scikit-learn object was fitted on before
        fitted = clone(threshold)
    else:
        fitted = copy.deepcopy(threshold)
    if isinstance(fitted, BaseThreshold):
        if warns:
            fitted.fit(values)
        else:
            fitted.fit_quietly(values)
        return fitted.threshold_, fitted
    fitted.fit(values)
    cut = _find_cut(fitted, values)
    return cut, Fixed(cut).fit(values)


def check_threshold(threshold: Threshold) -> None:
    """Refuse an object that is no threshold, before anything is trained for it."""
    if isinstance(threshold, AlarmBudget):
        threshold.check_interval()
    elif not isinstance(threshold, BaseThreshold):
        try:
            fit_threshold(threshold, np.linspace(0, 1, 101))
        except InputError:
            raise
        except Exception as error:
            # whatever another library raises, it is this argument that caused it
            raise InputError(
                f"contamination must take scores of shape (n,) in fit and predict; "
                f"{threshold!r} raised {type(error).__name__}: {error}"
            ) from error


def _find_cut(fitted: Threshold, scores: NDArray[np.float64]) -> float:
    """The highest score that ``fitted`` calls normal, as far as floats can tell."""
    anomalous = _labels(fitted, scores)
    low = scores[~anomalous].max(initial=-np.inf)
    high = scores[anomalous].min(initial=np.inf)
    if high <= low:
        raise InputError(
            f"contamination must cut the scores at one value; {fitted!r} calls {low:g} normal "
            f"and {high:g} anomalous"
        )
    step = max(float(np.ptp(scores)), abs(float(scores[0])), 1e-9)
    low = _beyond(fitted, low, high, -step, wanted=False)
    high = _beyond(fitted, high, low, step, wanted=True)
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if _labels(fitted, np.array([middle]))[0]:
            high = middle
        else:
            low = middle
    return float(low)


def _beyond(fitted: Threshold, bound: float, start: float, step: float, *, wanted: bool) -> float:
    """Search for a bound beyond the scores: from ``start`` until the label changes."""
    if np.isfinite(bound):
        return bound
    for doubling in range(DOUBLINGS):
        probe = start + step * 2.0**doubling
        if _labels(fitted, np.array([probe]))[0] == wanted:
            return probe
    label = "anomalous" if wanted else "normal"
    raise InputError(f"contamination must call some score {label}; {fitted!r} calls none so")


def _labels(fitted: Threshold, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    labels = np.asarray(fitted.predict(scores))
    if labels.shape != scores.shape or not np.isin(labels, (0, 1)).all():
        raise InputError(
            f"predict of {fitted!r} must give 0 or 1 for each of {len(scores)} scores; "
            f"got shape {labels.shape} with {np.unique(labels)[:5]}"
        )
    return labels.astype(bool)
