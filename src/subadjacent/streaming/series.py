"""The stream of one series: rows in order are assessed and learned from, alarms are kept.

Rows that come together go through in few calls. The answer to a row does not depend on how rows
are grouped.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.data.gaps import ForwardFill
from subadjacent.data.times import Times
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import MOST_ROWS, InputError, require_whole
from subadjacent.methods.method import State, join_names, split_names
from subadjacent.streaming.alarms import AlarmRules, LiveAlarm
from subadjacent.streaming.answer import Answer, Pending
from subadjacent.streaming.arrivals import NAMELESS, Arrivals, Counts
from subadjacent.streaming.fitted_model import FittedModel
from subadjacent.streaming.series_assessor import SeriesAssessor, Span

Array = NDArray[np.float64]

ROWS_AT_ONCE = 256
"""Rows that go through a model at a time: with more of them, a push of many takes more memory."""

FILL_LIMIT = 10
"""Missing rows in a gap that is filled without an alarm, without a detector."""


class SeriesStream:
    """The stream of one series.

    Parameters
    ----------
    channels
        The channels' names, in order.
    detector
        A fitted one, or None to learn from the rows alone.
    entity
        The name of the series.
    rules
        When alarms open and close. None: the detector's, else the defaults.
    fill_limit
        Missing rows in a gap that is filled without an alarm. None: the detector's, else 10.
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
        model = self._model
        self._arrivals = Arrivals(fill_limit, NAMELESS if entity is None else repr(entity))
        self._filler = ForwardFill(np.zeros(len(self.channels)) if model is None else model.typical)
        self._pending = Pending()
        self._assessor = SeriesAssessor(
            self.channels, entity, rules, fill_limit, None if model is None else model.profiles
        )
        if model is not None:
            for segment, scores in model.training():
                self._assessor.learn_training_rows(segment, scores)

    @property
    def rows(self) -> int:
        """Rows accepted so far."""
        return self._arrivals.counts.accepted

    @property
    def counts(self) -> Counts:
        """Rows accepted and dropped so far."""
        return self._arrivals.counts

    @property
    def alarms(self) -> tuple[LiveAlarm, ...]:
        """Alarms so far, the latest last; the last hundred of them."""
        return tuple(self._assessor.store.alarms)

    @property
    def opened(self) -> int:
        """Alarms that were opened so far."""
        return self._assessor.tracker.opened

    @property
    def is_behind(self) -> bool:
        """Whether rows wait to be learned from before the next row is assessed."""
        return self._assessor.learner.is_behind

    def catch_up(self) -> None:
        """Learn now what the next row would have to wait for; its answer is the same."""
        self._assessor.learner.prepare()

    def learn(self) -> None:
        """Learn from the rows that wait, but fit with the next row: half of the work each."""
        self._assessor.learner.learn()

    def push(self, rows: Any, times: Sequence[Any] | None = None) -> list[Answer]:
        """Answers to the next rows, (B, C), NaN for missing values.

        Each row has an answer at once and, where its score waits for later rows, a final one when
        these have come. Dropped rows (``counts``) have none.

        Raises
        ------
        InputError
            For rows of another shape, impossible values and impossible times; no row is accepted.
        """
        values = self._check(rows)
        read = self._arrivals.read(times, len(values))
        self._check_budget(read, len(values))
        first = self.rows
        places, starts, skipped = self._arrivals.accept(read, len(values))
        values = values[places]
        own = None if times is None else [times[place] for place in places]
        now = np.arange(first, first + len(values), dtype=np.float64)
        if read is not None and self._assessor.tracker.budget.by_time:
            now = read.ticks[places]
        answers: list[Answer] = []
        for part in self._parts(values):
            some = None if own is None else own[part]
            answers += self._chunk(values[part], starts[part], skipped[part], now[part], some)
        return answers

    def _parts(self, values: Array) -> Iterator[slice]:
        """Slices of the rows that go through the model in one call."""
        edges = {0, len(values)}
        if self._model is not None and not self._model.looks_ahead:
            # rows that wait for the end of a gap, and rows that are final at once, come one by one
            gaps = np.flatnonzero(np.isnan(values).any(axis=1))
            edges.update(gaps.tolist(), (gaps + 1).tolist())
        for first, last in pairwise(sorted(edges)):
            for begin in range(first, last, ROWS_AT_ONCE):
                yield slice(begin, min(begin + ROWS_AT_ONCE, last))

    def _check_budget(self, times: Times | None, count: int) -> None:
        """Refuse alarms per time where rows have no dates."""
        budget = self._assessor.tracker.budget
        if budget.by_time and count and (times is None or times.unit == "own"):
            raise InputError.of(
                "contamination",
                "must be a share of the rows where rows have no dates",
                f"got {budget.contamination!r}",
            )

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
        if (np.abs(values) <= LARGEST).all():
            # nothing is missing, infinite or too large, as nearly always
            return values
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
        self,
        rows: Array,
        starts: NDArray[np.bool_],
        skipped: NDArray[np.int64],
        now: Array,
        times: list[Any] | None,
    ) -> list[Answer]:
        model = self._model
        first_values = {} if model is not None else self._filler.first_values(rows)
        filled = self._filler.step(rows)
        begins = starts.nonzero()[0].tolist()
        scores, final = (None, None) if model is None else model.score(rows, filled, begins)
        span = Span(filled, starts, skipped, now, times, scores)
        # a channel has its first value, or a segment begins
        stops = sorted({*first_values, *begins, len(rows)})
        answers: list[Answer] = []
        while (done := len(answers)) < len(rows):
            if done in first_values and self._assessor.recent.count:
                channels = first_values[done]
                values = {channel: float(filled.values[done, channel]) for channel in channels}
                self._assessor.relearn(values)
            nearest = next(stop for stop in stops if stop > done)
            stop = min(done + self._assessor.learner.room, nearest)
            part = span if stop - done == len(rows) else span.part(slice(done, stop))
            answers += self._assessor.assess(part, self._arrivals.seconds)
        if model is None or final is None:
            return answers
        return self._pending.give(answers, final, twice=model.looks_ahead)

    def accept(self, number: int) -> LiveAlarm:
        """Mark an alarm as normal: close it if it is open, and learn from its rows.

        Of a closed alarm, the rows that are still kept are learned from.
        """
        return self._assessor.accept(number)

    def finish(self) -> list[Answer]:
        """Final answers of the rows that still wait; a row after this begins a new segment."""
        return (
            [] if self._model is None else self._pending.give([], self._model.finish(), twice=True)
        )

    def state(self) -> State:
        """All that is needed to continue, of bounded size."""
        watcher, watcher_facts = self._assessor.state()
        waiting, waiting_facts = self._pending.state()
        parts = {"filler": self._filler.state(), "watcher": watcher, "pending": waiting}
        facts: dict[str, Any] = {
            "channels": list(self.channels),
            "entity": self.entity,
            "arrivals": self._arrivals.state(),
            "watcher": watcher_facts,
            "pending": waiting_facts,
        }
        if self._model is not None:
            state = self._model.state()
            parts["model"], facts["model"] = state.arrays, state.facts
        return State(join_names(parts), facts)

    @classmethod
    def restore(
        cls,
        state: State,
        detector: BaseDetector | None = None,
        *,
        rules: AlarmRules | None = None,
        fill_limit: int | None = None,
    ) -> Self:
        """Continue a saved stream with the same detector and settings."""
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
        stream._continue(state)
        return stream

    def _continue(self, state: State) -> None:
        facts, parts = state.facts, split_names(state.arrays)
        self._arrivals.restore(facts["arrivals"])
        self._filler.restore(parts["filler"])
        self._assessor.restore(parts["watcher"], facts["watcher"])
        self._pending.restore(parts["pending"], facts["pending"])
        if self._model is not None:
            self._model.restore(State(parts["model"], facts["model"]))
