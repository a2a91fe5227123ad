"""What lasts: the distance of a row from the training rows, however long ago these were.

Views that look back only, frozen after the fit. Their score is held against scores of held-out
training rows: how rarely one of these is as high. A level that has lasted is followed, so that a
permanent shift is one event.

Shapes: B rows that come together.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.evidence import Evidence
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.recent_baseline import BLOCKS, RecentBaseline
from subadjacent.decision.severity import severity
from subadjacent.errors import require_number
from subadjacent.methods.method import Model, State, join_names, split_names
from subadjacent.methods.online.new_events import LOG_RETURN_PERIOD, RETURN_PERIOD, NewEventFilter
from subadjacent.methods.stream import joined

Array = NDArray[np.float64]

STEP = math.log(2)
"""An event that lasts is new again where it is twice as rare as it was. With ten and twenty times,
fewer anomalies of shape are found (reproduce/log.md, "Alarms that look back only")."""

LONG_GAP = 10
"""Rows of a gap after which a segment begins: as many as are filled by default."""


class LastingViews(NamedTuple):
    """Views of what lasts of one entity, and what normal scores of theirs are like.

    Parameters
    ----------
    views
        Look back only, and average nothing.
    unit
        The unit of their score.
    normal
        Statistics of their scores of held-out training rows.
    """

    views: Model
    unit: float
    normal: NormalScores

    def log_period(self, scores: Array) -> Array:
        """The natural logarithm of the rows in which one normal score is as high, (B,)."""
        level = max(self.normal.tail.level(1 / RETURN_PERIOD), self.normal.high)
        severities = severity(scores, level, self.normal)
        within = LOG_RETURN_PERIOD * np.minimum(np.maximum(severities, 0), 1)
        log_period: Array = within + math.log(10) * np.maximum(severities - 1, 0)
        return log_period

    def state(self) -> State:
        """The views, the unit and the statistics."""
        arrays, views = self.views.state()
        return State(arrays, {"views": views, "unit": self.unit, "normal": self.normal.to_dict()})

    @classmethod
    def of_facts(cls, views: Model, facts: dict[str, Any]) -> LastingViews:
        """The inverse of ``state``, given the restored views; refuses what does not fit."""
        require_number("unit", facts["unit"], above=0)
        return cls(views, facts["unit"], NormalScores.from_dict(facts["normal"]))


class LastingAssessment(NamedTuple):
    """How rows depart from the training rows."""

    evidence: Evidence
    log_period: Array  # (B,), of the departure at this row
    begins: Array  # (B,), the same where an event begins or has grown, else 0

    def part(self, rows: slice) -> LastingAssessment:
        """The assessment of some rows; ``evidence`` stays that of all rows."""
        return LastingAssessment(self.evidence, self.log_period[rows], self.begins[rows])


class LastingStream:
    """Assesses rows as they come.

    What stands in for a missing value tells nothing: its row is as all others are. After a long gap
    a segment begins, so that no row is compared with what stood in.
    """

    def __init__(
        self, lasting: LastingViews, adapt_after: int | None, state: State | None = None
    ) -> None:
        self._lasting, self._adapt_after = lasting, adapt_after
        normal = lasting.normal
        self._baseline = RecentBaseline(normal.typical, normal.high, adapt_after)
        self._new_events = NewEventFilter(STEP)
        # rows of the gap that goes on
        self._gap_rows = 0
        views = None
        if state is not None:
            arrays = split_names(state.arrays)
            views = State(arrays["views"], state.facts)
            self._baseline.restore(arrays["baseline"])
            self._new_events.restore(arrays["new_events"])
            self._gap_rows = int(arrays["gap"]["rows"][0])
        self._stream = lasting.views.stream(views, explained=True)

    def push(
        self, rows: NDArray[Any], missing: NDArray[np.bool_] | None = None
    ) -> LastingAssessment:
        """Take the next rows, (B, C), and which of their values are missing."""
        if missing is None and not self._gap_rows:
            return self._push(rows)
        in_gap = np.zeros(len(rows), dtype=bool)
        if missing is not None:
            in_gap[:] = missing.any(axis=1)
        edges = [0, *(np.flatnonzero(np.diff(in_gap)) + 1).tolist(), len(rows)]
        parts = []
        for first, last in pairwise(edges):
            if not in_gap[first]:
                if self._gap_rows > LONG_GAP:
                    self.gap()
                self._gap_rows = 0
                parts.append(self._push(rows[first:last]))
            else:
                self._gap_rows += last - first
                nothing = np.zeros(last - first)
                evidence = self._stream.push(rows[first:last])
                parts.append(LastingAssessment(evidence, nothing, nothing))
        evidences, *others = zip(*parts, strict=True)
        return LastingAssessment(joined(list(evidences)), *map(np.concatenate, others))

    def _push(self, rows: NDArray[Any]) -> LastingAssessment:
        evidence = self._stream.push(rows)
        scores = np.asarray(evidence.score, dtype=np.float64)
        lasting, baseline = self._lasting, self._baseline.push(scores)
        log_period = lasting.log_period(baseline.relative(scores, lasting.normal.typical))
        return LastingAssessment(evidence, log_period, self._new_events.filter(log_period))

    def gap(self) -> None:
        """Begin a new segment; the level that was followed stays."""
        self._stream = self._lasting.views.stream(explained=True)

    def accept(self, rows: int) -> None:
        """Follow the level of the last rows at once."""
        if self._adapt_after is None:
            return
        state = self._baseline.state()
        blocks = max(rows * BLOCKS // self._adapt_after, 1)
        level = np.median(state["medians"][-blocks:])
        self._baseline.restore(state | {"medians": np.full_like(state["medians"], level)})

    def state(self) -> State:
        """All that later rows depend on."""
        arrays, views = self._stream.state()
        parts = {
            "views": arrays,
            "baseline": self._baseline.state(),
            "new_events": self._new_events.state(),
            "gap": {"rows": np.array([self._gap_rows])},
        }
        return State(join_names(parts), views)
