"""Dynamic Gaussian scoring (Eq. 7): how surprising a score is, given the scores around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from subadjacent.errors import InputError
from subadjacent.scoring.moving import trailing_sum

Scores = NDArray[np.float64]

# rows that the released form looks ahead
AHEAD = 10
# a deviation below this share of the warm-up's is taken as this share: after a quiet stretch
# any ripple would otherwise be infinitely surprising
SMALLEST_SHARE = 0.1
# a deviation below this, or this share of the mean, is rounding
TINY = 1e-12


def tail_surprise(z: Scores) -> Scores:
    """``-log(1 - cdf(z))``, written so that it stays finite far in the tail."""
    return np.asarray(-log_ndtr(-z))


def trailing(scores: Scores, warmup: Scores) -> Scores:
    """Against the mean and deviation of the scores just before, as many as ``warmup`` has.

    The warm-up stands for the scores before the first. A score is not part of what it is
    compared with, and nothing later plays a part, so this form can stream.
    """
    mean, deviation = _before(scores, warmup)
    return tail_surprise((scores - mean) / deviation)


def printed(scores: Scores, warmup: Scores) -> Scores:
    """As ``trailing``, divided by the variance, as Eq. 7 is printed."""
    mean, deviation = _before(scores, warmup)
    return tail_surprise((scores - mean) / deviation**2)


def released(scores: Scores, _warmup: Scores) -> Scores:
    """Against the mean of the next ten scores and the deviation of all, as in the authors' code.

    Needs the future, and all scores at once.
    """
    ahead = trailing_sum(scores[::-1], AHEAD + 1)[::-1] - scores
    left = np.minimum(np.arange(len(scores))[::-1], AHEAD)
    mean = np.where(left > 0, ahead / np.maximum(left, 1), scores)
    deviation = np.maximum(scores.std(), _rounding(mean))
    return tail_surprise((scores - mean) / deviation)


def unchanged(scores: Scores, _warmup: Scores) -> Scores:
    """The scores themselves."""
    return scores


DYNAMIC: dict[str, Callable[[Scores, Scores], Scores]] = {
    "trailing": trailing,
    "released": released,
    "printed": printed,
    "none": unchanged,
}


def dynamic(scores: NDArray[Any], warmup: NDArray[Any], form: str = "trailing") -> Scores:
    """Eq. 7 in one of its named forms."""
    check_form(form)
    return DYNAMIC[form](np.asarray(scores, dtype=float), np.asarray(warmup, dtype=float))


def check_form(form: str) -> None:
    """Refuse a form of Eq. 7 that is not known."""
    if not isinstance(form, str) or form not in DYNAMIC:
        raise InputError(f"dynamic must be one of {', '.join(DYNAMIC)}; got {form!r}")


def _before(scores: Scores, warmup: Scores) -> tuple[Scores, Scores]:
    """Mean and deviation of the ``len(warmup)`` scores before each score."""
    length = len(warmup)
    known = np.concatenate([warmup, scores])[:-1]
    # from the warm-up's mean, squares are as small as they get without looking ahead
    centred = known - warmup.mean()
    shift = trailing_sum(centred, length)[length - 1 :] / length
    square = trailing_sum(centred**2, length)[length - 1 :] / length
    mean = warmup.mean() + shift
    smallest = np.maximum(SMALLEST_SHARE * warmup.std(), _rounding(mean))
    deviation = np.sqrt(np.maximum(square - shift**2, smallest**2))
    return mean, deviation


def _rounding(mean: Scores) -> Scores:
    return TINY * np.maximum(np.abs(mean), 1)
