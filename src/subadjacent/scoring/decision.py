"""From scores to decisions: which rows are anomalous, and how far beyond the threshold they are.

One principle for all data: a row is anomalous if it stands out from the training rows and from the
recent rows of the series. How far it must stand out is set by a threshold from fitting or, by
default, from the scores of the segment itself in hindsight (``false_alarms``). A row in which a
channel is silent (``silence``) is anomalous whatever its score, and does not count for other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import cut
from subadjacent.scoring.adaptive import AdaptiveConformal
from subadjacent.scoring.base_threshold import BaseThreshold
from subadjacent.scoring.conformal import Conformal
from subadjacent.scoring.dynamic import dynamic_level
from subadjacent.scoring.events import core_of, join, rows_of
from subadjacent.scoring.normal import NormalScores, level_of_one, lowest_level
from subadjacent.scoring.recent_baseline import RecentBaseline, follow
from subadjacent.scoring.threshold import DynamicLevel, FalseShare, Quantile

# how steep probabilities are: a typical row gets 1 %, a row at the threshold 50 %
STEEPNESS = float(np.log(99))
# a difference of scores below this, or below this share of them, is rounding: those of networks
# have six or seven digits
TINY, TINY_SHARE = 1e-12, 1e-6
# two runs of anomalous rows with at most this many rows between them are one
GAP = 10
# a model does not fit a series if this share of its rows is unlike the training rows
MAX_UNLIKE_SHARE = 0.3
# the least normalised score of a row with a silent channel: as far beyond the threshold as that is
# from a typical row. Less would rank it below the weakest findings, as its score says nothing;
# more, above departures that were measured
SILENT_SEVERITY = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class RowDecisions:
    """The decisions on the rows of one series.

    Parameters
    ----------
    scores
        As given.
    threshold
        Rows above it are anomalous, (T,): one level, plus the baseline shift.
    normalized
        The scores on a scale that is the same for every model and entity: 1 is the threshold, 0 is
        the recent median. At least 2 where a channel is silent.
    anomalous
        Which rows belong to an event.
    baseline
        The recent baseline of the series' scores.
    fits
        Whether the model still fits the series.
    segments
        Bounds of its unbroken segments.
    gap
        Rows between two runs of anomalous rows that are joined: 0 where later rows may not count,
        or where a share of rows was requested.
    p_values
        Upper bound of the chance that a normal row scores as high, (T,); None where it is not
        conformal.
    """

    scores: NDArray[np.float64]
    threshold: NDArray[np.float64]
    normalized: NDArray[np.float64]
    anomalous: NDArray[np.bool_]
    baseline: RecentBaseline
    fits: bool
    segments: Sequence[tuple[int, int]]
    gap: int = GAP
    p_values: NDArray[np.float64] | None = None

    @property
    def probability(self) -> NDArray[np.float64]:
        """A logistic curve over the normalised score; it orders, it is not a frequency."""
        return np.asarray(expit(STEEPNESS * (self.normalized - 1)))

    def events(self, gap: int | None = None, shortest: int = 1) -> list[tuple[int, int]]:
        """Half-open row bounds of the runs of anomalous rows; ``gap`` None: the own one."""
        return join(self.anomalous, self.gap if gap is None else gap, shortest, self.segments)


@dataclass(frozen=True, slots=True)
class Decision:
    """Thresholds and baselines that turn the scores of each entity into decisions.

    Parameters
    ----------
    threshold
        The score above which rows are anomalous, set in fitting or by hand.
    rule
        The rule that set it, unless it was changed by hand.
    normal
        Statistics of normal scores, entity by entity.
    adapt_after
        Rows after which a shifted baseline is the new normal; None: never.
    """

    threshold: float
    rule: BaseThreshold | None
    normal: PerEntity[NormalScores]
    adapt_after: int | None

    def decide(
        self,
        scores: NDArray[Any],
        entity: str | None = None,
        segments: Sequence[tuple[int, int]] | None = None,
        silent: NDArray[np.bool_] | None = None,
        *,
        blur: int = 0,
        hindsight: bool = True,
    ) -> RowDecisions:
        """Decide on the rows of one series.

        Parameters
        ----------
        scores
            One a row, in time order.
        entity
            The entity's name.
        segments
            Bounds of unbroken segments; all rows are one if not given.
        silent
            Rows in which a channel is missing for long or stuck, (T,); none if not given.
        blur
            Rows by which averaging spreads an event to either side; they are left out.
        hindsight
            Whether later rows may count in the decision on a row.
        """
        scores = np.asarray(scores, dtype=np.float64)
        bounds = [(0, len(scores))] if segments is None else segments
        known_parts = cut(bounds, silent)
        known = np.ones(len(scores), dtype=bool) if silent is None else ~silent
        normal = self.normal.of(entity)
        baseline = RecentBaseline.unshifted(len(scores))
        if self.adapt_after is not None:
            baseline = _follow_known(scores, known, normal, self.adapt_after)
        above_baseline = scores - baseline.shift
        level, p_values = self._compare(
            above_baseline, known, baseline, normal, hindsight=hindsight
        )
        anomalous = above_baseline > level
        if blur and anomalous.any():
            anomalous = core_of(anomalous, above_baseline, blur, known_parts)
        # rows between runs would exceed the requested share
        gap = GAP if hindsight and not _is_share_of_rows(self.rule) else 0
        anomalous = rows_of(join(anomalous | ~known, gap, 1, bounds), len(scores))
        normalized = _normalized(above_baseline, level, normal)
        normalized[~known] = np.maximum(normalized[~known], SILENT_SEVERITY)
        return RowDecisions(
            scores,
            level + baseline.shift,
            normalized,
            anomalous,
            baseline,
            _fits(scores, known, np.maximum(level, normal.high), blur, known_parts),
            bounds,
            gap,
            p_values,
        )

    def _compare(
        self,
        scores: NDArray[np.float64],
        known: NDArray[np.bool_],
        baseline: RecentBaseline,
        normal: NormalScores,
        *,
        hindsight: bool,
    ) -> tuple[float | NDArray[np.float64], NDArray[np.float64] | None]:
        """The level, one for all rows or one a row, (T,), and p-values where the rule has any."""
        if isinstance(self.rule, AdaptiveConformal) and known.any():
            followed = self.rule.follow(scores[known])
            last = _last_known(known)
            return followed.levels[last], followed.p_values[last]
        # where the model does not fit, the share of false alarms cannot be estimated
        level = self._level(scores[known & ~baseline.shifted], normal, hindsight=hindsight)
        if isinstance(self.rule, Conformal) and len(scores):
            return level, self.rule.p_values(scores)
        return level, None

    def _level(
        self, scores: NDArray[np.float64], normal: NormalScores, *, hindsight: bool
    ) -> float:
        if isinstance(self.rule, DynamicLevel) and hindsight and len(scores):
            return dynamic_level(scores, self.rule.step)
        if not isinstance(self.rule, FalseShare):
            return self.threshold
        pooled, share = self.normal.pooled, self.rule.share
        if hindsight:
            return lowest_level(scores, normal, pooled, share)
        return level_of_one(normal.rows, normal, pooled, share)


def _follow_known(
    scores: NDArray[np.float64], known: NDArray[np.bool_], normal: NormalScores, after: int
) -> RecentBaseline:
    """The recent baseline of the known rows' scores; at the others, the last known one."""
    if not known.any():
        return RecentBaseline.unshifted(len(scores))
    moves = follow(scores[known], normal, after)
    # rows before the first known one take its baseline, which has not shifted yet
    last = _last_known(known)
    return RecentBaseline(moves.shift[last], moves.shifted[last])


