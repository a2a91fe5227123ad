"""Judges the rows of one series as they come, learns from those that are calm, and keeps alarms.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.decision import SILENT
from subadjacent.scoring.habits import Habits
from subadjacent.streaming.alarms import AlarmKeeper, AlarmRules, LiveAlarm, Severities, Walk
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.book import AlarmBook, closed
from subadjacent.streaming.learning.learner import Judged, Learner
from subadjacent.streaming.recent import Recent, RecentRows
from subadjacent.streaming.silence import Filled, Silence, Silent

Array = NDArray[np.float64]


class Span(NamedTuple):
    """Rows that follow each other, and all that is known of them before they are judged."""

    filled: Filled
    starts: NDArray[np.bool_]  # (B,), of stretches
    skipped: NDArray[np.int64]  # (B,), rows that are missing before one that begins a stretch
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


class _Found(NamedTuple):
    """What is said of rows before it is known what begins or ends among them."""

    judged: Judged
    silent: Silent
    severity: Array  # (B,), what is told of each row
    severities: Severities  # by which alarms are followed


class Watcher:
    """What is known of a series by its rows.

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
        block_ends = count == self.learner.room
        found = self._look(span)
        walk = self.keeper.follow(row, found.severities, may_accept=block_ends)
        self.learner.learn(walk.calm)
        self._keep(span, found, walk)
        told = {one.row: self.book.tell(one, self.recent, interval) for one in walk.notices}
        if walk.accepted is not None:
            self._accept_rows(walk.accepted.first, self.recent.count - 1)
        judged, severity = found.judged, found.severity.tolist()
        sure, alarmed = judged.sure.tolist(), walk.alarmed.tolist()
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
                sure[place],
                judged.by_channel[place],
                judged.expected[place],
                judged.low[place],
                judged.high[place],
                told.get(row + place),
            )

    def _look(self, span: Span) -> _Found:
        silent = self.silence.step(span.filled, span.starts)
        judged = self.learner.judge(span.filled.values, span.scores)
        # what stands in for a missing value says nothing
        judged = judged._replace(by_channel=np.where(silent.missing, 0.0, judged.by_channel))
        # as in a batch, what says nothing is an alarm whatever its score. It is news when it
        # begins; alarms follow all of its rows, for a spent budget may have to put one off
        begins, least = (
            np.where(which.any(axis=1), SILENT, -np.inf) for which in (silent.begins, silent.silent)
        )
        news, lasting = np.maximum(judged.severity, least), np.maximum(judged.lasting, least)
        severities = Severities(news, lasting, silent.since.max(axis=1), span.now)
        return _Found(judged, silent, np.maximum(judged.severity, begins), severities)

    def _keep(self, span: Span, found: _Found, walk: Walk) -> None:
        row, silent = self.recent.count, found.silent
        rows = RecentRows(
            span.filled.values,
            found.judged.by_channel,
            silent.missing,
            silent.silent,
            walk.alarmed,
            span.starts,
        )
        self.recent.add(rows, span.times)
        # none in most rows
        for place, channel in np.argwhere(silent.since > 0).tolist() if silent.silent.any() else ():
            since = int(silent.since[place, channel])
            missing = bool(silent.missing[place, channel])
            self.recent.mark(row + place, channel, since, missing=missing)

    def warm(self, rows: Array, scores: Array) -> None:
        """Learn from rows of training, with what the model says of them; one stretch of them."""
        self.learner.watch(rows, scores)
        # what comes next may come any time after them
        self.learner.gap(0)

    def learn_anew(self, first_values: dict[int, float]) -> None:
        """Forget what was learned, for channels that had no value yet have one now.

        In the rows before they are what they are now, as in a batch.
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
        """Learn from rows of an alarm; what is missing or stuck by now is normal as well."""
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
        arrays = {f"{name}/{key}": one for name, part in parts.items() for key, one in part.items()}
        return arrays, {"keeper": self.keeper.state(), "recent": recent_facts, "alarms": alarms}

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        parts = split_names(arrays)
        self.keeper.restore(facts["keeper"])
        self.recent = Recent.restore(parts["recent"], facts["recent"])
        self.book.restore(parts.get("book", {}), facts["alarms"])
        self.learner = Learner.restore(parts["learner"])
        self.silence.restore(parts["silence"])


def split_names(arrays: dict[str, NDArray[Any]]) -> dict[str, dict[str, NDArray[Any]]]:
    """Arrays by the first word of their names, then by the rest."""
    parts: dict[str, dict[str, NDArray[Any]]] = {}
    for key, array in arrays.items():
        name, _, rest = key.partition("/")
        parts.setdefault(name, {})[rest] = array
    return parts
