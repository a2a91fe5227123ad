"""Thresholds without labels, chosen from normal scores alone."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.clock import duration
from subadjacent.decision.adaptive import AdaptiveConformal
from subadjacent.decision.base_threshold import BaseThreshold, Threshold
from subadjacent.decision.conformal import Conformal
from subadjacent.decision.dynamic import STEP, dynamic_level
from subadjacent.decision.extremes import Tail, fit_tail, require_fraction
from subadjacent.decision.normal import (
    EXCURSION_GAP,
    HIGH_QUANTILE,
    TAIL_QUANTILE,
    NormalScores,
)
from subadjacent.decision.quantiles import quantiles
from subadjacent.errors import InputError, require_number, require_whole

log = logging.getLogger(__name__)

# highest first: the further out the peaks, the better a tail suits them
LEVELS = (0.98, 0.95, 0.9)

BUDGET = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:/|per)\s*(.+)")


@dataclass(frozen=True)
class ExtremeValue(BaseThreshold):
    """The score that a normal row exceeds with chance ``risk``, by extreme-value theory.

    Parameters
    ----------
    risk
        Chance of a false alarm per row; it may be rarer than one in all rows seen.
    level
        The tail is fitted to scores above this quantile. See ``fit_tail``.
    """

    kind: ClassVar[str] = "extreme_value"

    risk: float = 1e-4
    level: float = 0.98

    def __post_init__(self) -> None:
        require_fraction("level", self.level)
        require_number("risk", self.risk, above=0)
        if self.risk >= 1 - self.level:
            raise InputError(
                f"risk must be below {1 - self.level:.6g}, the share of rows above "
                f"level={self.level}; got {self.risk!r}"
            )

    def _choose(self, scores: NDArray[np.float64]) -> float:
        return fit_tail(scores, self.level).level(self.risk)


@dataclass(frozen=True)
class AutoRate(BaseThreshold):
    """About one false alarm in twice as many rows as were fitted on.

    Fewer rows than these do not tell how high normal scores rise. Each entity has a level of its
    own; ``threshold_`` is that of all rows fitted on together.

    Parameters
    ----------
    alarms
        False alarms in as many rows as were fitted on.
    most
        False alarms in a row at most, however few were fitted on.
    """

    kind: ClassVar[str] = "auto_rate"

    alarms: float = 1 / 2
    most: float = 1 / 5_000

    def __post_init__(self) -> None:
        require_number("alarms", self.alarms, above=0)
        require_number("most", self.most, above=0, most=1)

    def risk(self, rows: int) -> float:
        """False alarms to expect in a row, where ``rows`` were fitted on."""
        return min(self.alarms / rows, self.most)

    def level(self, entity: NormalScores, pooled: NormalScores) -> float:
        """The level of an entity.

        Normal excursions are those of the entity itself or of all entities together, whichever are
        rarer: a restless while in training does not hide all later anomalies. No level is below
        what one normal row in a hundred exceeds.
        """
        risk = self.risk(entity.rows)
        level = min(entity.tail.level(risk), pooled.tail.level(risk))
        return max(level, entity.high, pooled.high)

    def part(self, share: float) -> AutoRate:
        """A rule with a share of the false alarms."""
        return AutoRate(share * self.alarms, share * self.most)

    def _choose(self, scores: NDArray[np.float64]) -> float:
        tail = fit_tail(scores, TAIL_QUANTILE, EXCURSION_GAP)
        level = tail.level(self.risk(len(scores)))
        return max(level, quantiles(scores, (HIGH_QUANTILE,))[0])


@dataclass(frozen=True)
class Quantile(BaseThreshold):
    """The ``q`` quantile: a share ``1 - q`` of the rows fitted on is above it."""

    kind: ClassVar[str] = "quantile"

    q: float = 0.99

    def __post_init__(self) -> None:
        require_fraction("q", self.q)

    def part(self, share: float) -> Quantile:
        """A rule with a share of the rows above it."""
        return Quantile(1 - share * (1 - self.q))

    def _choose(self, scores: NDArray[np.float64]) -> float:
        return float(np.quantile(scores, self.q))


@dataclass(frozen=True)
class Fixed(BaseThreshold):
    """A fixed threshold, given by the user."""

    kind: ClassVar[str] = "fixed"

    value: float

    def __post_init__(self) -> None:
        require_number("value", self.value)

    def _choose(self, scores: NDArray[np.float64]) -> float:  # noqa: ARG002
        return self.value


@dataclass(frozen=True)
class AlarmBudget(BaseThreshold):
    """About ``alarms`` false alarms in the time ``per``, for each entity.

    An alarm is a cluster of rows above the threshold, so a long excursion counts once. The
    tail of the clusters' peaks says where the threshold lies, also for a time longer than the
    rows fitted on cover; that is logged when it is longer by far.

    Parameters
    ----------
    alarms
        Tolerated in ``per``.
    per
        A duration such as "1week", or seconds.
    interval
        From row to row: a duration or seconds. It must be known when ``fit`` is called.
    run
        Rows above the threshold closer than this many rows are one alarm. The default joins what
        ``alarms`` of a detector joins: rows with at most 10 others between them.
    """

    kind: ClassVar[str] = "alarm_budget"

    alarms: float = 1
    per: str | float | timedelta = "1week"
    interval: str | float | timedelta | None = None
    run: int = 12

    def __post_init__(self) -> None:
        require_number("alarms", self.alarms, above=0)
        require_whole("run", self.run, least=1)
        seconds = duration(self.per, name="per")
        if not isinstance(self.per, str):
            object.__setattr__(self, "per", seconds)
        if self.interval is not None:
            object.__setattr__(self, "interval", duration(self.interval, name="interval"))

    def with_interval(self, seconds: float) -> Self:
        """An unfitted copy for rows ``seconds`` apart."""
        return replace(self, interval=seconds)

    def part(self, share: float) -> AlarmBudget:
        """A rule with a share of the false alarms."""
        return replace(self, alarms=share * self.alarms)

    def check_interval(self) -> None:
        """Refuse a budget without an interval, or of too frequent alarms."""
        _ = self.risk

    @property
    def risk(self) -> float:
        """Tolerated alarms per row; raises an InputError where the interval is not known."""
        if self.interval is None:
            raise InputError(
                "interval must be known to turn an alarm budget into a threshold; got None, as the "
                "rows have no dates or the series differ in it: fit on rows with dates, or pass "
                "interval='60s' for one row a minute"
            )
        risk = self.alarms * duration(self.interval) / duration(self.per)
        if risk * self.run >= 1:
            raise InputError(
                f"alarms must be rarer than one every run={self.run} rows; got {self.alarms:g} "
                f"in {self.per!r}, one every {1 / risk:.3g} rows"
            )
        return risk

    def _choose(self, scores: NDArray[np.float64]) -> float:
        return self._tail(scores, self.risk).level(self.risk)

    def _warn(self, scores: NDArray[np.float64]) -> None:
        if self.risk * len(scores) < 0.1:
            log.warning(
                "%g alarms in %r are one every %.3g rows, and %d rows were fitted on: the "
                "threshold %.6g is extrapolated far beyond them; fit on more rows to rely on it",
                *(self.alarms, self.per, 1 / self.risk, len(scores), self.threshold_),
            )

    def _tail(self, scores: NDArray[np.float64], risk: float) -> Tail:
        """The tail above the highest level with clusters at least twice as often as ``risk``."""
        best = fit_tail(scores, LEVELS[0], self.run)
        for level in LEVELS[1:]:
            if best.rate >= 2 * risk:
                break
            # there may be fewer clusters above a lower level: they grow together
            best = max(best, fit_tail(scores, level, self.run), key=lambda tail: tail.rate)
        return best


@dataclass(frozen=True)
class DynamicLevel(BaseThreshold):
    """The level above which scores stand out most, by Hundman et al. (see ``dynamic``).

    ``threshold_`` is that of the rows fitted on. A decision in hindsight takes that of the
    segment itself.

    Parameters
    ----------
    step
        Least step from one peak to the next lower one, as a share of it.
    """

    kind: ClassVar[str] = "dynamic_level"

    step: float = STEP

    def __post_init__(self) -> None:
        require_number("step", self.step, least=0, most=1)

    def _choose(self, scores: NDArray[np.float64]) -> float:
        return dynamic_level(scores, self.step)


def budget_text(budget: AlarmBudget) -> str:
    """A budget as people write it."""
    return f"{budget.alarms:g}/{duration(budget.per):g}s"


def requested_rate(rule: BaseThreshold, rows: int = 1) -> float | None:
    """False alarms requested in a row, given how many were fitted on; None where none are."""
    if isinstance(rule, AutoRate):
        return rule.risk(rows)
    if isinstance(rule, Quantile):
        return 1 - rule.q
    return rule.risk if isinstance(rule, AlarmBudget | ExtremeValue) else None


KINDS: dict[str, type[BaseThreshold]] = {
    kind.kind: kind
    for kind in (
        AutoRate,
        ExtremeValue,
        Quantile,
        Fixed,
        AlarmBudget,
        DynamicLevel,
        Conformal,
        AdaptiveConformal,
    )
}

FORMER_NAME = re.compile(r"\s*(dynamic|conformal|adaptive|[0-9.]+\s*%\s*(?:adaptive)?)\s*")
"""Text that versions before 0.3 accepted as a ``contamination``."""


def threshold_from_dict(saved: Mapping[str, Any]) -> BaseThreshold:
    """The threshold that ``to_dict`` wrote."""
    kind = saved.get("kind")
    if kind not in KINDS:
        raise InputError(f"kind of threshold must be one of {', '.join(KINDS)}; got {kind!r}")
    try:
        threshold = KINDS[kind](**saved.get("settings", {}))
    except TypeError as error:
        raise InputError(f"settings must be those of a {kind} threshold; {error}") from error
    return threshold if saved.get("threshold_") is None else threshold.restore(saved)


def choose_threshold(contamination: Any, interval: float | None = None) -> Threshold:
    """The threshold that a detector's ``contamination`` stands for.

    Parameters
    ----------
    contamination
        "auto", a share of the rows, an alarm budget such as "1/week", or a threshold object.
    interval
        Seconds between rows, where known; only an alarm budget needs it.
    """
    if isinstance(contamination, AlarmBudget) and contamination.interval is None and interval:
        return contamination.with_interval(interval)
    if isinstance(contamination, Threshold) and not isinstance(contamination, type):
        return contamination
    if isinstance(contamination, Real) and 0 < float(contamination) <= 0.5:
        return Quantile(1 - float(contamination))
    if isinstance(contamination, str):
        if contamination == "auto":
            return AutoRate()
        # an impossible period is refused below, in the words of this argument
        with suppress(InputError):
            if budget := BUDGET.fullmatch(contamination):
                return AlarmBudget(float(budget[1]), budget[2], interval)
    raise InputError.of(
        "contamination",
        "must be 'auto', a share of the rows above 0 and up to 0.5, an alarm budget such as "
        "'1/week' or '2/day', or an object with fit(scores) and predict(scores)",
        f"got {contamination!r}",
        _replacement(contamination),
    )


def _replacement(contamination: Any) -> str:
    """The object that replaces a former name, as a remedy; empty for anything else."""
    if not isinstance(contamination, str) or not FORMER_NAME.fullmatch(contamination):
        return ""
    alpha = float(number[0]) / 100 if (number := re.search(r"[0-9.]+", contamination)) else 0.01
    if "dynamic" in contamination:
        return "pass DynamicLevel()"
    kind = "AdaptiveConformal" if "adaptive" in contamination else "Conformal"
    return f"pass {kind}({alpha:g})"