def _last_known(known: NDArray[np.bool_]) -> NDArray[np.intp]:
    """For each row, the index among known rows of the last one up to it, or of the first."""
    return np.asarray(np.maximum(np.cumsum(known) - 1, 0))


def _is_share_of_rows(rule: BaseThreshold | None) -> bool:
    """Whether a threshold promises how many rows are above it."""
    by_row = isinstance(rule, Conformal) and rule.block == 1
    return by_row or isinstance(rule, Quantile | AdaptiveConformal)


def _fits(
    scores: NDArray[np.float64],
    known: NDArray[np.bool_],
    level: float | NDArray[np.float64],
    blur: int,
    segments: Sequence[tuple[int, int]],
) -> bool:
    """Whether few rows are unlike training, not counting rows that averages spread events to."""
    unlike = scores > level
    if blur and unlike.any():
        unlike = core_of(unlike, scores, blur, segments)
    return not known.any() or bool(unlike[known].mean() <= MAX_UNLIKE_SHARE)


def _normalized(
    scores: NDArray[np.float64], level: float | NDArray[np.float64], normal: NormalScores
) -> NDArray[np.float64]:
    span = np.asarray(level - normal.typical)
    rounding = np.maximum(TINY, TINY_SHARE * np.maximum(np.abs(level), abs(normal.typical)))
    # a threshold no higher than a typical row: the spread of scores is the unit then, and
    # where all were alike, the scores' own
    spread = np.where(normal.spread > rounding, normal.spread, 1.0)
    return np.asarray(1 + (scores - level) / np.where(span <= rounding, spread, span))
