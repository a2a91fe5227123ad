"""At most so many alarms in so much time, or in so many rows."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from datetime import timedelta
from fractions import Fraction
from numbers import Integral

from subadjacent.data.clock import duration
from subadjacent.errors import InputError
from subadjacent.scoring.threshold import BUDGET, AlarmBudget

MOST = 1_000
"""Alarms of a budget that are counted one by one; more in a period are no budget."""

Wanted = str | int | AlarmBudget | None


class Budget:
    """Says how severe a row must be to open an alarm: the more so, the less is left.

    With ``used`` of ``alarms`` opened within the period before a row, an alarm needs a severity
    of ``alarms / (alarms - used)``: 1 while none is used, 2 with half of them left, and none is
    severe enough where all are used. So there are never more in any period.

    Parameters
    ----------
    wanted
        "1/week", "3 per day", or an ``AlarmBudget``: for rows with dates. A whole number: one alarm
        in so many rows. None: no limit.
    """

    def __init__(self, wanted: Wanted = None) -> None:
        self.wanted = wanted
        self.by_time = not (wanted is None or isinstance(wanted, Integral))
        self._alarms, self._period = _read(wanted)
        self._opened: deque[float] = deque(maxlen=self._alarms)

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.wanted is not None

    def bar(self, now: float) -> float:
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


def _read(wanted: Wanted) -> tuple[int, float]:
    """Alarms and the period that they are in: seconds, or rows."""
    if wanted is None:
        return 0, 0.0
    if isinstance(wanted, Integral) and not isinstance(wanted, bool) and int(wanted) >= 1:
        return 1, float(int(wanted))
    alarms, per = _per_time(wanted)
    # a period with a whole number of alarms: 1.5 a day are 3 in two days
    whole = Fraction(alarms).limit_denominator(MOST)
    if not 1 <= whole.numerator <= MOST or not isinstance(per, str | float | timedelta):
        raise _refused(wanted)
    try:
        return whole.numerator, duration(per, name="budget") * whole.denominator
    except InputError:
        raise _refused(wanted) from None


def _per_time(wanted: object) -> tuple[float, str | float | timedelta]:
    if isinstance(wanted, AlarmBudget):
        return wanted.alarms, wanted.per
    if isinstance(wanted, str) and (found := BUDGET.fullmatch(wanted)):
        return float(found[1]), found[2]
    raise _refused(wanted)


def _refused(wanted: object) -> InputError:
    return InputError.of(
        "budget",
        f"must be alarms per time such as '1/week', at most {MOST:,} of them, or a whole number of "
        f"rows for one alarm in so many",
        f"got {wanted!r}",
    )
