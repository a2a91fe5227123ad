"""From the rows of one series to answers: judged, learned from if calm, and followed for alarms.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import FilledRows
from subadjacent.scoring.decision import SILENT
from subadjacent.scoring.habits import Habits
from subadjacent.streaming.alarms import (
    AlarmKeeper,
    AlarmProgress,
    AlarmRules,
    LiveAlarm,
    Severities,
)
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.book import AlarmBook, closed
from subadjacent.streaming.learning.learner import Learner, LiveJudgement
from subadjacent.streaming.nested import join_names, split_names
from subadjacent.streaming.recent import Recent, RecentRows
from subadjacent.streaming.silence import Silence, Silent

Array = NDArray[np.float64]


class Span(NamedTuple):
    """Rows that follow each other, and all that is known of them before they are judged."""

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
    """What is known of rows before their alarms are."""

    judged: LiveJudgement
    silent: Silent
    severity: Array  # (B,), as it is answered
    severities: Severities  # as alarms follow them


class Watcher:
    """Judges the rows of one series, learns from the calm ones, and keeps the alarms.

    Parameters
    ----------
    channels, entity
        Of the series.
    rules
        When alarms open and close.
    fill_limit
        Rows that may be missing without a word.
    habits
        What the channels did in training; None without a model.
    """

    def __init__(
        self,
        channels: Sequence[str],
        entity: str | None,
        rules: AlarmRules,
        fill_limit: int,
        habits: Habits | None = None,
    ) -> None:
        self._count = len(channels)
        self._entity = entity
        self._final = habits is None
        self.learner = Learner(self._count)
        self.keeper = AlarmKeeper(rules)
        self.book = AlarmBook(channels, entity, habits)
        self.silence = Silence(
            self._count, fill_limit, None if habits is None else habits.each("still")
        )
        self.recent = Recent(self._count)

    def judge(self, span: Span, interval: float | None) -> Iterator[Answer]:
        """Answers of rows, at most as many as ``room`` of the learner.

        ``interval`` is in seconds, where it is known.
        """
        row, count = self.recent.count, len(span.starts)
        if span.starts[0]:
            self.learner.gap(int(span.skipped[0]))
        mini_batch_ends = count == self.learner.room
        assessed = self._assess(span)
        progress = self.keeper.follow(row, assessed.severities, may_accept=mini_batch_ends)
        usual = self.learner.mark_calm(progress.calm)
        self._record(span, assessed, progress)
        alarms = {
            notice.row: self.book.tell(notice, self.recent, interval) for notice in progress.notices
        }
        if progress.accepted is not None:
            self._accept_rows(progress.accepted.first, self.recent.count - 1)
        judged, severity = assessed.judged, assessed.severity.tolist()
        warm_up, alarmed = judged.warm_up.tolist(), progress.alarmed.tolist()
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
                judged.by_channel[place],
                usual.expected[place],
                usual.low[place],
                usual.high[place],
                alarms.get(row + place),
            )

    def _assess(self, span: Span) -> _Assessment:
        silent = self.silence.step(span.filled, span.starts)
        missing = span.filled.gaps > 0
        judged = self.learner.judge(
            span.filled.values, span.scores, missing if missing.any() else None
        )
        if self.silence.all_speak:
            since = np.zeros(len(span.now), dtype=np.int64)
            severities = Severities(judged.severity, judged.ongoing, since, span.now)
            return _Assessment(judged, silent, judged.severity, severities)
        # the surprise of a value that was carried over a gap means nothing
        judged = judged._replace(by_channel=np.where(silent.missing, 0.0, judged.by_channel))
        # as in a batch, a silent channel is an alarm whatever its score. The answer says so at the
        # row where silence begins. Alarms follow all of its rows: a spent budget may delay one
        at_begin, throughout = (
            np.where(which.any(axis=1), SILENT, -np.inf) for which in (silent.begins, silent.silent)
        )
        severities = Severities(
            np.maximum(judged.severity, throughout),
            np.maximum(judged.ongoing, throughout),
            silent.since.max(axis=1),
            span.now,
        )
        return _Assessment(judged, silent, np.maximum(judged.severity, at_begin), severities)

    def _record(self, span: Span, assessed: _Assessment, progress: AlarmProgress) -> None:
        row, silent = self.recent.count, assessed.silent
        rows = RecentRows(
            span.filled.values,
            assessed.judged.by_channel,
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

    def learn_anew(self, first_values: dict[int, float]) -> None:
        """Forget what was learned, because channels have their first value.

        In the rows before, they are taken to have had this value, as in a batch.
        """
        for channel, value in first_values.items():
            self.recent.put(channel, value)
        self.learner = Learner(self._count)

    def accept(self, number: int) -> LiveAlarm:
        """Take an alarm for normal: close it if it is open, and learn from its rows."""
        alarm, event = self.book.find(number), self.keeper.event
        if event is not None and event.number == number:
            self.keeper.end()
            self._accept_rows(alarm.first, self.recent.count - 1)
        else:
            event = None
            self._accept_rows(alarm.first, alarm.last)
        self.book.put(closed(alarm, event, self.recent))
        return self.book.find(number)

    def _accept_rows(self, first: int, last: int) -> None:
        """Learn from rows of an alarm; channels that are missing or stuck by now are normal too."""
        newest = self.recent.count - 1
        self.learner.accept(newest + 1 - first, newest + 1 - last)
        if last == newest:
            self.silence.accept()

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        recent, recent_facts = self.recent.state()
        habits, alarms = self.book.state()
        parts = {
            "recent": recent,
            "book": habits,
            "learner": self.learner.state(),
            "silence": self.silence.state(),
        }
        return join_names(parts), {
            "keeper": self.keeper.state(),
            "recent": recent_facts,
            "alarms": alarms,
        }

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        parts = split_names(arrays)
        self.keeper.restore(facts["keeper"])
        self.recent = Recent.restore(parts["recent"], facts["recent"])
        self.book.restore(parts.get("book", {}), facts["alarms"])
        self.learner = Learner.restore(parts["learner"])
        self.silence.restore(parts["silence"])
