"""Conformal p-values: how many held-out normal scores are as high as a score.

Of n + 1 rows whose scores are exchangeable (their order says nothing), each is as likely as any
other to be the highest. So ``p = (1 + number of n held-out scores as high) / (n + 1)`` of a normal
row is at most ``alpha`` with a chance of at most ``alpha``, whatever the scores' distribution and
for any n (Vovk, Gammerman and Shafer, 2005). A tie counts as "as high": that errs on the safe side.

Scores of a time series are not exchangeable: neighbours are alike, and high scores come in clusters
of ``c`` rows. Every c-th of the held-out rows alone would be nearly exchangeable; there are c ways
to take every c-th, and the mean of their p-values is ``p = (c + number as high) / (n + c)``. Rows
that come one by one have c = 1, and the p-values above. The chance is then about ``alpha`` as long
as held-out rows are many times as long as the scores remember; where they are not, a warning says
so: a short segment has not seen what the series does. With ``block`` rows the highest scores of
blocks are compared, and the promise is about blocks, not rows.
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

from subadjacent.decision.base_threshold import BaseThreshold
from subadjacent.decision.extremes import check_scores
from subadjacent.errors import MOST_ROWS, InputError, require_number, require_whole

HIGH_SHARE = 0.1
"""Share of the scores that count as high. With half as many the clusters of 200 rows are not seen;
with twice and a half as many, moderate scores count, whose clusters are longer than those of rare
ones, and alarms get rarer than was asked for (the log, "Conformal thresholds and clusters")."""


def cluster_size(scores: NDArray[np.float64]) -> float:
    """The mean number of high scores in a cluster, in rows: 1 where they come one by one.

    This is one over the extremal index, by the intervals estimator of Ferro and Segers (2003,
    "Inference for clusters of extreme values"). Times between high scores that come one by one are
    geometric; clusters make some of them short and others long. What tells them apart is the ratio
    of mean square and squared mean, so that no length of a cluster has to be chosen beforehand.
    """
    # a tie with the level is not above it; where most scores tie, none is high
    high = np.flatnonzero(scores > np.quantile(scores, 1 - HIGH_SHARE))
    between = np.diff(high) - 1.0
    # high scores side by side are a single cluster, which the estimator cannot handle
    if not (between > 1).any():
        return float(max(len(high), 1))
    squares = (between * (between - 1)).sum()
    return max(float(len(between) * squares / (2 * between.sum() ** 2)), 1.0)


def autocorrelation_time(scores: NDArray[np.float64]) -> float:
    """The autocorrelation time: rows that say as much about a mean as one independent row.

    It is that of ranks, which outliers do not move: one and twice the sum of autocorrelations, up
    to where two in a row add up to nothing (Geyer, 1992, "Practical Markov chain Monte Carlo").
    """
    from scipy.stats import rankdata

    ranks = rankdata(scores)
    ranks -= ranks.mean()
    if not ranks.any():
        return 1.0
    spectrum = np.fft.rfft(ranks, 2 * len(ranks))
    products = np.fft.irfft(np.square(np.abs(spectrum)))[: len(ranks)]
    pairs = products[: len(ranks) // 2 * 2].reshape(-1, 2).sum(axis=1) / products[0]
    ends = np.flatnonzero(pairs <= 0)
    return max(float(2 * pairs[: ends[0] if len(ends) else None].sum() - 1), 1.0)


log = logging.getLogger(__name__)

STEP = 1.01
"""From one rank that is kept to the next, beyond the hundred highest, which all are. p-values come
out up to 1 % too high between them, never too low; a million scores are kept as a thousand."""

MIN_TIMES = 20
"""Times that held-out rows are as long as scores remember, below which a warning says that alarms
may be several times as frequent as asked for. With 10, a third of segments of 200 rows that keep
0.99 of the row before go without it; with 40, two thirds of those that keep 0.9 have it, where
little is wrong (reproduce/log.md, "Conformal thresholds and clusters")."""


def conformal_p_values(
    normal: ArrayLike, scores: ArrayLike, cluster: float = 1
) -> NDArray[np.float64]:
    """The p-value of each score: ``(c + number of normal scores as high) / (n + c)``.

    ``c`` is the number of rows in a ``cluster``: 1 where normal scores are exchangeable.
    """
    require_cluster(cluster)
    ordered = np.sort(check_scores(normal))
    as_high = len(ordered) - np.searchsorted(ordered, check_scores(scores), side="left")
    return np.asarray((cluster + as_high) / (len(ordered) + cluster))


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


def require_cluster(cluster: float) -> None:
    """Refuse anything but a number of rows, which may be a mean."""
    require_number("cluster", cluster, least=1, most=MOST_ROWS)


class _Ranked(BaseThreshold):
    """Held-out scores by rank: all of few, and enough of many to tell p-values."""

    learned: ClassVar[tuple[str, ...]] = ("levels_", "counts_")

    levels_: tuple[float, ...]
    counts_: tuple[float, ...]

    def _rank(self, scores: NDArray[np.float64], cluster: float) -> None:
        ordered, n = np.sort(scores), len(scores)
        steps = int(np.log(n) / np.log(STEP)) + 2
        ranks = np.unique(np.minimum(STEP ** np.arange(steps), n).astype(np.int64))
        levels = np.unique(ordered[n - ranks])
        above = n - np.searchsorted(ordered, levels, side="right")
        counts = np.array([n, *above]) / cluster
        self._learn(levels_=tuple(levels.tolist()), counts_=tuple(counts.tolist()))

    def p_values(self, scores: ArrayLike) -> NDArray[np.float64]:
        """The p-value of each score; at most ``alpha`` where it is above ``threshold_``."""
        self._check_fitted()
        below = np.searchsorted(self.levels_, check_scores(scores), side="left")
        return np.asarray((1 + np.array(self.counts_)[below]) / (self.counts_[0] + 1))

    def _level_of(self, alpha: float) -> float:
        """The lowest level above which p-values are at most ``alpha``; none: the highest float."""
        p_values = (1 + np.array(self.counts_[1:])) / (self.counts_[0] + 1)
        low = np.flatnonzero(p_values <= alpha)
        return self.levels_[low[0]] if len(low) else sys.float_info.max


@dataclass(frozen=True)
class Conformal(_Ranked):
    """A normal row is flagged with a probability of at most ``alpha``: split-conformal p-values.

    With ``cluster=1`` this holds for any distribution of scores and any number of held-out rows, if
    new rows are exchangeable with the held-out ones. In a time series they are not: high scores
    come in clusters. By default the cluster length is estimated, and the bound is approximate; see
    the module.

    Parameters
    ----------
    alpha
        Rows with a p-value of at most this are anomalous. With n held-out rows in clusters of c, no
        p-value is below c / (n + c). If that is more than ``alpha``, no row can be an alarm, and a
        warning is logged.
    block
        Rows in a block: at most a share ``alpha`` of such blocks of normal rows contains an alarm.
        1 counts every row by itself.
    cluster
        Mean number of consecutive high scores that count as one. None: estimated from the held-out
        scores. 1: rows (or blocks) are exchangeable, and p-values are those of the textbook.

    Attributes
    ----------
    levels_ : tuple
        Held-out scores, or the highest ones of blocks, rising: all of few, some of many.
    counts_ : tuple
        How many clusters the held-out scores are worth, then those above each of these.
    """

    kind: ClassVar[str] = "conformal"

    alpha: float = 0.01
    block: int = 1
    cluster: float | None = None

    def __post_init__(self) -> None:
        require_alpha(self.alpha)
        require_whole("block", self.block, least=1, most=MOST_ROWS)
        if self.cluster is not None:
            require_cluster(self.cluster)

    def _choose(self, scores: NDArray[np.float64]) -> float:
        peaks = self._peaks(scores)
        cluster = cluster_size(peaks) if self.cluster is None else self.cluster
        self._rank(peaks, float(cluster))
        return self._level_of(self.alpha)

    def _peaks(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        # fewer rows than a block are one, though shorter than those to come
        return block_maxima(scores, min(self.block, len(scores)))

    def _warn(self, scores: NDArray[np.float64]) -> None:
        peaks = self._peaks(scores)
        cluster = len(peaks) / self.counts_[0]
        # in words that fit a detector's contamination and the command's option as well
        units = "rows" if self.block == 1 else f"blocks of {self.block} rows"
        chance = f"{100 * self.alpha:g}%"
        if 1 / (self.counts_[0] + 1) > self.alpha:
            log.warning(
                "a chance of %s needs at least %s held-out %s%s, and there are %s: no row can be "
                "an alarm; fit on more rows, allow a larger chance, or ask for a budget such as "
                "'1/week', which extrapolates",
                *(chance, f"{int(np.ceil(cluster * (1 / self.alpha - 1))):,}", units),
                f", as high scores come in clusters of {cluster:.1f}" if cluster > 1 else "",
                f"{len(peaks):,}",
            )
        elif self.cluster is None and len(peaks) < MIN_TIMES * (
            lasting := autocorrelation_time(peaks)
        ):
            log.warning(
                "the %s held-out %s are only %.0f times as many as scores remember: alarms may be "
                "several times as frequent as %s; fit on more rows, or pass AdaptiveConformal(%g), "
                "which bounds their share whatever scores do",
                *(f"{len(peaks):,}", units, len(peaks) / lasting, chance, self.alpha),
            )

    def _check_learned(self) -> None:
        require_falling("counts_", self.counts_)
        require_falling("levels_", self.levels_[::-1])
        for count in self.counts_:
            require_number("counts_", count, least=0)
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
