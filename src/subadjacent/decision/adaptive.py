"""Adaptive conformal inference: alarms keep their share of the rows whatever the scores do.

A split-conformal threshold holds while rows to come are like held-out ones. Gibbs and Candès (2021,
"Adaptive Conformal Inference Under Distribution Shift") let the level follow what happens: after
each row ``alpha[t + 1] = alpha[t] + gamma * (alpha - error[t])``, where an error is a row whose
p-value is at most ``alpha[t]``. For any sequence of scores, drifting or made to be awkward, the
share of errors among T rows is then within ``(max(alpha, 1 - alpha) + gamma) / (gamma * T)`` of
``alpha``; and there are never more than ``alpha * T + alpha / gamma + 1`` of them.

It is not known which rows are normal, so that every row above the level counts as an error.
Anomalies make the level less sensitive for a while, and a long one shows by its first rows only.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.decision.base_threshold import BaseThreshold
from subadjacent.decision.conformal import rank_of, require_alpha
from subadjacent.decision.extremes import check_scores
from subadjacent.errors import MOST_ROWS, InputError, require_number, require_whole


class Followed(NamedTuple):
    """The level, (T,), and the p-value, (T,), of each row."""

    levels: NDArray[np.float64]
    p_values: NDArray[np.float64]


class AdaptiveLevel:
    """The level as rows arrive; ``step`` takes one score at a time.

    Attributes
    ----------
    alpha
        The level of the next row's p-value. It may leave 0 to 1 by up to ``gamma``: then no
        row, or every row, is above the level.
    level, p_value
        Of the latest row.
    """

    def __init__(self, alpha: float, gamma: float, memory: int, recent: Iterable[float]) -> None:
        self.alpha = self._aim = alpha
        self.level = self.p_value = float("nan")
        self._gamma = gamma
        self._recent = deque(recent, memory)
        self._ordered = sorted(self._recent)

    def step(self, score: float) -> bool:
        """Whether a score is above the level; afterwards it is one of the scores compared with."""
        n = len(self._ordered)
        as_high = n - bisect_left(self._ordered, score)
        self.p_value = (1 + as_high) / (n + 1)
        self.level = self._level(score)
        error = score > self.level
        self.alpha += self._gamma * (self._aim - error)
        if n == self._recent.maxlen:
            del self._ordered[bisect_left(self._ordered, self._recent[0])]
        self._recent.append(score)
        insort(self._ordered, score)
        return error

    def _level(self, score: float) -> float:
        """The level as a score, finite: a score is above it if its p-value is at most ``alpha``."""
        k = rank_of(self.alpha, len(self._ordered))
        if k <= 0:
            # no p-value is so low
            return max(self._ordered[-1], score)
        if k > len(self._ordered):
            # and none is higher than 1
            return float(np.nextafter(min(self._ordered[0], score), -np.inf))
        return self._ordered[-k]


class _Remembering(BaseThreshold):
    """Keeps held-out scores, which the first rows are compared with."""

    learned: ClassVar[tuple[str, ...]] = ("recent_",)

    recent_: tuple[float, ...]


@dataclass(frozen=True)
class AdaptiveConformal(_Remembering):
    """In the long run a share ``alpha`` of the rows exceeds the threshold, for any scores.

    p-values are ranks among the latest ``memory`` scores, at first held-out ones. ``threshold_`` is
    the threshold at the first row; it then changes from row to row, by earlier rows only. See the
    module for the guarantee.

    Parameters
    ----------
    alpha
        Share of the rows.
    gamma
        Step size: how far a row moves the level. A larger step adapts faster and is less steady.
        The default is that of Gibbs and Candès.
    memory
        Number of latest scores to compare with; at least 1 / alpha, else no row could exceed the
        threshold.

    Attributes
    ----------
    recent_ : tuple
        Held-out scores in time order, evenly spaced where there are more than ``memory``.
    """

    kind: ClassVar[str] = "adaptive_conformal"

    alpha: float = 0.01
    gamma: float = 0.005
    memory: int = 1000

    def __post_init__(self) -> None:
        require_alpha(self.alpha)
        require_number("gamma", self.gamma, above=0, most=1)
        require_whole("memory", self.memory, least=1, most=MOST_ROWS)
        if self.memory * self.alpha < 1:
            raise InputError(
                f"memory must be at least 1 / alpha, {1 / self.alpha:,.0f} rows, for a row to "
                f"stand out among them; got {self.memory}"
            )

    def _choose(self, scores: NDArray[np.float64]) -> float:
        self._learn(recent_=tuple(scores[:: -(-len(scores) // self.memory)].tolist()))
        return self._first_level()

    def _first_level(self) -> float:
        # that of a row which is above nothing
        return self._live()._level(-np.inf)

    def _live(self) -> AdaptiveLevel:
        return AdaptiveLevel(self.alpha, self.gamma, self.memory, self.recent_)

    def start(self) -> AdaptiveLevel:
        """The level before the first row, to be advanced row by row in a stream."""
        self._check_fitted()
        return self._live()

    def follow(self, scores: ArrayLike) -> Followed:
        """The level and p-value of each of some scores, in time order from the first row on."""
        live, compared = self.start(), []
        for score in check_scores(scores).tolist():
            live.step(score)
            compared.append((live.level, live.p_value))
        return Followed(*np.array(compared).T)

    def predict(self, scores: ArrayLike) -> NDArray[np.int64]:
        """1 for every score above its level, in time order from the first row on, else 0."""
        return (check_scores(scores) > self.follow(scores).levels).astype(np.int64)

    def _check_learned(self) -> None:
        if len(self.recent_) > self.memory or self.threshold_ != self._first_level():
            raise InputError(
                f"recent_ must be at most memory={self.memory} scores, and threshold_ the level of "
                f"alpha={self.alpha:g} among them"
            )
