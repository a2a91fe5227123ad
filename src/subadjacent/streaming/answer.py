"""The answer to a row, at once and when the rows that it waits for have come."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.times import from_json, to_json
from subadjacent.streaming.alarms import LiveAlarm

COLUMNS = ("by_channel", "expected", "low", "high")
NUMBERS = ("row", "score", "severity", "anomalous", "warm_up")


class Pending:
    """Rows that wait, the oldest first: as many as the model looks ahead, and a short gap."""

    def __init__(self) -> None:
        self._waiting: deque[Answer] = deque()

    def give(
        self, answers: list[Answer], final: NDArray[np.float64], *, twice: bool
    ) -> list[Answer]:
        """Answers of rows that came, and final ones of as many as have a final score now.

        ``twice`` says that each row has an answer at once and a final one later, even if both are
        known now: what is said does not depend on how rows are grouped.
        """
        old = len(self._waiting)
        self._waiting.extend(answers)
        found = []
        for place, score in enumerate(final.tolist()):
            answer = self._waiting.popleft()
            # an alarm is reported once: with the first answer of its row
            alarm = None if twice or place < old else answer.alarm
            found.append(answer.settled(score, alarm))
        return answers + found if twice else found + answers[max(len(final) - old, 0) :]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        waiting = list(self._waiting)
        arrays = {name: np.array([getattr(one, name) for one in waiting]) for name in COLUMNS}
        arrays["numbers"] = np.array(
            [[float(getattr(one, name)) for name in NUMBERS] for one in waiting]
        )
        times = [to_json(one.time) for one in waiting]
        return arrays, {"times": times, "entity": waiting[0].entity if waiting else None}

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        for place, time in enumerate(facts["times"]):
            row, score, severity, anomalous, warm_up = arrays["numbers"][place].tolist()
            self._waiting.append(
                Answer(
                    int(row),
                    from_json(time),
                    facts["entity"],
                    False,
                    score,
                    severity,
                    bool(anomalous),
                    warm_up,
                    *(arrays[name][place] for name in COLUMNS),
                )
            )


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What is known of one row, at once or when the rows that it waits for have come.

    Parameters
    ----------
    row
        Number of the row in its series, from 0, in the order in which rows were taken.
    time
        Its time, as it came; None where rows have no times.
    entity
        The series that it belongs to; None where there is one without a name.
    final
        Whether nothing that comes later changes ``score``.
    score
        In the model's own unit, as batch scoring gives it; None without a model.
    severity
        How bad it is: 1.0 opens an alarm. It adapts to the recent baseline of the series.
    anomalous
        Whether an alarm is open at this row.
    warm_up
        From 0 to 1: the share of the warm-up that is done; severities are low until then.
    by_channel
        What each channel adds, (C,).
    expected, low, high
        What each channel was expected to be, and between what it usually is, (C,).
    alarm
        The alarm, on rows at which one was opened, changed or closed.
    """

    row: int
    time: Any
    entity: str | None
    final: bool
    score: float | None
    severity: float
    anomalous: bool
    warm_up: float
    by_channel: NDArray[np.float64]
    expected: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    alarm: LiveAlarm | None = None

    def settled(self, score: float, alarm: LiveAlarm | None) -> Answer:
        """The final answer of the same row."""
        return Answer(
            self.row,
            self.time,
            self.entity,
            True,
            score,
            self.severity,
            self.anomalous,
            self.warm_up,
            self.by_channel,
            self.expected,
            self.low,
            self.high,
            alarm,
        )
