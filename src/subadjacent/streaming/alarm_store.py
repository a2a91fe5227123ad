"""The alarms of one series, each with its explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.times import from_json, to_json
from subadjacent.errors import InputError
from subadjacent.scoring.baseline_profile import BaselineProfiles
from subadjacent.scoring.kinds import UNUSUAL
from subadjacent.streaming.alarms import (
    CLOSED,
    OPENED,
    UPDATE_FACTOR,
    UPDATED,
    AlarmChange,
    LiveAlarm,
    OngoingEvent,
    alarm_from_json,
    alarm_to_json,
)
from subadjacent.streaming.explanation import Explanation, explain, profiles_before
from subadjacent.streaming.recent_rows import RecentBuffer

MAX_ALARMS_KEPT = 100
"""Alarms that are kept; the caller keeps older ones if they are needed."""


class AlarmStore:
    """Turns changes of events into alarms with explanations, and keeps the latest.

    Parameters
    ----------
    channels, entity
        Of the series.
    profiles
        Baseline profiles from training; None to learn them from the rows before each alarm.
    """

    def __init__(
        self, channels: Sequence[str], entity: str | None, profiles: BaselineProfiles | None = None
    ) -> None:
        self.alarms: list[LiveAlarm] = []
        self._channels = tuple(channels)
        self._entity = entity
        self._known = profiles
        # learned when the ongoing event was opened
        self._learned: BaselineProfiles | None = None

    def update(
        self, change: AlarmChange, recent: RecentBuffer, interval: float | None
    ) -> LiveAlarm | None:
        """The alarm as of a row; None for an update that changes nothing."""
        if change.state == OPENED:
            self._learned = None
        explanation = self._explain(change, recent, interval)
        event = change.event
        alarm = LiveAlarm(
            number=event.number or 0,
            state=change.state,
            entity=self._entity,
            start=recent.label(event.first),
            end=recent.label(event.last),
            first=event.first,
            last=event.last,
            severity=event.severity,
            kind=explanation.kind,
            sentence=explanation.sentence,
            causes=explanation.causes,
            permanent=change.permanent,
        )
        if change.state == OPENED:
            self.alarms = [*self.alarms, alarm][-MAX_ALARMS_KEPT:]
            return alarm
        before = self.alarms[-1]
        # as of its opening: rows that far back may be forgotten by now
        alarm = replace(alarm, start=before.start)
        if alarm.kind == UNUSUAL and before.kind != UNUSUAL:
            # over more rows the kind may be less clear than before
            alarm = replace(alarm, kind=before.kind, sentence=before.sentence, causes=before.causes)
        self.alarms[-1] = alarm
        if change.state == UPDATED and _same(before, alarm):
            # the severity to compare with stays that of the last update
            self.alarms[-1] = before
            return None
        return alarm

    def _explain(
        self, change: AlarmChange, recent: RecentBuffer, interval: float | None
    ) -> Explanation:
        rows = recent.until(change.row)
        event, count = change.event, len(rows.values)
        begin = max(count - (change.row + 1 - event.first), 0)
        end = count - (change.row - event.last)
        if self._known is None and self._learned is None:
            self._learned = profiles_before(rows, begin)
        profiles = self._known or self._learned
        assert profiles is not None
        return explain(
            rows,
            (begin, end),
            profiles,
            channels=self._channels,
            labels=recent.labels(change.row, count),
            interval=interval,
            permanent=change.permanent,
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
        """Replace a kept alarm."""
        self.alarms = [alarm if known.number == alarm.number else known for known in self.alarms]

    def state(self) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
        """Arrays, and the alarms as JSON holds them."""
        arrays = {} if self._learned is None else {"habits": self._learned.table}
        return arrays, [alarm_to_json(alarm, to_json) for alarm in self.alarms]

    def restore(self, arrays: dict[str, NDArray[Any]], alarms: list[dict[str, Any]]) -> None:
        """The inverse of ``state``."""
        self.alarms = [alarm_from_json(alarm, from_json) for alarm in alarms]
        if "habits" in arrays:
            self._learned = BaselineProfiles(np.array(arrays["habits"]))


def _same(before: LiveAlarm, now: LiveAlarm) -> bool:
    """Whether kind and first channel are the same, and the severity has not doubled."""
    causes = [alarm.causes[0].channel if alarm.causes else None for alarm in (before, now)]
    return (
        before.kind == now.kind
        and causes[0] == causes[1]
        and now.severity < UPDATE_FACTOR * before.severity
    )


def closed(alarm: LiveAlarm, event: OngoingEvent | None, recent: RecentBuffer) -> LiveAlarm:
    """An alarm that a user marked as normal."""
    last = alarm.last if event is None else event.last
    end = alarm.end if event is None else recent.label(last)
    return replace(alarm, state=CLOSED, last=last, end=end, permanent=True)
