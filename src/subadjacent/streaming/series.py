"""The rows of one series, one after the other: judged, learned from, alarms kept.

Rows that come together go through in one call wherever no alarm begins or ends among them. What
is said of a row does not depend on how rows are grouped.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import MOST_ROWS, InputError, require_whole
from subadjacent.methods.method import State
from subadjacent.scoring.decision import SILENT
from subadjacent.streaming.alarms import AlarmKeeper, AlarmRules, Event, LiveAlarm, Walk
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.arrivals import Arrivals, Counts
from subadjacent.streaming.book import AlarmBook, closed
from subadjacent.streaming.learner import Judged, Learner
from subadjacent.streaming.model import FittedModel
from subadjacent.streaming.pending import Pending
from subadjacent.streaming.recent import Recent, RecentRows
from subadjacent.streaming.silence import Filled, Filler, Silence, Silent, put_back, to_arrays

Array = NDArray[np.float64]

TOGETHER = 256
"""Rows that are judged at a time: with more of them, more is judged twice where an alarm begins."""

FILL_LIMIT = 10
"""Rows that may be missing without a word, where no detector says otherwise."""


class _Span(NamedTuple):
    """Rows that follow each other, and all that is known of them before they are judged."""

    filled: Filled
    starts: NDArray[np.bool_]
    now: Array
    times: list[Any] | None
    scores: Array | None

    def part(self, rows: slice) -> _Span:
        """Some of the rows."""
        return _Span(
            self.filled.part(rows),
            self.starts[rows],
            self.now[rows],
            None if self.times is None else self.times[rows],
            None if self.scores is None else self.scores[rows],
        )

    def __len__(self) -> int:
        return len(self.starts)


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
    rules
        When alarms open and close. None: as the detector says, else the defaults.
    fill_limit
        Rows that may be missing without a word. None: as the detector says, else 10.
    """

    def __init__(
        self,
        channels: Sequence[str],
        detector: BaseDetector | None = None,
        entity: str | None = None,
        *,
        rules: AlarmRules | None = None,
        fill_limit: int | None = None,
    ) -> None:
        self.channels = tuple(channels)
        self.entity = entity
        self._model = None if detector is None else FittedModel(detector, self.channels, entity)
        if fill_limit is None:
            fill_limit = FILL_LIMIT if self._model is None else self._model.fill_limit
        require_whole("fill_limit", fill_limit, least=0, most=MOST_ROWS)
        if rules is None:
            rules = AlarmRules() if self._model is None else self._model.rules
        count, model = len(self.channels), self._model
        self._arrivals = Arrivals(fill_limit, "rows" if entity is None else repr(entity))
        self._filler = Filler(np.zeros(count) if model is None else model.typical)
        self._silence = Silence(count, fill_limit, None if model is None else model.still)
        self._learner = Learner(count)
        self._keeper = AlarmKeeper(rules)
        self._recent = Recent(count)
        self._book = AlarmBook(self.channels, entity, None if model is None else model.habits)
        self._pending = Pending()
        if model is not None:
            model.warm(self._learner)

    @property
    def rows(self) -> int:
        """Rows taken so far."""
        return self._arrivals.counts.taken

    @property
    def counts(self) -> Counts:
        """What came of the rows so far."""
        return self._arrivals.counts

    @property
    def alarms(self) -> tuple[LiveAlarm, ...]:
        """Alarms so far, the latest last; the last hundred of them."""
        return tuple(self._book.alarms)

    def push(self, rows: Any, times: Sequence[Any] | None = None) -> list[Answer]:
        """Take rows in order, (B, C), NaN for what is missing; what can be said now.

        Answers come in the order of rows: final ones of rows that waited, then those of these
        rows. A row whose look-ahead came with it has one answer only, the final one. Rows that
        are not taken (``counts``) have none.

        Raises
        ------
        InputError
            For rows of another shape, impossible values and times that are none; no row is taken.
        """
        values = self._check(rows)
        read = self._arrivals.read(times, len(values))
        if self._keeper.budget.by_time and len(values) and (read is None or read.unit == "own"):
            raise InputError.of(
                "budget",
                "must be a number of rows where rows have no dates",
                f"got {self._keeper.budget.wanted!r}",
            )
        first = self.rows
        places, starts = self._arrivals.take(read, len(values))
        values = values[places]
        own = None if times is None else [times[place] for place in places]
        now = np.arange(first, first + len(values), dtype=np.float64)
        if self._keeper.budget.by_time and read is not None:
            now = read.ticks[places]
        answers: list[Answer] = []
        for begin in range(0, len(values), TOGETHER):
            part = slice(begin, begin + TOGETHER)
            some = None if own is None else own[part]
            answers += self._chunk(values[part], starts[part], now[part], some)
        return answers

    def _check(self, rows: Any) -> Array:
        """Rows as numbers; infinite ones are missing, as in a batch."""
        try:
            values = np.array(rows, dtype=np.float64, ndmin=2)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError.of("rows", "must hold numbers", f"got {error}") from error
        if values.ndim != 2 or (values.shape[1] != len(self.channels) and values.size):
            raise InputError.of(
                "rows",
                f"must have {len(self.channels)} values each, one a channel",
                f"got shape {values.shape}",
            )
        values = values.reshape(-1, len(self.channels))
        if (large := np.isfinite(values) & (np.abs(values) > LARGEST)).any():
            row, column = np.argwhere(large)[0]
            raise InputError.of(
                "rows",
                f"must not exceed {LARGEST:g} in magnitude",
                f"column {self.channels[column]!r} is {values[row, column]} at row {row}",
            )
        values[np.isinf(values)] = np.nan
        return values

    def _chunk(
        self, rows: Array, starts: NDArray[np.bool_], now: Array, times: list[Any] | None
    ) -> list[Answer]:
        first_values = {} if self._model is not None else self._filler.first_values(rows)
        filled = self._filler.step(rows)
        scores = final = None
        if self._model is not None:
            scores, final = self._model.score(rows, filled, starts)
        span = _Span(filled, starts, now, times, scores)
        cuts = [place for place in first_values if place] + [len(rows)]
        answers: list[Answer] = []
        done = 0
        for stop in cuts:
            if done in first_values:
                self._learn_anew(filled, done, first_values[done])
            while done < stop:
                found = list(self._judge(span.part(slice(done, stop))))
                done += len(found)
                answers += found
        return answers if final is None else self._pending.give(answers, final)

    def _learn_anew(self, filled: Filled, place: int, channels: list[int]) -> None:
        """Begin to learn again with the rows that are kept, for channels that had no value yet.

        In the rows before they are what they are now, as in a batch.
        """
        for channel in channels:
            self._recent.put(channel, float(filled.values[place, channel]))
        if self._recent.count:
            rows = self._recent.until(self._recent.count - 1)
            self._learner = Learner(len(self.channels))
            self._learner.step(rows.values[~rows.anomalous])

    def _judge(self, span: _Span) -> Iterator[Answer]:
        """Answers of rows up to the first at which something begins or ends, at least one."""
        row, calm = self._recent.count, self._keeper.calm
        before = copy.deepcopy((self._learner, self._silence)) if len(span) > 1 else None
        judged, silent, severity = self._look(span, calm)
        walk = self._keeper.follow(row, severity, silent.since.max(axis=1), span.now)
        if before is not None and walk.rows < len(span):
            # what follows is learned from, or not, unlike what was before it
            self._learner, self._silence = before
            span = span.part(slice(0, walk.rows))
            judged, silent, severity = self._look(span, calm)
        self._keep(span, judged, silent, walk)
        told = {notice.row: self._tell(notice) for notice in walk.notices}
        if walk.ended is not None and walk.for_good:
            self._accept_rows(walk.ended.first, self._recent.count - 1)
        for place in range(len(span)):
            yield Answer(
                row + place,
                None if span.times is None else span.times[place],
                self.entity,
                self._model is None,
                None if span.scores is None else float(span.scores[place]),
                float(severity[place]),
                bool(walk.loud[place]),
                float(judged.sure[place]),
                judged.by_channel[place],
                judged.expected[place],
                judged.low[place],
                judged.high[place],
                told.get(row + place),
            )

    def _look(self, span: _Span, calm: bool) -> tuple[Judged, Silent, Array]:
        """What the learner says of rows, which of their channels are silent, and how bad it is."""
        silent = self._silence.step(span.filled, span.starts)
        judged = self._learner.step(span.filled.values, span.scores, calm=calm)
        # what stands in for a missing value says nothing
        judged = judged._replace(by_channel=np.where(silent.missing, 0.0, judged.by_channel))
        severity = np.where(
            silent.silent.any(axis=1), np.maximum(judged.severity, SILENT), judged.severity
        )
        return judged, silent, severity

    def _keep(self, span: _Span, judged: Judged, silent: Silent, walk: Walk) -> None:
        row = self._recent.count
        self._recent.add(
            RecentRows(
                span.filled.values,
                judged.by_channel,
                silent.missing,
                silent.silent,
                walk.loud,
                span.starts,
            ),
            span.times,
        )
        for place, channel in np.argwhere(silent.since > 0).tolist():
            since = int(silent.since[place, channel])
            missing = bool(silent.missing[place, channel])
            self._recent.mark(row + place, channel, since, missing=missing)

    def _tell(self, notice: Any) -> LiveAlarm | None:
        return self._book.tell(notice, self._recent, self._arrivals.seconds)

    def accept(self, number: int) -> LiveAlarm:
        """Take an alarm for normal: close it if it is open, and learn from its rows.

        Of an alarm that was closed, those of its rows are learned that are still kept.
        """
        alarm, event = self._book.find(number), self._keeper.event
        going_on: Event | None = None
        if event is not None and event.number == number:
            going_on = self._keeper.end()
            self._accept_rows(alarm.first, self._recent.count - 1)
        else:
            self._accept_rows(alarm.first, alarm.last)
        self._book.put(closed(alarm, going_on, self._recent))
        return self._book.find(number)

    def _accept_rows(self, first: int, last: int) -> None:
        """Learn from rows of an alarm; what is missing or stuck by now is normal as well."""
        rows = self._recent.until(self._recent.count - 1).values
        oldest = self._recent.count - len(rows)
        some = rows[max(first - oldest, 0) : max(last + 1 - oldest, 0)]
        if len(some):
            self._learner.accept(some)
        if last == self._recent.count - 1:
            self._silence.accept()

    def finish(self) -> list[Answer]:
        """Final answers of the rows that still wait; a row after this begins a new stretch."""
        return [] if self._model is None else self._pending.give([], self._model.finish())

    def state(self) -> State:
        """All that is needed to go on, of a size that does not grow."""
        arrays = to_arrays(self._filler, self._silence)
        recent, recent_facts = self._recent.state()
        habits, alarms = self._book.state()
        waiting, waiting_facts = self._pending.state()
        parts = {"recent": recent, "book": habits, "pending": waiting}
        parts["learner"] = self._learner.state()
        facts: dict[str, Any] = {
            "channels": list(self.channels),
            "entity": self.entity,
            "arrivals": self._arrivals.state(),
            "keeper": self._keeper.state(),
            "recent": recent_facts,
            "alarms": alarms,
            "pending": waiting_facts,
        }
        if self._model is not None:
            state = self._model.state()
            parts["model"], facts["model"] = state.arrays, state.facts
        for name, part in parts.items():
            arrays |= {f"{name}.{key}": array for key, array in part.items()}
        return State(arrays, facts)

    @classmethod
    def restore(
        cls,
        state: State,
        detector: BaseDetector | None = None,
        *,
        rules: AlarmRules | None = None,
        fill_limit: int | None = None,
    ) -> Self:
        """Go on where ``state`` was taken, with the same detector and settings."""
        facts = state.facts
        if (detector is None) != ("model" not in facts):
            raise InputError.of(
                "detector",
                "must be there for a stream that was saved with one, and only then",
                f"got {detector}",
            )
        stream = cls(
            facts["channels"], detector, facts["entity"], rules=rules, fill_limit=fill_limit
        )
        stream._go_on(state)
        return stream

    def _go_on(self, state: State) -> None:
        facts = state.facts
        put_back(state.arrays, self._filler, self._silence)
        parts: dict[str, dict[str, NDArray[Any]]] = {}
        for key, array in state.arrays.items():
            name, _, rest = key.partition(".")
            parts.setdefault(name, {})[rest] = array
        self._arrivals.go_on(facts["arrivals"])
        self._keeper.restore(facts["keeper"])
        self._recent = Recent.restore(parts["recent"], facts["recent"])
        self._book.restore(parts.get("book", {}), facts["alarms"])
        self._pending.restore(parts["pending"], facts["pending"])
        self._learner = Learner.restore(parts["learner"])
        if self._model is not None:
            self._model.restore(State(parts["model"], facts["model"]))
