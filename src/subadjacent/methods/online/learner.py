"""Assesses the rows of one series by what it learned from the rows before.

A row is assessed in four steps: how far it departs from normal (``views``), how improbable that is
(``surprise``), whether a new event begins, and how severe that is (``new_events``).

Rows are assessed as they come, but the learner learns after every mini-batch, so that rows one by
one and many at once get the same answers. The last row of a mini-batch is answered before the
learner learns: call ``learn`` when there is time, else it is done before the next row is assessed.
Rows of an alarm are not learned from, except in how rare a departure is.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ExpectedRange
from subadjacent.methods.method import join_names, split_names
from subadjacent.methods.online.history import MINI_BATCH, MiniBatch
from subadjacent.methods.online.new_events import (
    RETURN_PERIOD,
    NewEventFilter,
    PeaksOverThreshold,
)
from subadjacent.methods.online.surprise import TIME_CONSTANT, StreamSurprise
from subadjacent.methods.online.surprise_distribution import SurpriseDistribution
from subadjacent.methods.online.views import (
    AVERAGED_ROWS,
    BURN_IN,
    ChannelViews,
    Departures,
    view_count,
)

Array = NDArray[np.float64]

WARM_UP = 200
"""Rows of the warm-up; until its end surprise is reduced in proportion to the rows."""

SUPPRESSED_AFTER_GAP = 16
"""Rows after a gap whose surprise is suppressed: they are expected from rows before the gap."""

ALIGNED_ROWS = 64
"""Rows after a gap of unknown length by which the phases of cycles are found again: as many as the
first of these rows are among the features of the last. Others were not tried."""

SUPPRESSED_AT_START = ALIGNED_ROWS + AVERAGED_ROWS
"""Rows after such a gap whose surprise is suppressed."""

_FORGETTING = math.exp(-MINI_BATCH / TIME_CONSTANT)

_PARTS = {
    "views": "views",
    "surprise": "surprise",
    "reporter": "new_events",
    "reported_severity": "new_event_severity",
    "ongoing_severity": "ongoing_severity",
}
"""Names of parts in a saved state, and of the attributes that hold them."""


class RowAssessment(NamedTuple):
    """The assessment of rows, before the learner learns from them."""

    severity: Array  # (B,), of the new-event surprise: 1.0 opens an alarm
    ongoing: Array  # (B,), severity of the surprise, of a new event or not
    by_channel: Array  # (B, C), surprise of each channel
    warm_up: Array  # (B,), 0 to 1
    surprise: Array  # (B,), of the row
    by_view: Array  # (B, V, C), surprise


class Learner:
    """All that is learned of one series.

    Parameters
    ----------
    channels
        C.
    return_period
        Rows in which one false alarm is accepted.
    """

    def __init__(self, channels: int, return_period: float = RETURN_PERIOD) -> None:
        self.views = ChannelViews(channels)
        self.surprise = StreamSurprise(channels)
        self.new_events = NewEventFilter()
        self.new_event_severity = PeaksOverThreshold(return_period, channels)
        self.ongoing_severity = SurpriseDistribution(return_period)
        self._mini_batch = MiniBatch()
        # departures of the last rows, in the burn-in the rows, until they are marked
        self._latest: Departures | Array | None = None
        self._suppressed = 0
        # rows until the phases of cycles are found again; 0 if they are known
        self._align_in = 0
        self._is_prepared = False

    @property
    def rows(self) -> int:
        """Rows that were assessed so far."""
        return self.views.rows

    @property
    def room(self) -> int:
        """Rows that can be assessed in one call: the rest of the mini-batch."""
        return MINI_BATCH - self._mini_batch.count % MINI_BATCH

    @property
    def is_behind(self) -> bool:
        """Whether a whole mini-batch waits to be learned from."""
        return self._mini_batch.count == MINI_BATCH

    def assess(self, rows: Array, missing: NDArray[np.bool_] | None = None) -> RowAssessment:
        """Assess the next rows, (B, C), B at most ``room``; ``mark_normal`` must follow.

        ``missing`` says which values are only carried over a gap, (B, C): what is expected stands
        in for them.
        """
        assert len(rows) <= self.room
        self.prepare()
        is_burn_in, count = self.rows < BURN_IN, len(rows)
        standardised = self.views.add(rows, missing)
        warm_up = np.minimum(np.arange(self.rows - count + 1, self.rows + 1) / WARM_UP, 1)
        if is_burn_in:
            self._mini_batch.add(count)
            self._latest = rows
            none, channels = np.zeros(count), rows.shape[1]
            by_view = np.zeros((count, view_count(channels), channels))
            return RowAssessment(none, none, np.zeros(rows.shape), warm_up, none, by_view)
        departures = self.views.departures(standardised)
        has_moved = self.views.moments.has_moved
        by_view, by_channel, surprise = self.surprise.of(departures.by_view, has_moved, self.rows)
        surprise = surprise * warm_up
        new_event = self._new_event(surprise)
        arrays = departures._asdict() | {"reported": new_event, "surprise": surprise}
        self._mini_batch.add(count, **arrays)
        self._latest = departures
        return RowAssessment(
            self.new_event_severity.severity(new_event),
            self.ongoing_severity.severity(surprise),
            by_channel,
            warm_up,
            surprise,
            by_view,
        )

    def _new_event(self, surprise: Array) -> Array:
        """The new-event surprise, (B,); in suppressed rows, both surprises are set to 0."""
        # suppressed rows count as reported: what a gap leaves behind lasts longer than they do, and
        # must not be reported after them either
        new_event = self.new_events.filter(surprise)
        new_event[: self._suppressed] = surprise[: self._suppressed] = 0
        self._suppressed = max(self._suppressed - len(surprise), 0)
        return new_event

    def mark_normal(self, normal: NDArray[np.bool_]) -> ExpectedRange:
        """Mark which of the last rows are normal, (B,); return their expected range.

        It follows ``assess``, before anything else.
        """
        self.views.history.normal(len(normal))[:] = normal
        latest, self._latest = self._latest, None
        assert latest is not None
        if isinstance(latest, Departures):
            return self.views.expected_range(latest, normal)
        return ExpectedRange(latest, latest, latest)

    def learn(self) -> None:
        """Learn from the mini-batch that waits, if one does. Answers do not depend on when."""
        if not self.is_behind:
            return
        if self.rows > BURN_IN:
            self._learn_mini_batch()
        elif self.rows == BURN_IN:
            self.views.end_burn_in()
        self._mini_batch = MiniBatch()
        if self.rows >= BURN_IN:
            self._add_references(MINI_BATCH)
        self._align(MINI_BATCH)
        self._is_prepared = False

    def _align(self, rows: int) -> None:
        """Find the phases of cycles again once ``ALIGNED_ROWS`` have come after a gap."""
        if self._align_in:
            self._align_in = max(self._align_in - rows, 0)
            if not self._align_in:
                self.views.align(ALIGNED_ROWS)

    def _learn_mini_batch(self) -> None:
        arrays, normal = self._mini_batch.arrays(), self.views.history.normal(MINI_BATCH)
        departures = Departures(*(arrays[name] for name in Departures._fields))
        self.views.learn(departures, normal)
        self.surprise.learn(departures.by_view, normal, _FORGETTING)
        self.new_event_severity.learn(arrays["reported"], _FORGETTING)
        # of normal rows only: an event is over when rows are normal again
        self.ongoing_severity.learn(arrays["surprise"][normal], _FORGETTING)

    def prepare(self) -> None:
        """Learn, and fit all that the next row is assessed by: about half of the work."""
        self.learn()
        if self._is_prepared:
            return
        self.surprise.fit()
        self.ongoing_severity.fit()
        self.views.fit_if_due()
        self._is_prepared = True

    def _add_references(self, count: int) -> None:
        self.views.add_references(count, waiting=self._mini_batch.count)

    def learn_training_rows(self, rows: Array) -> None:
        """Learn from training rows, (T, C), as if all were normal."""
        done = 0
        while done < len(rows):
            some = slice(done, min(done + self.room, len(rows)))
            self.assess(rows[some])
            self.mark_normal(np.ones(some.stop - some.start, dtype=bool))
            done = some.stop

    def gap(self, rows: int | None) -> None:
        """Skip missing rows: cycles continue, and the first rows after are suppressed.

        ``rows`` is None if their number is unknown: the phases of cycles are then estimated again.
        """
        self.learn()
        if rows is None:
            # rows that are not learned from yet came before the gap
            self._align_in = ALIGNED_ROWS + self._mini_batch.count
            self._suppressed = SUPPRESSED_AT_START
        else:
            self.views.skip(rows)
            self._suppressed = SUPPRESSED_AFTER_GAP

    def accept(self, first: int, last: int) -> None:
        """Mark rows as normal: those from ``first`` to ``last`` rows ago, 1 is the latest.

        They are learned from as they are, and their windows become references.
        """
        self.learn()
        first = min(first, len(self.views.history))
        if self.rows < BURN_IN or first < last:
            return
        self.views.accept(first, last)
        self._is_prepared = False
        self._add_references(self.views.references.size)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays of bounded size; ``restore`` is the inverse."""
        parts = {part: getattr(self, name).state() for part, name in _PARTS.items()}
        parts["mini_batch"] = self._mini_batch.state()
        muted = np.array([self._suppressed, self._align_in], dtype=np.int64)
        return {"muted": muted, **join_names(parts)}

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]], return_period: float = RETURN_PERIOD) -> Self:
        """The inverse of ``state``, for the same ``return_period``."""
        parts = split_names(arrays)
        learner = cls(arrays["views/standardiser/center"].size, return_period)
        # streams that were saved before 0.3 have the first number alone
        learner._suppressed, learner._align_in = (*arrays["muted"].tolist(), 0)[:2]
        for part, name in _PARTS.items():
            getattr(learner, name).restore(parts[part])
        learner._mini_batch = MiniBatch.restore(parts["mini_batch"])
        if learner.rows >= BURN_IN:
            learner._add_references(learner.views.references.size)
        return learner
