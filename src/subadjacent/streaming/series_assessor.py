"""From the rows of one series to answers: assess, learn from normal rows, track alarms.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import FilledRows
from subadjacent.methods.method import join_names, split_names
from subadjacent.methods.online.learner import Learner, RowAssessment
from subadjacent.scoring.baseline_profile import BaselineProfiles
from subadjacent.scoring.decision import SILENT_SEVERITY
from subadjacent.streaming.alarm_store import AlarmStore, closed
from subadjacent.streaming.alarms import (
    AlarmProgress,
    AlarmRules,
    AlarmTracker,
    LiveAlarm,
    Severities,
)
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.recent_rows import RecentBuffer, RecentRows
from subadjacent.streaming.silent_channels import SilenceTracker, SilentRows

Array = NDArray[np.float64]


class Span(NamedTuple):
    """Consecutive rows, and what is known of them before they are assessed."""

    filled: FilledRows
    starts: NDArray[np.bool_]  # (B,), of segments
    skipped: NDArray[np.int64]  # (B,), rows that are missing before one that begins a segment
    now: Array  # (B,), what a budget counts: seconds or rows
    times: list[Any] | None
    scores: Array | None  # (B,), of a model, from the past alone

    def part(self, rows: slice) -> Span:
        """Some of the rows."""
        return Span(
            self.filled.part(rows),
            self.starts[rows],
            self.skipped[rows],
            self.now[rows],
            None if self.times is None else self.times[rows],
            None if self.scores is None else self.scores[rows],
        )


class _Assessment(NamedTuple):
    """The assessment of rows before alarms are tracked."""

    rows: RowAssessment
    silent: SilentRows
    severity: Array  # (B,), as answered
    severities: Severities  # as the tracker takes them


class SeriesAssessor:
    """Assesses the rows of one series, learns from the normal ones, and tracks alarms.

    Parameters
    ----------
    channels, entity
        Of the series.
    rules
        When alarms open and close.
    fill_limit
        Missing rows in a gap that is filled without an alarm.
    profiles
        Baseline profiles from training; None without a model.
    """

    def __init__(
        self,
        channels: Sequence[str],
        entity: str | None,
        rules: AlarmRules,
        fill_limit: int,
        profiles: BaselineProfiles | None = None,
    ) -> None:
        self._count = len(channels)
        self._entity = entity
        self._final = profiles is None
        self.learner = Learner(self._count)
        self.tracker = AlarmTracker(rules)
        self.store = AlarmStore(channels, entity, profiles)
        self.silence = SilenceTracker(
            self._count, fill_limit, None if profiles is None else profiles.each("max_run")
        )
        self.recent = RecentBuffer(self._count)

    def assess(self, span: Span, interval: float | None) -> Iterator[Answer]:
        """Answers of rows, at most as many as ``room`` of the learner.

        ``interval`` is in seconds, where it is known.
        """
        row, count = self.recent.count, len(span.starts)
        if span.starts[0]:
            self.learner.gap(int(span.skipped[0]))
        mini_batch_ends = count == self.learner.room
        assessed = self._assess(span)
        progress = self.tracker.follow(row, assessed.severities, may_accept=mini_batch_ends)
        expected = self.learner.mark_normal(progress.normal)
        self._record(span, assessed, progress)
        alarms = {
            change.row: self.store.update(change, self.recent, interval)
            for change in progress.changes
        }
        if progress.accepted is not None:
            self._accept_rows(progress.accepted.first, self.recent.count - 1)
        severity, alarmed = assessed.severity.tolist(), progress.alarmed.tolist()
        by_channel, warm_up = assessed.rows.by_channel, assessed.rows.warm_up.tolist()
        scores = None if span.scores is None else span.scores.tolist()
        for place in range(count):
            yield Answer(
                row + place,
                None if span.times is None else span.times[place],
                self._entity,
                self._final,
                None if scores is None else scores[place],
                severity[place],
                alarmed[place],
                warm_up[place],
                by_channel[place],
                expected.expected[place],
                expected.low[place],
                expected.high[place],
                alarms.get(row + place),
            )

    def _assess(self, span: Span) -> _Assessment:
        silent = self.silence.step(span.filled, span.starts)
        missing = span.filled.gaps > 0
        rows = self.learner.assess(
            span.filled.values, span.scores, missing if missing.any() else None
        )
        if self.silence.all_speak:
            since = np.zeros(len(span.now), dtype=np.int64)
            severities = Severities(rows.severity, rows.ongoing, since, span.now)
            return _Assessment(rows, silent, rows.severity, severities)
        # the surprise of a value that was carried over a gap means nothing
        rows = rows._replace(by_channel=np.where(silent.missing, 0.0, rows.by_channel))
        # as in a batch, a silent channel is an alarm whatever its score. The answer says so at the
        # row where silence begins. Alarms follow all of its rows: a spent budget may delay one
        at_begin, throughout = (
            np.where(which.any(axis=1), SILENT_SEVERITY, -np.inf)
            for which in (silent.begins, silent.silent)
        )
        severities = Severities(
            np.maximum(rows.severity, throughout),
            np.maximum(rows.ongoing, throughout),
            silent.since.max(axis=1),
            span.now,
        )
        return _Assessment(rows, silent, np.maximum(rows.severity, at_begin), severities)

    def _record(self, span: Span, assessed: _Assessment, progress: AlarmProgress) -> None:
        row, silent = self.recent.count, assessed.silent
        rows = RecentRows(
            span.filled.values,
            assessed.rows.by_channel,
            silent.missing,
            silent.silent,
            progress.alarmed,
            span.starts,
        )
        self.recent.add(rows, span.times)
        # none in most rows
        for place, channel in (
            () if self.silence.all_speak else np.argwhere(silent.since > 0).tolist()
        ):
            since = int(silent.since[place, channel])
            missing = bool(silent.missing[place, channel])
            self.recent.mark(row + place, channel, since, missing=missing)

    def learn_training_rows(self, rows: Array, scores: Array) -> None:
        """Learn from one segment of training rows, with the model's scores of them."""
        self.learner.learn_training_rows(rows, scores)
        # the rows that come next may come any time later
        self.learner.gap(0)

    def relearn(self, first_values: dict[int, float]) -> None:
        """Start learning anew, because channels have their first value.

        In the rows before, they are taken to have had this value, as in a batch.
        """
        for channel, value in first_values.items():
            self.recent.put(channel, value)
        self.learner = Learner(self._count)

    def accept(self, number: int) -> LiveAlarm:
        """Mark an alarm as normal: close it if it is open, and learn from its rows."""
        alarm, event = self.store.find(number), self.tracker.event
        if event is not None and event.number == number:
            self.tracker.end()
            self._accept_rows(alarm.first, self.recent.count - 1)
        else:
            event = None
            self._accept_rows(alarm.first, alarm.last)
        self.store.put(closed(alarm, event, self.recent))
        return self.store.find(number)

    def _accept_rows(self, first: int, last: int) -> None:
        """Learn from rows of an alarm; channels that are missing or stuck by now are normal too."""
        newest = self.recent.count - 1
        self.learner.accept(newest + 1 - first, newest + 1 - last)
        if last == newest:
            self.silence.accept()

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        recent, recent_facts = self.recent.state()
        profiles, alarms = self.store.state()
        parts = {
            "recent": recent,
            "book": profiles,
            "learner": self.learner.state(),
            "silence": self.silence.state(),
        }
        return join_names(parts), {
            "keeper": self.tracker.state(),
            "recent": recent_facts,
            "alarms": alarms,
        }

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        parts = split_names(arrays)
        self.tracker.restore(facts["keeper"])
        self.recent = RecentBuffer.restore(parts["recent"], facts["recent"])
        self.store.restore(parts.get("book", {}), facts["alarms"])
        self.learner = Learner.restore(parts["learner"])
        self.silence.restore(parts["silence"])
