"""From the rows of one series to answers: evidence, decision, alarms.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.alarm_stream import AlarmStream
from subadjacent.decision.alarms import CONFIRMED, Alarm
from subadjacent.decision.decision import Decision
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.final_events import FinalEvents
from subadjacent.decision.live_range import LiveRanges, ranges_of
from subadjacent.decision.machine import CLOSED, EventChange, EventMachine, OngoingEvent, open_rows
from subadjacent.decision.permanent import ROWS_AFTER, PermanentShifts
from subadjacent.decision.recent_rows import RecentBuffer, RecentRows
from subadjacent.decision.severity import SILENT_SEVERITY, as_severity
from subadjacent.decision.severity_stream import (
    RowEvents,
    RowSeverity,
    SeverityStream,
    rows_until_settled,
)
from subadjacent.decision.silence_stream import SilenceTracker, SilentRows
from subadjacent.methods.method import State, join_names, split_names
from subadjacent.methods.online.model import OnlineModel
from subadjacent.methods.online.stream import OnlineStream
from subadjacent.streaming.answer import Answer, answers_to
from subadjacent.streaming.fitted_parts import FittedParts
from subadjacent.streaming.pending import PendingChanges
from subadjacent.streaming.rules import CLOSE_AFTER, AlarmRules
from subadjacent.streaming.span import Span

Array = NDArray[np.float64]

ROWS_AT_ONCE = 256
"""Rows that go through a model at a time: with more of them, a push of many takes more memory."""
FINAL_CLOSE_AFTER = EventMachine().close_after
"""Rows after which an event of final evidence is over."""


class SeriesAssessor:
    """Assesses the rows of one series, and keeps its alarms.

    Parameters
    ----------
    channels, entity
        Of the series.
    rules
        When alarms open and close.
    fitted
        The parts of a fitted detector; None without one.
    """

    def __init__(
        self,
        channels: Sequence[str],
        entity: str | None,
        rules: AlarmRules,
        fitted: FittedParts | None = None,
    ) -> None:
        self._count, self._entity, self.rules = len(channels), entity, rules
        self._fitted = fitted
        self.online = self._begin_online()
        self.machine = EventMachine(rules.close_after, only_new=True)
        # severities of a model that looks back only; None of rows alone, and of provisional alarms
        self._severities: SeverityStream | None = None
        self._shifts = PermanentShifts()
        if fitted is not None and fitted.final is None:
            self._decide_by(fitted.decision)
        # the contamination and the interval that the decision was made for
        self._requested: tuple[Any, float | None] = "auto", None
        profiles = None if fitted is None else fitted.profiles
        self.ranges = None if profiles is None else LiveRanges(profiles, self._count)
        self.final: FinalEvents | None = None
        if fitted is not None and fitted.final is not None:
            self.final = FinalEvents(fitted.decision, entity, fitted.blur)
        self.alarms = AlarmStream(channels, entity, profiles, awaits_final=self.final is not None)
        self.silence = SilenceTracker(
            self._count, rules.fill_limit, None if profiles is None else profiles.each("max_run")
        )
        self.recent = RecentBuffer(self._count, self._rows_behind, keeps_ranges=fitted is None)
        self._pending = PendingChanges()

    def _begin_online(self, state: State | None = None) -> OnlineStream:
        model = OnlineModel.from_nothing(self._count)
        if self._fitted is not None:
            model = self._fitted.online
        return model.stream(state, adapt_after=self.rules.adapt_after)

    def _follow_request(self, interval: float | None) -> None:
        """Decide by what is requested by now."""
        rules, fitted = self.rules, self._fitted
        requested = rules.contamination, interval if rules.by_time else None
        if fitted is None or requested == self._requested:
            return
        self._requested = requested
        decision = rules.decision(fitted.decision, self._entity, interval)
        if self.final is not None:
            self.final.decide_by(decision)
        else:
            self._decide_by(decision)

    def _decide_by(self, decision: Decision) -> None:
        """Decide on evidence that looks back only as a batch does."""
        before, self._severities = self._severities, decision.stream(self._entity)
        machine, self.machine = self.machine, decision.machine(tells_new=True)
        self.machine.restore(machine.state())
        if self.rules.close_after != CLOSE_AFTER:
            self.machine.close_after = self.rules.close_after
        if before is not None:
            self._severities.restore(before.state())

    @property
    def _wait(self) -> int:
        """Rows after its last by which an event of final evidence is known, at most."""
        if self._fitted is None or self._fitted.final is None:
            return 0
        settled = rows_until_settled(self._fitted.blur)
        return FINAL_CLOSE_AFTER + 2 + settled + self._fitted.wait

    @property
    def _rows_behind(self) -> int:
        """Rows by which a row that is explained may lie behind the last one, at most."""
        return self._wait + ROWS_AT_ONCE + (0 if self._fitted is None else ROWS_AFTER)

    def _expect(self, events: Sequence[OngoingEvent]) -> None:
        self._pending.final_events += [(event.last + self._wait, event) for event in events]

    def finish(self, evidence: Evidence, interval: float | None) -> list[Alarm]:
        """Confirm or withdraw all alarms that wait for later rows: none will come."""
        told = list(self._pending.untold)
        if self.final is not None:
            self._expect(self.final.push(evidence) + self.final.end_segment())
            self._pending.permanent += self.final.permanent(ends=True)
        self._pending.permanent += self._shifts.finish()
        due = [at for at, _ in (*self._pending.final_events, *self._pending.unconfirmed)]
        due += [self._permanent_at(event) for event in self._pending.permanent]
        told += self._settle(max(due, default=0), interval)
        self._pending.untold.clear()
        return told

    def assess(
        self, span: Span, interval: float | None, final: Evidence | None = None
    ) -> list[Answer]:
        """Answers of rows of one segment.

        Parameters
        ----------
        span
            The rows.
        interval
            Seconds from row to row, where known.
        final
            The evidence that became final by these rows. Its events are reported when all rows that
            they may depend on are due, so that answers do not depend on how rows are grouped.
        """
        count = len(span.starts)
        self._follow_request(interval)
        if span.starts[0]:
            self.online.gap(int(span.skipped[0]))
        silent = self.silence.step(span.filled, span.starts)
        if self.final is not None and final is not None:
            self._note(silent, span.starts)
            self._expect(self.final.push(final))
        missing = span.filled.gaps > 0
        evidence = self.online.push(span.filled.values, missing if missing.any() else None)
        by_channel = np.where(silent.missing, 0.0, evidence.by_channel)
        evidence = evidence._replace(by_channel=by_channel)
        severity, is_high, rows = self._severity(evidence, silent, interval)
        row, was_open = self.recent.count, self._is_open
        since = None if self.silence.all_speak else silent.since.max(axis=1)
        is_silent = None if since is None else np.asarray(silent.silent.any(axis=1))
        changes = self.machine.push(severity, is_high, since, is_silent)
        self._find_shifts(rows, changes)
        alarmed = open_rows(was_open, changes, row, count)
        if self._counts_rows:
            alarmed &= is_high
        evidence = self._record(span, evidence, silent, alarmed)
        alarms = self._alarms(changes, row, count, interval)
        return answers_to(
            span,
            evidence,
            self._reported(severity, silent),
            alarmed,
            alarms,
            first=row,
            entity=self._entity,
            final=self.final is None,
        )

    @property
    def _is_open(self) -> bool:
        return self.machine.event is not None and self.machine.event.number is not None

    @property
    def _counts_rows(self) -> bool:
        decision = None if self._fitted is None else self._fitted.decision
        own = decision is not None and decision.is_share_of_rows
        return own if self.rules.is_auto else self.rules.is_share_of_rows

    def _severity(
        self, evidence: Evidence, silent: SilentRows, interval: float | None
    ) -> tuple[Array, NDArray[np.bool_], RowSeverity | None]:
        """Severity of what begins at each row, and the rows that keep an event going.

        And where a batch decides alike, all that it knows of the rows.
        """
        if self._severities is not None:
            score, flags = np.asarray(evidence.score), np.asarray(silent.silent.any(axis=1))
            rows = self._severities.push(score, None, flags, RowEvents.of(evidence))
            return rows.severity, rows.is_high, rows
        decision = None if self._fitted is None else self._fitted.decision
        period = self.rules.period(decision, self._entity, interval)
        assert evidence.log_period is not None
        assert evidence.goes_on is not None
        severity = as_severity(evidence.log_period, math.log(max(period, 2.0)))
        if not self.silence.all_speak:
            throughout = silent.silent.any(axis=1)
            severity = np.where(throughout, np.maximum(severity, SILENT_SEVERITY), severity)
        return severity, evidence.goes_on | (severity >= 1), None

    def _find_shifts(self, rows: RowSeverity | None, changes: Sequence[EventChange]) -> None:
        """Note the permanent shifts that are known by some rows."""
        if rows is not None:
            events = [change.event for change in changes if change.state == CLOSED]
            self._pending.permanent += self._shifts.push(rows.shifted, rows.unlike, events)
        elif self.final is not None:
            self._pending.permanent += self.final.permanent()

    def _reported(self, severity: Array, silent: SilentRows) -> Array:
        """Severities to report: silence counts at the row where it is detected."""
        if self.silence.all_speak:
            return severity
        lasting = silent.silent.any(axis=1) & ~silent.begins.any(axis=1)
        return np.where(lasting & (severity == SILENT_SEVERITY), 0.0, severity)

    def _alarms(
        self, changes: list[EventChange], row: int, count: int, interval: float | None
    ) -> dict[int, Alarm]:
        """The alarm that each row reports, by row: at most one a row, others with the next."""
        alarms: dict[int, Alarm] = {}
        waits = self._pending.final_events or self._pending.unconfirmed or self._pending.permanent
        if not (changes or self._pending.untold or waits):
            return alarms
        by_row: dict[int, list[EventChange]] = {}
        for change in changes:
            by_row.setdefault(change.row, []).append(change)
        for at in range(row, row + count):
            for change in by_row.get(at, ()):
                self._pending.untold.extend(self._update(change, interval))
            self._pending.untold.extend(self._settle(at, interval))
            if self._pending.untold:
                alarms[at] = self._pending.untold.popleft()
        return alarms

    def _update(self, change: EventChange, interval: float | None) -> list[Alarm]:
        """The alarm of the ongoing event, where it changed."""
        alarm = self.alarms.update(change, self.recent, interval)
        if alarm is None:
            return []
        if change.state == CLOSED and self.final is not None:
            self._pending.unconfirmed.append((change.event.last + self._wait, alarm.number))
        return [alarm]

    def _settle(self, row: int, interval: float | None) -> list[Alarm]:
        """Confirm and withdraw the alarms that are due at a row."""
        changed: list[Alarm] = []
        for event in self._pending.due(row):
            changed += self.alarms.confirm(event, self.recent, interval)
        if self._pending.unconfirmed and self._pending.unconfirmed[0][0] <= row:
            waiting = [
                (at, number)
                for at, number in self._pending.unconfirmed
                if self.alarms.is_provisional(number)
            ]
            # an event of final evidence that goes on may yet be the aftermath of another
            self._pending.unconfirmed = [
                (at, number) for at, number in waiting if at > row or self._may_confirm(number)
            ]
            kept = {number for _, number in self._pending.unconfirmed}
            changed += [self.alarms.withdraw(number) for _, number in waiting if number not in kept]
        # after all that may have confirmed them
        due = [event for event in self._pending.permanent if self._permanent_at(event) <= row]
        for event in due:
            self._pending.permanent.remove(event)
            changed += self.alarms.note_permanent(event, self.recent, interval)
        return changed

    def _permanent_at(self, event: OngoingEvent) -> int:
        """The row at which a permanent event is reported."""
        return event.last + self._wait + ROWS_AFTER + 1

    def _may_confirm(self, number: int) -> bool:
        """Whether an event of final evidence that is not reported yet overlaps an alarm."""
        assert self.final is not None
        alarm = self.alarms.find(number)
        ongoing = self.final.ongoing
        events = [event for _, event in self._pending.final_events] + ([ongoing] if ongoing else [])
        return any(event.first <= alarm.last and alarm.first <= event.last for event in events)

    def _note(self, silent: SilentRows, starts: NDArray[np.bool_]) -> None:
        """Pass silent rows and starts of segments on to final evidence."""
        assert self.final is not None
        self.final.add(np.asarray(silent.silent.any(axis=1)), starts)
        if not self.silence.all_speak:
            self.final.mark_since(silent)

    def _record(
        self, span: Span, evidence: Evidence, silent: SilentRows, alarmed: NDArray[np.bool_]
    ) -> Evidence:
        """Keep the rows; their evidence, with the ranges that profiles of training give."""
        row = self.recent.count
        rows = RecentRows(
            span.filled.values,
            evidence.by_channel,
            silent.missing,
            silent.silent,
            alarmed,
            span.starts,
            ranges_of(evidence, kept=self._fitted is None),
        )
        self.recent.add(rows, span.times)
        if not self.silence.all_speak:
            self.recent.mark_since(row, silent)
        return evidence if self.ranges is None else self.ranges.put(evidence, self.recent, row)

    def relearn(self, first_values: dict[int, float]) -> None:
        """Restart learning, because channels have their first value.

        In the rows before, they are taken to have had this value, as in a batch.
        """
        for channel, value in first_values.items():
            self.recent.put(channel, value)
        self.online = self._begin_online()

    def accept(self, number: int) -> Alarm:
        """Mark an alarm as normal: close it if it is open, and learn from its rows."""
        alarm = self.alarms.find(number)
        is_open = self._is_open and self.alarms.opened_last == number
        last = self.recent.count - 1 if is_open else alarm.last
        if is_open:
            self.machine.accept()
        newest = self.recent.count - 1
        self.online.accept(newest + 1 - alarm.first, newest + 1 - last)
        if last == newest:
            self.silence.accept()
        normal = replace(alarm, last=last, state=CLOSED, status=CONFIRMED, permanent=True)
        self.alarms.put(replace(normal, end=self.recent.label(last)))
        return self.alarms.find(number)

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        (recent, recent_facts), online = self.recent.state(), self.online.state()
        profiles, alarms = self.alarms.state()
        parts = {
            "recent": recent,
            "alarms": profiles,
            "online": online.arrays,
            "silence": self.silence.state(),
        }
        facts: dict[str, Any] = {
            "machine": self.machine.state(),
            "recent": recent_facts,
            "alarms": alarms,
            "online": online.facts,
            "pending": self._pending.state(),
        }
        parts["shifts"], facts["shifts"] = self._shifts.state()
        if self._severities is not None:
            parts["severities"] = self._severities.state()
        if self.final is not None:
            parts["final"], facts["final"] = self.final.state()
        return join_names(parts), facts

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        parts = split_names(arrays)
        self.machine.restore(facts["machine"])
        self.recent = RecentBuffer.restore(parts["recent"], facts["recent"], self._rows_behind)
        self.alarms.restore(parts.get("alarms", {}), facts["alarms"])
        self.online = self._begin_online(State(parts["online"], facts["online"]))
        self.silence.restore(parts["silence"])
        self._pending = PendingChanges.restore(facts["pending"])
        self._shifts.restore(parts["shifts"], facts["shifts"])
        if self.final is not None:
            self.final.restore(parts["final"], facts["final"])
        if self._severities is not None:
            self._severities.restore(parts["severities"])
