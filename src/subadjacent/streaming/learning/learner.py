"""Judges the rows of one series by what it learned from the rows before.

A row is judged in four steps: how far it departs from normal (``views``), how improbable that is
(``surprise``), whether it is reported (``reporting``), and how severe that is (``peaks``).

Rows are judged as they come, but the learner learns after every mini-batch, so that rows one by one
and many at once get the same answers. The last row of a mini-batch is answered before the learner
learns: whoever has time calls ``learn``, else it is done before the next row is judged. Rows of an
alarm are not learned from, except in how rare a departure is.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.mini_batch import MINI_BATCH, MiniBatch
from subadjacent.streaming.learning.peaks import PeaksOverThreshold
from subadjacent.streaming.learning.reporting import SurpriseReporter
from subadjacent.streaming.learning.surprise import TIME_CONSTANT, StreamSurprise
from subadjacent.streaming.learning.surprise_distribution import SurpriseDistribution
from subadjacent.streaming.learning.usual_range import UsualRange
from subadjacent.streaming.learning.views import BURN_IN, ChannelViews, Departures
from subadjacent.streaming.nested import join_names, split_names

Array = NDArray[np.float64]

WARM_UP = 200
"""Rows of the warm-up; until its end surprise is reduced in proportion to the rows."""

MUTED_AFTER_GAP = 16
"""Rows after a gap that report nothing: their expectations are from rows before the gap."""

RETURN_PERIOD = 5_000
"""Rows in which one false alarm is accepted, where no budget was asked for."""

_FORGETTING = math.exp(-MINI_BATCH / TIME_CONSTANT)

_PARTS = ("views", "surprise", "reporter", "reported_severity", "ongoing_severity")
"""Attributes with a state of their own."""


class LiveJudgement(NamedTuple):
    """What the learner says of rows, before it learns from them."""

    severity: Array  # (B,), of the reported surprise: 1.0 opens an alarm
    ongoing: Array  # (B,), severity of the surprise whether it is reported or not
    by_channel: Array  # (B, C), surprise of each channel
    warm_up: Array  # (B,), 0 to 1


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
        self.reporter = SurpriseReporter()
        self.reported_severity = PeaksOverThreshold(return_period, channels)
        self.ongoing_severity = SurpriseDistribution(return_period)
        self._mini_batch = MiniBatch()
        # departures of the rows judged last, in the burn-in the rows, until they are marked
        self._latest: Departures | Array | None = None
        self._muted = 0
        self._is_prepared = False

    @property
    def rows(self) -> int:
        """Rows that were judged so far."""
        return self.views.rows

    @property
    def room(self) -> int:
        """Rows that can be judged in one call: the rest of the mini-batch."""
        return MINI_BATCH - self._mini_batch.count % MINI_BATCH

    @property
    def is_behind(self) -> bool:
        """Whether a whole mini-batch waits to be learned from."""
        return self._mini_batch.count == MINI_BATCH

    def judge(
        self, rows: Array, scores: Array | None = None, missing: NDArray[np.bool_] | None = None
    ) -> LiveJudgement:
        """Judge the next rows, (B, C), B at most ``room``; ``mark_calm`` must follow.

        ``scores`` are those of a fitted model, (B,), where there is one. ``missing`` says which
        values are only carried over a gap, (B, C): what is expected stands in for them.
        """
        assert len(rows) <= self.room
        self.prepare()
        is_burn_in, count = self.rows < BURN_IN, len(rows)
        standardised = self.views.add(rows, missing)
        warm_up = np.minimum(np.arange(self.rows - count + 1, self.rows + 1) / WARM_UP, 1)
        if is_burn_in:
            self._mini_batch.add(count)
            self._latest = rows
            return LiveJudgement(np.zeros(count), np.zeros(count), np.zeros(rows.shape), warm_up)
        departures = self.views.departures(standardised)
        has_moved = self.views.moments.has_moved
        by_channel, surprise = self.surprise.of(departures.by_view, scores, has_moved, self.rows)
        surprise *= warm_up
        reported = self._report(surprise)
        arrays = departures._asdict() | {"reported": reported, "surprise": surprise}
        if scores is not None:
            arrays["scores"] = scores
        self._mini_batch.add(count, **arrays)
        self._latest = departures
        return LiveJudgement(
            self.reported_severity.severity(reported),
            self.ongoing_severity.severity(surprise),
            by_channel,
            warm_up,
        )

    def _report(self, surprise: Array) -> Array:
        """The surprise that is reported, (B,); in rows that are muted, both are set to 0."""
        # muted rows count as reported: what a gap leaves behind lasts longer than they do, and
        # shall not be reported after them either
        reported = self.reporter.report(surprise)
        reported[: self._muted] = surprise[: self._muted] = 0
        self._muted = max(self._muted - len(surprise), 0)
        return reported

    def mark_calm(self, calm: NDArray[np.bool_]) -> UsualRange:
        """Say which of the rows judged last were calm, (B,); what is usual of them.

        It follows ``judge``, before anything else.
        """
        self.views.history.calm(len(calm))[:] = calm
        latest, self._latest = self._latest, None
        assert latest is not None
        if isinstance(latest, Departures):
            return self.views.usual_range(latest, calm)
        return UsualRange(latest, latest, latest)

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
        self._is_prepared = False

    def _learn_mini_batch(self) -> None:
        arrays, calm = self._mini_batch.arrays(), self.views.history.calm(MINI_BATCH)
        departures = Departures(*(arrays[name] for name in Departures._fields))
        self.views.learn(departures, calm)
        self.surprise.learn(departures.by_view, arrays.get("scores"), calm, _FORGETTING)
        self.reported_severity.learn(arrays["reported"], _FORGETTING)
        # of calm rows only: an event is over when rows are again as in calm times
        self.ongoing_severity.learn(arrays["surprise"][calm], _FORGETTING)

    def prepare(self) -> None:
        """Learn, and fit all that the next row is judged by: about half of the work."""
        self.learn()
        if self._is_prepared:
            return
        self.surprise.fit()
        self.ongoing_severity.fit()
        self.views.fit_if_due()
        self._is_prepared = True

    def _add_references(self, count: int) -> None:
        self.views.add_references(count, waiting=self._mini_batch.count)

    def learn_training_rows(self, rows: Array, scores: Array | None = None) -> None:
        """Learn from rows, (T, C), as if all were calm, without an answer."""
        done = 0
        while done < len(rows):
            some = slice(done, min(done + self.room, len(rows)))
            self.judge(rows[some], None if scores is None else scores[some])
            self.mark_calm(np.ones(some.stop - some.start, dtype=bool))
            done = some.stop

    def gap(self, rows: int) -> None:
        """Skip so many missing rows: cycles go on, and the first rows after are muted."""
        self.learn()
        self.views.skip(rows)
        self._muted = MUTED_AFTER_GAP

    def accept(self, first: int, last: int) -> None:
        """Take rows for normal: those from ``first`` to ``last`` rows ago, 1 is the latest.

        They are learned from as they are, and their windows are references from now on.
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
        parts = {part: getattr(self, part).state() for part in _PARTS}
        parts["mini_batch"] = self._mini_batch.state()
        return {"muted": np.array([self._muted], dtype=np.int64), **join_names(parts)}

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]], return_period: float = RETURN_PERIOD) -> Self:
        """The inverse of ``state``, for the same ``return_period``."""
        parts = split_names(arrays)
        learner = cls(arrays["views/standardiser/center"].size, return_period)
        learner._muted = int(arrays["muted"][0])
        for part in _PARTS:
            getattr(learner, part).restore(parts[part])
        learner._mini_batch = MiniBatch.restore(parts["mini_batch"])
        if learner.rows >= BURN_IN:
            learner._add_references(learner.views.references.size)
        return learner
