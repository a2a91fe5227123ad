"""An alarm budget: at most ``count`` alarms in any period of time, or of rows."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from datetime import timedelta
from fractions import Fraction
from numbers import Real

from subadjacent.data.clock import duration
from subadjacent.errors import InputError
from subadjacent.scoring.base_threshold import Threshold
from subadjacent.scoring.threshold import BUDGET, AlarmBudget

MAX_ALARMS = 1_000
"""Alarms of a budget, which are counted one by one."""

Contamination = str | float | AlarmBudget
"""The false-alarm setting of a stream: "auto", a share of the rows, or an alarm budget."""


class RollingBudget:
    """The severity that opens an alarm: the higher, the less of the budget is left.

    With ``used`` of ``alarms`` opened within the period before a row, an alarm needs a severity
    of ``alarms / (alarms - used)``: 1 while none is used, 2 with half of them left, and none is
    severe enough where all are used. So there are never more in any period.

    Parameters
    ----------
    contamination
        "auto": no limit. A share of the rows: one alarm in ``1 / share`` rows. "1/week" or an
        ``AlarmBudget``: for rows with dates.
    """

    def __init__(self, contamination: Contamination = "auto") -> None:
        self.contamination = contamination
        self.limited = not (isinstance(contamination, str) and contamination == "auto")
        self.by_time = self.limited and not isinstance(contamination, Real)
        self._alarms, self._period = _read(contamination) if self.limited else (0, 0.0)
        self._opened: deque[float] = deque(maxlen=self._alarms)

    def min_severity(self, now: float) -> float:
        """The severity that opens an alarm at a row; ``now`` is its time or its number."""
        if not self.limited:
            return 1.0
        used = sum(now - opened < self._period for opened in self._opened)
        return self._alarms / (self._alarms - used) if used < self._alarms else math.inf

    def spend(self, now: float) -> None:
        """Count an alarm that was opened."""
        if self.limited:
            self._opened.append(now)

    def state(self) -> list[float]:
        """When the latest alarms were opened."""
        return list(self._opened)

    def restore(self, opened: Iterable[float]) -> None:
        """The inverse of ``state``, for a budget of the same size."""
        self._opened.extend(float(now) for now in opened)


def as_text(budget: AlarmBudget) -> str:
    """The same budget as people write it."""
    return f"{budget.alarms:g}/{duration(budget.per):g}s"


def _read(contamination: object) -> tuple[int, float]:
    """Alarms and the period that they are in: seconds, or rows."""
    if isinstance(contamination, Real) and 0 < float(contamination) <= 0.5:
        # one over one over 49 is not 49
        return 1, round(1 / float(contamination), 6)
    alarms, per = _per_time(contamination)
    # a period with a whole number of alarms: 1.5 a day are 3 in two days
    whole = Fraction(alarms).limit_denominator(MAX_ALARMS)
    if not 1 <= whole.numerator <= MAX_ALARMS:
        raise _refused(contamination)
    try:
        return whole.numerator, duration(per) * whole.denominator
    except InputError:
        raise _refused(contamination) from None


def _per_time(contamination: object) -> tuple[float, str | float | timedelta]:
    if isinstance(contamination, AlarmBudget):
        return contamination.alarms, contamination.per
    if isinstance(contamination, str) and (found := BUDGET.fullmatch(contamination)):
        return float(found[1]), found[2]
    raise _refused(contamination)


def _refused(contamination: object) -> InputError:
    if isinstance(contamination, Threshold):
        remedy = "fit a detector with a threshold object; it applies to a batch of scores"
    elif isinstance(contamination, int) and contamination > 1:
        remedy = f"for one alarm in {contamination:,} rows, give {1 / contamination:g}"
    else:
        remedy = ""
    return InputError.of(
        "contamination",
        "must be 'auto', a share of the rows above 0 and up to 0.5, or an alarm budget such as "
        f"'1/week', of at most {MAX_ALARMS:,} alarms, for a stream",
        f"got {contamination!r}",
        remedy,
    )
