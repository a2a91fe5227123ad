"""The alarms of one series while its rows come: explained, confirmed or withdrawn, and kept.

An alarm is raised by evidence that looks back only. Where a model gives final evidence some rows
later, the same machine runs over that as well: an alarm is provisional until then, and confirmed
if final evidence has an event at its rows, which then sets its rows and severity; else it is
withdrawn. So the confirmed alarms are those of a batch over the same rows.

Shapes: C channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.data.times import from_json, to_json
from subadjacent.decision.alarms import (
    CONFIRMED,
    PROVISIONAL,
    REPEAT_WITHIN,
    WITHDRAWN,
    Alarm,
    Repeats,
    direction,
)
from subadjacent.decision.baseline_profile import NUMBERS, BaselineProfiles, ExpectedRange
from subadjacent.decision.causes import Cause, Explainer, Explanation, alarm_sentence
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.kinds import (
    HIGHER_VARIANCE,
    LEVEL_SHIFT,
    LOWER_VARIANCE,
    MISSING,
    STUCK,
    UNUSUAL,
)
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.decision.machine import (
    CLOSE_AFTER,
    CLOSED,
    OPENED,
    UPDATE_FACTOR,
    UPDATED,
    EventChange,
    OngoingEvent,
)
from subadjacent.decision.recent_rows import RecentBuffer, RecentRows
from subadjacent.decision.sentences import PAST
from subadjacent.errors import InputError

MAX_ALARMS_KEPT = 100
"""Alarms that are kept; the caller keeps older ones if they are needed."""

MAX_CAUSES = 5
"""Channels that an alarm names as causes, as in a batch."""

MIN_SHARED = 0.8
"""Share of the rows that a sentence was told of that must be those of an alarm that keeps it."""

MIN_ROWS_BEFORE = 40
"""Rows before an alarm that its profiles are learned from; if fewer, also those of the alarm."""


class AlarmStream:
    """Turns changes of events into alarms with explanations, and keeps the latest.

    Parameters
    ----------
    channels, entity
        Of the series.
    profiles
        Baseline profiles from training; None to learn them from the rows before each alarm.
    awaits_final
        Whether final evidence comes later.
    """

    def __init__(
        self,
        channels: Sequence[str],
        entity: str | None,
        profiles: BaselineProfiles | None = None,
        *,
        awaits_final: bool = False,
    ) -> None:
        self.alarms: list[Alarm] = []
        self.opened = 0
        # number of the alarm of the ongoing event, or of the last one
        self.opened_last = 0
        self._channels, self._entity = tuple(channels), entity
        self._awaits_final = awaits_final
        self._known = profiles
        # learned when the ongoing event was opened
        self._learned: BaselineProfiles | None = None
        self._repeats = Repeats(REPEAT_WITHIN)

    def update(
        self, change: EventChange, recent: RecentBuffer, interval: float | None
    ) -> Alarm | None:
        """The alarm of the ongoing event as of a row; None for an update that says nothing new."""
        if change.state == OPENED:
            self._learned = None
            self.opened += 1
            self.opened_last = self.opened
            alarm = self._alarm(change.event, self.opened, change.row, recent, interval)
            self._keep(alarm)
            return alarm
        before = next((one for one in self.alarms if one.number == self.opened_last), None)
        if before is None:
            # a hundred confirmed ones came since
            return None
        if self._awaits_final and before.status != PROVISIONAL:
            # final evidence set its rows and severity
            if change.state == UPDATED:
                return None
            alarm = replace(before, state=CLOSED)
            self.put(alarm)
            return alarm
        alarm = self._alarm(change.event, before.number, change.row, recent, interval)
        # as of its opening: rows that far back may be forgotten by now
        alarm = replace(
            alarm,
            state=change.state,
            status=before.status,
            start=before.start if alarm.first == before.first else alarm.start,
            repeat_of=before.repeat_of,
            repeat=before.repeat,
        )
        alarm = _refined(alarm, before)
        if change.state == UPDATED and _says_the_same(before, alarm):
            return None
        if change.state == CLOSED:
            alarm = self._with_repeat(alarm, recent, change.row)
        self.put(alarm)
        return alarm

    def confirm(
        self, event: OngoingEvent, recent: RecentBuffer, interval: float | None
    ) -> list[Alarm]:
        """Confirm the provisional alarm at the rows of a final event; without one, raise it.

        Further provisional alarms at these rows are part of it, and withdrawn.
        """
        if any(
            alarm.permanent and alarm.state == CLOSED and _overlap(alarm, event)
            for alarm in self.alarms
        ):
            # a user marked it as normal
            return []
        overlapping = [alarm for alarm in self._provisional if _overlap(alarm, event)]
        row = min(event.last + CLOSE_AFTER + 1, recent.count - 1)
        before = overlapping[0] if overlapping else None
        if before is None:
            self.opened += 1
        number = self.opened if before is None else before.number
        alarm = self._alarm(event, number, row, recent, interval)
        # an open one goes on
        goes_on = before is not None and before.state != CLOSED
        alarm = replace(alarm, state=UPDATED if goes_on else CONFIRMED, status=CONFIRMED)
        if before is None:
            alarm = self._with_repeat(alarm, recent, row)
            self._keep(alarm)
            return [alarm]
        alarm = replace(alarm, repeat_of=before.repeat_of, repeat=before.repeat)
        alarm = _refined(alarm, before)
        self.put(alarm)
        others = [other.number for other in overlapping[1:] if other.state == CLOSED]
        return [alarm, *(self.withdraw(other) for other in others)]

    def note_permanent(
        self, event: OngoingEvent, recent: RecentBuffer, interval: float | None
    ) -> list[Alarm]:
        """Tell that an event proved to be a permanent level shift."""
        before = next(
            (
                one
                for one in reversed(self.alarms)
                if one.status == CONFIRMED and _overlap(one, event)
            ),
            None,
        )
        if before is None or before.permanent:
            return []
        row = min(event.last + CLOSE_AFTER + 1, recent.count - 1)
        alarm = self._alarm(event, before.number, row, recent, interval, permanent=True)
        if any(cause.kind != LEVEL_SHIFT for cause in alarm.causes[:1]):
            # as far as its channels tell, they came back
            return []
        causes, kind, sentence = alarm.causes, alarm.kind, alarm.sentence
        alarm = replace(before, permanent=True, causes=causes, kind=kind, sentence=sentence)
        self.put(alarm)
        return [alarm]

    def withdraw(self, number: int) -> Alarm:
        """Withdraw an alarm: final evidence has no event at its rows."""
        alarm = replace(self.find(number), state=WITHDRAWN, status=WITHDRAWN)
        self.put(alarm)
        return alarm

    def is_provisional(self, number: int) -> bool:
        """Whether an alarm is kept, and neither confirmed nor withdrawn."""
        return any(alarm.number == number for alarm in self._provisional)

    @property
    def _provisional(self) -> list[Alarm]:
        return [alarm for alarm in self.alarms if alarm.status == PROVISIONAL]

    def _alarm(
        self,
        event: OngoingEvent,
        number: int,
        row: int,
        recent: RecentBuffer,
        interval: float | None,
        *,
        permanent: bool = False,
    ) -> Alarm:
        """The alarm of an event, explained by the rows up to ``row``."""
        rows = recent.until(row)
        oldest = row + 1 - len(rows.values)
        first, last = max(event.first - oldest, 0), max(event.last - oldest, 0)
        labels = recent.labels(row, len(rows.values))
        explained = self._explain(rows, first, last, labels, interval, permanent=permanent)
        causes = explained.causes
        # a short event that began before the rows that are kept begins where it was said to
        begin = event.first if event.first < oldest else oldest + explained.first
        end = oldest + explained.last
        return Alarm(
            number=number,
            entity=self._entity,
            start=recent.label(begin),
            end=recent.label(end),
            peak=recent.label(min(max(event.peak, begin), end)),
            first=begin,
            last=end,
            severity=event.severity,
            score=None,
            causes=causes,
            view=PAST,
            state=OPENED,
            status=PROVISIONAL if self._awaits_final else CONFIRMED,
            kind=causes[0].kind if causes else UNUSUAL,
            sentence=alarm_sentence(causes, PAST),
        )

    def _explain(
        self,
        rows: RecentRows,
        first: int,
        last: int,
        labels: list[Any],
        interval: float | None,
        *,
        permanent: bool,
    ) -> Explanation:
        if self._known is None and self._learned is None:
            known = rows.values[:first] if first >= MIN_ROWS_BEFORE else rows.values
            # so few rows are compared with each other, not with a cycle of before
            table = learn_profiles(TrainSeries(known)).table
            self._learned = BaselineProfiles(table[:NUMBERS])
        profiles = self._known or self._learned
        assert profiles is not None
        missing = rows.missing if rows.missing.any() else None
        series = TrainSeries(
            rows.values, self._channels, None, labels, rows.segment_starts, interval, missing
        )
        evidence = Evidence(np.zeros(len(rows.values)), rows.by_channel, None, {})
        left_out = rows.anomalous.copy()
        left_out[first : last + 1] = True
        explainer = Explainer.of(series, evidence, profiles, left_out)
        if rows.ranges.size:
            # as it was answered row by row, and is drawn
            told = ExpectedRange(*rows.ranges.swapaxes(0, 1))
            explainer = replace(explainer, told=told)
        if rows.silent.any():
            # the stream knows which channels are missing or stuck
            explainer = replace(explainer, silent=rows.silent)
        return explainer.explain(first, last, MAX_CAUSES, view=PAST, permanent=permanent)

    def _with_repeat(self, alarm: Alarm, recent: RecentBuffer, row: int) -> Alarm:
        """The alarm, linked to the first of its kind."""
        rows = recent.until(row)
        oldest = row + 1 - len(rows.values)
        own = rows.by_channel[max(alarm.first - oldest, 0) : max(alarm.last + 1 - oldest, 1)]
        repeat_of, repeat = self._repeats.add(alarm.number, alarm.first, alarm.last, direction(own))
        return replace(alarm, repeat_of=repeat_of, repeat=repeat)

    def _keep(self, alarm: Alarm) -> None:
        self.alarms = [*self.alarms, alarm][-MAX_ALARMS_KEPT:]

    def find(self, number: int) -> Alarm:
        """An alarm by its number."""
        for alarm in self.alarms:
            if alarm.number == number:
                return alarm
        numbers = [alarm.number for alarm in self.alarms]
        known = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
        raise InputError.of("number", f"must be that of an alarm ({known})", f"got {number!r}")

    def put(self, alarm: Alarm) -> None:
        """Replace a kept alarm."""
        self.alarms = [alarm if known.number == alarm.number else known for known in self.alarms]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and the alarms as JSON holds them."""
        arrays = {} if self._learned is None else {"profiles": self._learned.table}
        return arrays, {
            "opened": self.opened,
            "opened_last": self.opened_last,
            "alarms": [alarm_to_json(alarm, to_json) for alarm in self.alarms],
            "repeats": self._repeats.state(),
        }

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        self.opened, self.opened_last = int(facts["opened"]), int(facts["opened_last"])
        self.alarms = [alarm_from_json(alarm, from_json) for alarm in facts["alarms"]]
        self._repeats.restore(facts["repeats"])
        if "profiles" in arrays:
            self._learned = BaselineProfiles(np.array(arrays["profiles"]))


