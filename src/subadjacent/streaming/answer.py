"""What is said of a row while rows come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.alarms import LiveAlarm


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
        How bad it is: 1.0 opens an alarm. It follows what the series did lately.
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
