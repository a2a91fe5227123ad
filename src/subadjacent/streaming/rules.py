"""What is requested of a stream: a rate of false alarms, and when an alarm is over or normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from subadjacent.data.clock import duration
from subadjacent.decision.base_threshold import BaseThreshold
from subadjacent.decision.decision import Decision
from subadjacent.decision.threshold import (
    AlarmBudget,
    Quantile,
    budget_text,
    choose_threshold,
    requested_rate,
)
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import MOST_ROWS, InputError, require_whole

CLOSE_AFTER = 30
"""Rows without a high-severity one after which a live alarm is closed: evidence that looks back
only is not averaged over rows, as that of a batch is."""

ADAPT_AFTER = 300
"""Rows after which an event is the new normal, as a detector's ``adapt_after``."""

FILL_LIMIT = 10
"""Missing rows in a gap that is filled without an alarm, as a detector's ``fill_limit``."""


@dataclass(frozen=True, slots=True)
class AlarmRules:
    """When alarms open and close, and which gaps are none.

    Parameters
    ----------
    close_after
        Rows without a high-severity one after which an alarm is closed.
    adapt_after
        Rows after which an event is the new normal; None: never.
    contamination
        False alarms to raise: a share of the rows, a budget such as "1/week", or "auto", the
        detector's own rate or, without a detector, one in 5,000 rows.
    fill_limit
        Missing rows in a gap that is filled without an alarm.
    """

    close_after: int = CLOSE_AFTER
    adapt_after: int | None = ADAPT_AFTER
    contamination: Any = "auto"
    fill_limit: int = FILL_LIMIT

    @classmethod
    def of(
        cls,
        detector: BaseDetector | None,
        *,
        close_after: int = CLOSE_AFTER,
        adapt_after: int | str | None = "auto",
        contamination: Any = "auto",
        fill_limit: int | None = None,
    ) -> Self:
        """The rules of a stream: the detector's, else the defaults, where nothing is given."""
        if adapt_after == "auto":
            adapt_after = ADAPT_AFTER if detector is None else detector.adapt_after
        if fill_limit is None:
            fill_limit = FILL_LIMIT if detector is None else detector.fill_limit
        # what is no number is refused
        return cls(close_after, adapt_after, contamination, fill_limit)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        require_whole("close_after", self.close_after, least=1, most=MOST_ROWS)
        if self.adapt_after is not None:
            require_whole("adapt_after", self.adapt_after, least=1, most=MOST_ROWS)
        require_whole("fill_limit", self.fill_limit, least=0, most=MOST_ROWS)
        if self._period(1.0) is None:
            raise InputError.of(
                "contamination",
                "must be 'auto', a share of the rows above 0 and up to 0.5, or an alarm budget "
                "such as '1/week', for a stream",
                f"got {self.contamination!r}",
                "fit a detector with a threshold object, and stream that",
            )
        if isinstance(self.contamination, AlarmBudget):
            object.__setattr__(self, "contamination", budget_text(self.contamination))

    @property
    def is_auto(self) -> bool:
        """Whether no rate was requested of the stream itself."""
        return isinstance(self.contamination, str) and self.contamination == "auto"

    @property
    def by_time(self) -> bool:
        """Whether alarms are counted in a time."""
        return isinstance(self._rule(1.0), AlarmBudget)

    @property
    def is_share_of_rows(self) -> bool:
        """Whether rows are counted."""
        return isinstance(self._rule(1.0), Quantile)

    def decision(self, decision: Decision, entity: str | None, interval: float | None) -> Decision:
        """A detector's decision on an entity, at the requested rate."""
        if self.is_auto:
            return decision
        period = self.period(decision, entity, interval)
        return decision.requesting(min(1 / period, 0.5), entity, of_rows=self.is_share_of_rows)

    def period(
        self, decision: Decision | None, entity: str | None, interval: float | None
    ) -> float:
        """Rows in which one false alarm is requested; ``interval`` is in seconds, if known."""
        if self.is_auto and decision is not None:
            return decision.period(entity)
        period = self._period(interval or 1.0)
        assert period is not None
        return period

    def _period(self, interval: float) -> float | None:
        rule = self._rule(interval)
        if isinstance(rule, AlarmBudget):
            # rows may be as far apart as the alarms of the budget
            return duration(rule.per) / (rule.alarms * interval)
        rate = requested_rate(rule) if isinstance(rule, BaseThreshold) else None
        return None if rate is None else 1 / rate

    def _rule(self, interval: float) -> Any:
        return choose_threshold(self.contamination, interval)