def _refined(alarm: Alarm, before: Alarm) -> Alarm:
    """An alarm that says no less than before: over other rows its kind may be less clear.

    What was said of less than half of its rows is not enough, nor what was said of many others.
    """
    shared = min(alarm.last, before.last) + 1 - max(alarm.first, before.first)
    covers_few = 2 * shared < alarm.duration or shared < MIN_SHARED * before.duration
    if covers_few or _clarity(alarm) >= _clarity(before):
        return alarm
    return replace(alarm, kind=before.kind, sentence=before.sentence, causes=before.causes)


def _clarity(alarm: Alarm) -> float:
    """How far the value that is told is out of its range; less than 0 where nothing is told."""
    if alarm.kind == UNUSUAL or not alarm.causes:
        return -1.0
    if alarm.kind in (MISSING, STUCK):
        return math.inf
    first = alarm.causes[0]
    beyond = max(first.low - first.seen, first.seen - first.high, 0.0)
    is_told = alarm.kind not in (HIGHER_VARIANCE, LOWER_VARIANCE)
    # digits beyond the first are chance
    return round(is_told * beyond / max(first.high - first.low, 1e-9 * abs(first.seen), 1e-300), 1)


def _overlap(alarm: Alarm, event: OngoingEvent) -> bool:
    return alarm.first <= event.last and event.first <= alarm.last


def _says_the_same(before: Alarm, now: Alarm) -> bool:
    """Whether kind and first channel are the same, and the severity has not doubled."""
    causes = [alarm.causes[0].channel if alarm.causes else None for alarm in (before, now)]
    return (
        before.kind == now.kind
        and causes[0] == causes[1]
        and now.severity < UPDATE_FACTOR * before.severity
    )


def alarm_to_json(alarm: Alarm, time: Any) -> dict[str, Any]:
    """An alarm as JSON holds it; ``time`` turns times into what JSON has."""
    record = asdict(alarm)
    for name in ("start", "end", "peak"):
        record[name] = time(record[name])
    for cause in record["causes"]:
        cause["at"] = time(cause["at"])
    return record


def alarm_from_json(saved: dict[str, Any], time: Any) -> Alarm:
    """The inverse of ``alarm_to_json``."""
    causes = tuple(Cause(**cause | {"at": time(cause["at"])}) for cause in saved["causes"])
    times = {name: time(saved[name]) for name in ("start", "end", "peak")}
    return Alarm(**saved | times | {"causes": causes})
