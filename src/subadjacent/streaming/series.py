"""The rows of one series, one after the other: judged, learned from, alarms kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.base import BaseDetector
from subadjacent.streaming.alarms import CLOSED, OPENED, LiveAlarm
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.learner import Learner


class SeriesStream:
    """One series as it comes.

    Parameters
    ----------
    channels
        The channels' names, in order.
    detector
        A fitted one, or None to learn from the rows alone.
    entity
        The name of the series.
    """

    def __init__(
        self,
        channels: Sequence[str],
        detector: BaseDetector | None = None,
        entity: str | None = None,
    ) -> None:
        self.channels = tuple(channels)
        self.entity = entity
        self.rows = 0
        self._detector = detector
        self._learner = Learner(len(self.channels))
        self._alarms: list[LiveAlarm] = []

    @property
    def alarms(self) -> tuple[LiveAlarm, ...]:
        """Alarms so far, the latest last; bounded."""
        return tuple(self._alarms)

    def push(self, rows: NDArray[Any], times: Sequence[Any] | None = None) -> list[Answer]:
        """Take rows in order, (B, C); what can be said of them, and of rows that waited."""
        return [
            self._one(row, None if times is None else times[number])
            for number, row in enumerate(np.atleast_2d(np.asarray(rows, dtype=np.float64)))
        ]

    def _one(self, row: NDArray[Any], time: Any) -> Answer:
        open_alarm = self._alarms[-1] if self._alarms and self._alarms[-1].state != CLOSED else None
        judged = self._learner.step(row[None], calm=open_alarm is None)
        severity = float(judged.severity[0])
        at = self.rows if time is None else time
        alarm = None
        if severity >= 1 and open_alarm is None:
            number = len(self._alarms) + 1
            alarm = LiveAlarm(
                number,
                OPENED,
                self.entity,
                at,
                at,
                self.rows,
                self.rows,
                severity,
                "unusual",
                f"{self.channels[int(judged.by_channel[0].argmax())]} is unusual",
            )
            self._alarms.append(alarm)
        elif severity < 0.5 and open_alarm is not None:
            was = open_alarm
            alarm = LiveAlarm(
                was.number,
                CLOSED,
                was.entity,
                was.start,
                at,
                was.first,
                self.rows,
                max(severity, was.severity),
                was.kind,
                was.sentence,
            )
            self._alarms[-1] = alarm
        is_open = bool(self._alarms) and self._alarms[-1].state != CLOSED
        answer = Answer(
            self.rows,
            time,
            self.entity,
            True,
            None,
            severity,
            is_open,
            float(judged.sure[0]),
            judged.by_channel[0],
            judged.expected[0],
            judged.low[0],
            judged.high[0],
            alarm,
        )
        self.rows += 1
        return answer
