"""Alarm rules of a series that is polled: a false-alarm rate, a direction and a smallest deviation.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.method import State
from subadjacent.streaming.alarms import CLOSED, OPENED, AlarmRules, LiveAlarm
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.series import SeriesStream

DIRECTION_SIGNS = {"both": 0, "above_expected": 1, "below_expected": -1}
"""Sign of a deviation that counts; 0 for either."""

FACTS = "watch"
"""The key of these rules in the saved facts of a stream."""


@dataclass(frozen=True, slots=True)
class WatchRules:
    """The settings of a query that its alarms depend on.

    ``fingerprint`` changes with every setting of the query.
    """

    query: str
    fingerprint: str
    contamination: str | float = "auto"
    direction: str = "both"
    min_deviation: float = 0.0


class WatchedStream:
    """A stream whose alarms count only if they depart as a query requests.

    A row counts where the channel that adds most to its score departs in the requested direction,
    by at least the smallest deviation; the severity of other rows is 0. An alarm opens with its
    first row that counts.
    """

    def __init__(self, stream: SeriesStream, rules: WatchRules) -> None:
        self._stream, self._rules = stream, rules
        self._sign = DIRECTION_SIGNS[rules.direction]
        self._any_departure = not self._sign and not rules.min_deviation
        # whether the stream's alarm is open, and whether it has had a row that counts
        self._is_open = self._is_counted = False

    @classmethod
    def begin(cls, stream: SeriesStream, rules: WatchRules) -> Self:
        """Watch from the next row on; alarms of the rows before are not reported."""
        return cls(SeriesStream.restore(stream.state(), rules=_alarm_rules(rules)), rules)

    @property
    def is_behind(self) -> bool:
        """Whether there is something to learn before the next row is scored."""
        return self._stream.is_behind

    def catch_up(self) -> None:
        """Learn what the next row would have to wait for."""
        self._stream.catch_up()

    def accept(self, number: int) -> LiveAlarm:
        """Mark an alarm as normal."""
        self._is_open = self._is_counted = False
        return self._stream.accept(number)

    def push(self, rows: NDArray[np.float64], times: list[Any] | None) -> list[Answer]:
        """Answers of rows, (B, C)."""
        first = self._stream.rows
        return [
            self._count(rows[answer.row - first], answer)
            for answer in self._stream.push(rows, times)
        ]

    def _count(self, row: NDArray[np.float64], answer: Answer) -> Answer:
        counts = self._counts(row, answer)
        # a row that barely departs does not turn an alarm of the other direction into one of this
        begins_here = counts and (answer.severity >= 1 or self._any_departure)
        was_counted = self._is_counted
        if answer.alarm is not None:
            self._is_open = answer.alarm.state != CLOSED
        self._is_counted = self._is_open and (was_counted or begins_here)
        alarm = answer.alarm if was_counted else None
        if self._is_counted and not was_counted:
            alarm = replace(answer.alarm or self._stream.alarms[-1], state=OPENED)
        return replace(
            answer,
            severity=answer.severity if counts else 0.0,
            anomalous=self._is_counted,
            alarm=alarm,
        )

    def _counts(self, row: NDArray[np.float64], answer: Answer) -> bool:
        if self._any_departure:
            return True
        shares = np.where(np.isfinite(answer.by_channel), answer.by_channel, -math.inf)
        channel = int(shares.argmax())
        deviation = float(row[channel] - answer.expected[channel])
        # a missing value has no direction
        return deviation * self._sign >= 0 and abs(deviation) >= self._rules.min_deviation

    def state(self) -> State:
        """All that is needed to go on after a restart."""
        stream, rules = self._stream.state(), self._rules
        facts = {
            "query": rules.query,
            "fingerprint": rules.fingerprint,
            "contamination": rules.contamination,
            "direction": rules.direction,
            "min_deviation": rules.min_deviation,
            "is_open": self._is_open,
            "is_counted": self._is_counted,
        }
        return State(stream.arrays, stream.facts | {FACTS: facts})

    @classmethod
    def restore(cls, state: State) -> Self:
        """The inverse of ``state``."""
        facts = dict(state.facts[FACTS])
        is_open, is_counted = facts.pop("is_open"), facts.pop("is_counted")
        rules = WatchRules(**facts)
        found = cls(SeriesStream.restore(state, rules=_alarm_rules(rules)), rules)
        found._is_open, found._is_counted = is_open, is_counted
        return found


def _alarm_rules(rules: WatchRules) -> AlarmRules:
    return AlarmRules(contamination=rules.contamination)
