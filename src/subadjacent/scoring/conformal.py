"""Conformal p-values: how many held-out normal scores are as high as a score.

Of n + 1 rows whose scores are exchangeable (their order says nothing), each is as likely as any
other to be the highest. So ``p = (1 + number of n held-out scores as high) / (n + 1)`` of a normal
row is at most ``alpha`` with a chance of at most ``alpha``, whatever the scores' distribution and
for any n (Vovk, Gammerman and Shafer, 2005). A tie counts as "as high": that errs on the safe side.

Scores of a time series are not exchangeable: neighbours are alike. The chance is about ``alpha``
where held-out rows are many times as long as the scores remember, and higher where they are not:
a short stretch has not seen what the series does. Alarms come in runs. With ``block`` rows the
highest scores of blocks are compared, and the promise is about blocks, which are more nearly
exchangeable, not rows.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.errors import MOST_ROWS, InputError, require_number, require_whole
from subadjacent.scoring.base_threshold import BaseThreshold
from subadjacent.scoring.extremes import check_scores

log = logging.getLogger(__name__)

STEP = 1.01
"""From one rank that is kept to the next, beyond the hundred highest, which all are. p-values come
out up to 1 % too high between them, never too low; a million scores are kept as a thousand."""


def conformal_p_values(normal: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """The p-value of each score: ``(1 + number of normal scores as high) / (n + 1)``."""
    ordered = np.sort(check_scores(normal))
    as_high = len(ordered) - np.searchsorted(ordered, check_scores(scores), side="left")
    return np.asarray((1 + as_high) / (len(ordered) + 1))


def rank_of(alpha: float, n: int) -> int:
    """The largest k with ``k / (n + 1) <= alpha``, to the last digit of a float.

    A score has a p-value of at most ``alpha`` if and only if it is above the k-th highest of n.
    """
    k = int(alpha * (n + 1))
    # the product is rounded: 0.29 * 100 is 28.999999999999996
    if (k + 1) / (n + 1) <= alpha:
        return k + 1
    return k - 1 if k / (n + 1) > alpha else k


def block_maxima(scores: NDArray[np.float64], block: int) -> NDArray[np.float64]:
    """The highest score of each full block of rows, from the first on."""
    blocks = len(scores) // block
    return np.asarray(scores[: blocks * block].reshape(blocks, block).max(axis=1))


def require_alpha(alpha: float) -> None:
    """Refuse anything but a share above 0 and up to a half."""
    require_number("alpha", alpha, above=0, most=0.5)


class _Ranked(BaseThreshold):
    """Held-out scores by rank: all of few, and enough of many to tell p-values."""

    learned: ClassVar[tuple[str, ...]] = ("levels_", "counts_")

    levels_: tuple[float, ...]
    counts_: tuple[int, ...]

    def _rank(self, scores: NDArray[np.float64]) -> None:
        ordered, n = np.sort(scores), len(scores)
        steps = int(np.log(n) / np.log(STEP)) + 2
        ranks = np.unique(np.minimum(STEP ** np.arange(steps), n).astype(np.int64))
        levels = np.unique(ordered[n - ranks])
        above = n - np.searchsorted(ordered, levels, side="right")
        self._learn(levels_=tuple(levels.tolist()), counts_=(n, *above.tolist()))

    def p_values(self, scores: ArrayLike) -> NDArray[np.float64]:
        """The p-value of each score; at most ``alpha`` where it is above ``threshold_``."""
        self._check_fitted()
        below = np.searchsorted(self.levels_, check_scores(scores), side="left")
        return np.asarray((1 + np.array(self.counts_)[below]) / (self.counts_[0] + 1))

    def _level_of(self, alpha: float) -> float:
        """The lowest level above which p-values are at most ``alpha``; none: the highest float."""
        k = rank_of(alpha, self.counts_[0])
        pairs = zip(self.levels_, self.counts_[1:], strict=True)
        return next((level for level, above in pairs if above < k), sys.float_info.max)


@dataclass(frozen=True)
class Conformal(_Ranked):
    """A normal row is an alarm with a chance of at most ``alpha``: split-conformal p-values.

    This holds for any distribution of scores and any number of held-out rows if rows to come are
    exchangeable with these; see the module for what becomes of it in a time series.

    Parameters
    ----------
    alpha
        Rows are anomalous where their p-value is at most this. With n held-out rows none is below
        1 / (n + 1): where that is more than ``alpha``, no row can be an alarm, which is logged.
    block
        At most a share ``alpha`` of the blocks of so many rows holds an alarm. 1 counts every row
        by itself.

    Attributes
    ----------
    levels_ : tuple
        Held-out scores, or the highest ones of blocks, rising: all of few, some of many.
    counts_ : tuple
        How many held-out scores there are, then how many are above each of these.
    """

    kind: ClassVar[str] = "conformal"

    alpha: float = 0.01
    block: int = 1

    def __post_init__(self) -> None:
        require_alpha(self.alpha)
        require_whole("block", self.block, least=1, most=MOST_ROWS)

    def _choose(self, scores: NDArray[np.float64]) -> float:
        # fewer rows than a block are one, though shorter than those to come
        peaks = block_maxima(scores, min(self.block, len(scores)))
        self._rank(peaks)
        if rank_of(self.alpha, len(peaks)) == 0:
            what = "rows" if self.block == 1 else f"blocks of {self.block} rows"
            log.warning(
                "alpha=%g needs at least %d held-out %s, and there are %d: no row can be an alarm; "
                "fit on more rows, ask for more, or take ExtremeValue, which extrapolates",
                *(self.alpha, int(np.ceil(1 / self.alpha)) - 1, what, len(peaks)),
            )
        return self._level_of(self.alpha)

    def _check_learned(self) -> None:
        require_falling("counts_", self.counts_)
        require_falling("levels_", self.levels_[::-1])
        for count in self.counts_:
            require_whole("counts_", count, least=0)
        if self.counts_[-1] != 0 or len(self.counts_) != len(self.levels_) + 1:
            raise InputError(
                f"counts_ must be one more than the {len(self.levels_)} levels_ and end with 0; "
                f"got {len(self.counts_)} that end with {self.counts_[-1]}"
            )
        if self.threshold_ != self._level_of(self.alpha):
            raise InputError(
                f"threshold_ must be the level of alpha={self.alpha:g} among levels_; got "
                f"{self.threshold_:g}"
            )


def require_falling(name: str, numbers: Sequence[float]) -> None:
    """Refuse numbers that do not fall from each to the next."""
    if any(high <= low for high, low in pairwise(numbers)):
        raise InputError(f"{name} must be in order, each once, as sorted scores are")
