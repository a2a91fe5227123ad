"""The paper's score: Eq. 6 weights errors by contributions, Eq. 7 compares scores in time.

Shapes: B windows, N points in a window, C channels, T rows of a segment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_ndtr
from torch import Tensor

from subadjacent.errors import InputError, require_number, require_whole
from subadjacent.methods.moving import smooth, trailing_sum
from subadjacent.networks.network import WindowEvidence

# the trace of a network that weights its errors
CONTRIBUTION = "contribution"

Scores = NDArray[np.float64]

# rows that the released form looks ahead
AHEAD = 10
# a deviation below this share of the warm-up's is taken as this share: after a quiet segment
# any ripple would otherwise be infinitely surprising
SMALLEST_SHARE = 0.1
# a deviation below this, or this share of the mean, is rounding
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class PaperScore:
    """How errors and contributions become the score of a row.

    Parameters
    ----------
    temperature
        T of Eq. 6: how sharply a low contribution raises a score. 0 leaves the plain error.
    block
        Rows that share one softmax of Eq. 6; None for the window itself.
    smoothing
        Number of scores that are averaged: that of the row, and those before it.
    dynamic
        Form of Eq. 7: "none", "trailing", "released" or "printed".
    """

    temperature: float = 50.0
    block: int | None = None
    smoothing: int = 1
    dynamic: str = "trailing"

    def __post_init__(self) -> None:
        require_number("temperature", self.temperature, least=0)
        if self.block is not None:
            require_whole("block", self.block, least=1)
        require_whole("smoothing", self.smoothing, least=1)
        check_form(self.dynamic)

    @property
    def needs_all_rows(self) -> bool:
        """Whether a row's score may depend on any other row of its segment."""
        return self.block is not None or self.dynamic == "released"

    def memory(self, warmup: NDArray[Any]) -> int:
        """Rows before a row that Eq. 7 compares it with."""
        return len(warmup) if self.dynamic in ("trailing", "printed") else 0

    def of_windows(self, assessed: WindowEvidence) -> Tensor:
        """Eq. 6 within each window, (B, N)."""
        error = assessed.error.mean(dim=-1) if assessed.score is None else assessed.score
        if self.temperature == 0:
            return error
        return weighted(error, assessed.traces[CONTRIBUTION], self.temperature)

    def smoothed(self, scores: NDArray[Any], usual: float) -> Scores:
        """Scores of a segment, averaged; ``usual`` stands for those before the first."""
        return smooth(scores, self.smoothing, before=usual)

    def compared(self, scores: NDArray[Any], warmup: NDArray[Any]) -> Scores:
        """Eq. 7 for the scores of a segment."""
        return dynamic(scores, warmup, self.dynamic)


def weighted(error: Tensor, contribution: Tensor, temperature: float) -> Tensor:
    """Eq. 6 over the last dimension: error times ``softmax(-T·contribution)``.

    The weights are multiplied by the block's length: their mean is 1, so that scores of
    different blocks compare.
    """
    weights = torch.softmax(-temperature * contribution, dim=-1) * contribution.shape[-1]
    return error * weights


def blockwise(
    error: NDArray[Any], contribution: NDArray[Any], block: int, temperature: float
) -> NDArray[Any]:
    """Eq. 6 over blocks of consecutive rows of a segment, (T,); the last may be shorter."""
    score = np.empty_like(error)
    for start in range(0, len(error), block):
        rows = slice(start, start + block)
        weighed = weighted(
            torch.from_numpy(error[rows]), torch.from_numpy(contribution[rows]), temperature
        )
        score[rows] = weighed.numpy()
    return score


def tail_surprise(z: Scores) -> Scores:
    """``-log(1 - cdf(z))``, written so that it stays finite far in the tail."""
    return np.asarray(-log_ndtr(-z))


def trailing(scores: Scores, warmup: Scores) -> Scores:
    """Relative to mean and deviation of the scores just before, as many as ``warmup`` has.

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
    """Relative to the next ten scores' mean and the deviation of all, as in the authors' code.

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
