"""The alarms of one series: what is said of each, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.times import from_json, to_json
from subadjacent.errors import InputError
from subadjacent.scoring.habits import Habits
from subadjacent.scoring.kinds import UNUSUAL
from subadjacent.streaming.alarms import (
    CLOSED,
    OPENED,
    UPDATE_FACTOR,
    UPDATED,
    Event,
    LiveAlarm,
    Notice,
    alarm_from_json,
    alarm_to_json,
)
from subadjacent.streaming.reasons import Reasons, explain, usual_before
from subadjacent.streaming.recent import Recent

REMEMBERED = 100
"""Alarms that are remembered; whoever wants more keeps them."""


class AlarmBook:
    """Turns what happens into alarms with reasons, and remembers the latest.

    Parameters
    ----------
    channels, entity
        Of the series.
    habits
        What the channels did in training; None to learn it from the rows before each alarm.
    """

    def __init__(
        self, channels: Sequence[str], entity: str | None, habits: Habits | None = None
    ) -> None:
        self.alarms: list[LiveAlarm] = []
        self._channels = tuple(channels)
        self._entity = entity
        self._known = habits
        # learned when the event that goes on was opened
        self._learned: Habits | None = None

    def tell(self, notice: Notice, recent: Recent, interval: float | None) -> LiveAlarm | None:
        """The alarm as it is at a row; None for an update that changes nothing."""
        if notice.what == OPENED:
            self._learned = None
        reasons = self._reasons(notice, recent, interval)
        event = notice.event
        alarm = LiveAlarm(
            number=event.number or 0,
            state=notice.what,
            entity=self._entity,
            start=recent.label(event.first),
            end=recent.label(event.last),
            first=event.first,
            last=event.last,
            severity=event.severity,
            kind=reasons.kind,
            sentence=reasons.sentence,
            causes=reasons.causes,
            permanent=notice.permanent,
        )
        if notice.what == OPENED:
            self.alarms = [*self.alarms, alarm][-REMEMBERED:]
            return alarm
        before = self.alarms[-1]
        # as it was when it was opened: what is that far back may be forgotten by now
        alarm = replace(alarm, start=before.start)
        if alarm.kind == UNUSUAL and before.kind != UNUSUAL:
            # over more rows what happened may be less clear than it was
            alarm = replace(alarm, kind=before.kind, sentence=before.sentence, causes=before.causes)
        self.alarms[-1] = alarm
        if notice.what == UPDATED and _same(before, alarm):
            # the severity to compare with stays that of the last update
            self.alarms[-1] = before
            return None
        return alarm

    def _reasons(self, notice: Notice, recent: Recent, interval: float | None) -> Reasons:
        rows = recent.until(notice.row)
        event, count = notice.event, len(rows.values)
        begin = max(count - (notice.row + 1 - event.first), 0)
        end = count - (notice.row - event.last)
        if self._known is None and self._learned is None:
            self._learned = usual_before(rows, begin)
        habits = self._known or self._learned
        assert habits is not None
        return explain(
            rows,
            (begin, end),
            habits,
            channels=self._channels,
            labels=recent.labels(notice.row, count),
            interval=interval,
            permanent=notice.permanent,
        )

    def find(self, number: int) -> LiveAlarm:
        """An alarm by its number."""
        for alarm in self.alarms:
            if alarm.number == number:
                return alarm
        numbers = [alarm.number for alarm in self.alarms]
        known = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
        raise InputError.of("number", f"must be that of an alarm ({known})", f"got {number!r}")

    def put(self, alarm: LiveAlarm) -> None:
        """Replace what is remembered of an alarm."""
        self.alarms = [alarm if one.number == alarm.number else one for one in self.alarms]

    def state(self) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
        """Arrays, and the alarms as JSON holds them."""
        arrays = {} if self._learned is None else {"habits": self._learned.table}
        return arrays, [alarm_to_json(alarm, to_json) for alarm in self.alarms]

    def restore(self, arrays: dict[str, NDArray[Any]], alarms: list[dict[str, Any]]) -> None:
        """The inverse of ``state``."""
        self.alarms = [alarm_from_json(alarm, from_json) for alarm in alarms]
        if "habits" in arrays:
            self._learned = Habits(np.array(arrays["habits"]))


def _same(before: LiveAlarm, now: LiveAlarm) -> bool:
    """Whether kind and first channel are the same, and the severity has not doubled."""
    causes = [alarm.causes[0].channel if alarm.causes else None for alarm in (before, now)]
    return (
        before.kind == now.kind
        and causes[0] == causes[1]
        and now.severity < UPDATE_FACTOR * before.severity
    )


def closed(alarm: LiveAlarm, event: Event | None, recent: Recent) -> LiveAlarm:
    """An alarm that was found to be normal."""
    last = alarm.last if event is None else event.last
    end = alarm.end if event is None else recent.label(last)
    return replace(alarm, state=CLOSED, last=last, end=end, permanent=True)
