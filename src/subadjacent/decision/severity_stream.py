"""The severity of one entity's rows as evidence on them comes.

A row is held against normal rows by its score and by its strongest channel, relative to the recent
baseline of each. What averages spread over the rows around an event is left out.

Shapes: T rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from subadjacent.decision.baseline_profile import Rows
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.machine import EventChange, EventMachine
from subadjacent.decision.recent_baseline import BaselineShift, RecentBaseline
from subadjacent.decision.severity import SILENT_SEVERITY, as_severity, severity
from subadjacent.decision.trace_threshold import TraceThreshold

# an average spreads an event over the rows around it: a row belongs to the event if it has at least
# this share of the highest score, or of the strongest channel, around it. Scores are averages over
# rows; the strongest channel is the mean of three logarithms, two of them of averages over rows
MIN_CORE_SHARE, MIN_STRONG_SHARE = 0.5, 0.7
# rows to either side that the averages in the strongest channel take in
STRONG_BLUR = 20

ALL_ROWS = slice(None)

Flags = NDArray[np.bool_]


class RowEvents(NamedTuple):
    """How rare events are that begin at rows, and which rows keep one going; see ``Evidence``."""

    log_period: Rows
    goes_on: Flags

    @classmethod
    def of(cls, evidence: Evidence, rows: slice = ALL_ROWS) -> RowEvents | None:
        """That of some rows, where the evidence tells."""
        if evidence.log_period is None or evidence.goes_on is None:
            return None
        return cls(evidence.log_period[rows], evidence.goes_on[rows])


class RowSeverity(NamedTuple):
    """The severity of some rows, (T,) each."""

    severity: Rows
    by_score: Flags  # rows whose score belongs to an event
    by_channel: Flags  # rows with a channel that belongs to one: the strongest, or a silent one
    threshold: Rows  # of the score
    shift: Rows  # of the score's baseline
    shifted: Flags  # rows whose baseline has shifted, of the score or of the strongest channel
    unlike: Flags  # rows that are unlike the training rows, whatever the baseline is by now
    silent: Flags  # rows with a silent channel
    since: NDArray[np.int64]  # rows since a return to normal began, where it is known; else 0

    @property
    def is_high(self) -> Flags:
        """Rows that belong to an event."""
        return self.by_score | self.by_channel

    def push_to(self, machine: EventMachine) -> list[EventChange]:
        """Follow these rows with a machine."""
        return machine.push(self.severity, self.is_high, self.since, self.silent)

    def part(self, first: int, last: int) -> RowSeverity:
        """The severity of rows ``first`` to ``last``."""
        columns: list[Any] = [column[first:last] for column in self]
        return RowSeverity(*columns)

    @classmethod
    def joined(cls, parts: Sequence[RowSeverity]) -> RowSeverity:
        """The severity of rows that follow each other."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate(columns) for columns in zip(NO_ROWS, *parts, strict=True)))


NO_ROWS = RowSeverity(
    np.zeros(0),
    np.zeros(0, dtype=bool),
    np.zeros(0, dtype=bool),
    np.zeros(0),
    np.zeros(0),
    np.zeros(0, dtype=bool),
    np.zeros(0, dtype=bool),
    np.zeros(0, dtype=bool),
    np.zeros(0, dtype=np.int64),
)


class _Trace:
    """One trace of one entity: the level of severity 1, and the recent baseline."""

    def __init__(
        self, own: TraceThreshold, entity: str | None, adapt_after: int | None, *, is_score: bool
    ) -> None:
        self.normal, self.level = own.normal.of(entity), own.level(entity)
        # the strongest channel stands out in most rows: only an event that lasts is followed
        high = self.normal.high if is_score else self.level
        self.baseline = RecentBaseline(
            self.normal.typical,
            high,
            adapt_after,
            width=self.normal.high - self.normal.typical,
            only_shifted=not is_score,
        )

    def assess(
        self, values: Rows, level: float | Rows | None = None
    ) -> tuple[Rows, BaselineShift, Rows]:
        """Values above the baseline, the baseline, and severities."""
        baseline = self.baseline.push(values)
        above = baseline.relative(values, self.normal.typical)
        own_level = self.level if level is None else level
        return above, baseline, severity(above, own_level, self.normal)


class SeverityStream:
    """The severity of one entity's rows as evidence on them comes.

    Parameters
    ----------
    score, strongest
        Thresholds of the score and, where models tell it, of the strongest channel.
    entity
        Its name.
    adapt_after
        Rows after which a shifted baseline is the new normal; None: never.
    blur
        Rows by which averaging spreads an event to either side. Severities come as many rows late.
    levels
        Levels of the score, where they are known row by row, (T,).
    by_row
        Whether rows are counted, not events: then a row counts in which any channel stands out.
    period
        Rows in which one event is requested, where that was requested. Evidence that tells how
        rare an event is that begins at a row is decided by it then.
    """

    def __init__(
        self,
        score: TraceThreshold,
        strongest: TraceThreshold | None,
        entity: str | None,
        *,
        adapt_after: int | None,
        blur: int,
        levels: Rows | None = None,
        by_row: bool = False,
        period: float | None = None,
    ) -> None:
        self._by_row = by_row
        self._log_requested = None if period is None else float(np.log(max(period, 2.0)))
        self._blur, self._ahead, self._levels = blur, rows_until_settled(blur), levels
        self._score = _Trace(score, entity, adapt_after, is_score=True)
        self._strongest = None
        if strongest is not None:
            self._strongest = _Trace(strongest, entity, adapt_after, is_score=False)
        self._assessed = 0
        self._begin()

    def _begin(self) -> None:
        # scores and strongest channels above the baseline, and whether the latter are above their
        # level, (T, 3): of the rows that wait, and of those just before them
        self._around = np.zeros((0, 3))
        self._waiting = NO_ROWS

    def push(
        self,
        score: Rows,
        strongest: Rows | None = None,
        silent: Flags | None = None,
        event: RowEvents | None = None,
    ) -> RowSeverity:
        """The severity of the rows whose neighbours have come; the others wait."""
        if event is not None and self._log_requested is not None:
            return self._of_events(self._push(score, None), silent, event)
        if silent is None or not silent.any():
            return self._push(score, strongest)
        edges = [0, *(np.flatnonzero(np.diff(silent)) + 1).tolist(), len(silent)]
        parts = []
        for first, last in pairwise(edges):
            if silent[first]:
                parts += [self.finish(), self._silent(last - first)]
            else:
                own = None if strongest is None else strongest[first:last]
                parts.append(self._push(score[first:last], own))
        return RowSeverity.joined(parts)

    def _of_events(self, rows: RowSeverity, silent: Flags | None, event: RowEvents) -> RowSeverity:
        """The same rows, with severities by how rare the events are that begin at them."""
        assert self._log_requested is not None
        own = as_severity(event.log_period, self._log_requested)
        # what a learner has learned is no return to what was normal before
        since = np.zeros_like(rows.since)
        rows = rows._replace(severity=own, by_score=event.goes_on | (own >= 1), since=since)
        if silent is None or not silent.any():
            return rows
        return rows._replace(
            severity=np.where(silent, np.maximum(own, SILENT_SEVERITY), own),
            by_channel=silent,
            silent=silent,
        )

    def finish(self) -> RowSeverity:
        """The severity of the rows that wait; the next row begins a new segment."""
        rows = self._settle(len(self._waiting.severity))
        self._begin()
        return rows

    def state(self) -> dict[str, NDArray[Any]]:
        """All that later rows depend on, as arrays; ``restore`` is the inverse."""
        arrays = {f"waiting.{name}": column for name, column in self._waiting._asdict().items()}
        arrays["around"] = self._around
        for name, trace in (("score", self._score), ("strongest", self._strongest)):
            if trace is not None:
                arrays |= {f"{name}.{key}": a for key, a in trace.baseline.state().items()}
        # files of arrays know no yes and no
        return {
            name: array.astype(np.uint8) if array.dtype == np.bool_ else array
            for name, array in arrays.items()
        }

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """The inverse of ``state``, for the same decision."""
        columns: list[Any] = [
            arrays[f"waiting.{name}"].astype(empty.dtype)
            for name, empty in NO_ROWS._asdict().items()
        ]
        self._waiting, self._around = RowSeverity(*columns), arrays["around"]
        for name, trace in (("score", self._score), ("strongest", self._strongest)):
            if trace is not None:
                own = {key: arrays[f"{name}.{key}"] for key in trace.baseline.state()}
                trace.baseline.restore(own)

    def _push(self, score: Rows, strongest: Rows | None) -> RowSeverity:
        level: float | Rows = self._score.level
        if self._levels is not None:
            level = self._levels[self._assessed : self._assessed + len(score)]
        self._assessed += len(score)
        above, baseline, rows_severity = self._score.assess(score, level)
        # a series that comes back to normal is far from the baseline that it leaves
        back = severity(baseline.ended, level, self._score.normal)
        rows_severity = np.fmax(rows_severity, back)
        since = np.where(back >= 1, self._score.baseline.rows_until_back, 0)
        by_score, shifted = (above > level) | (back >= 1), baseline.shifted
        by_channel, unlike = np.zeros(len(score), dtype=bool), score > level
        strong = np.zeros(len(score))
        if self._strongest is not None and strongest is not None:
            strong, own_baseline, own_severity = self._strongest.assess(strongest)
            by_channel = strong > self._strongest.level
            unlike = unlike | (strongest > self._strongest.level)
            shifted = shifted | own_baseline.shifted
            rows_severity = np.maximum(rows_severity, own_severity)
        rows = RowSeverity(
            rows_severity,
            by_score,
            by_channel,
            baseline.absolute(level, self._score.normal.typical),
            baseline.shift,
            shifted,
            unlike,
            np.zeros(len(score), dtype=bool),
            since,
        )
        new = np.column_stack([above, strong, by_channel])
        self._around = np.concatenate([self._around, new])
        self._waiting = RowSeverity.joined([self._waiting, rows])
        return self._settle(max(len(self._waiting.severity) - self._ahead, 0))

    def _settle(self, count: int) -> RowSeverity:
        """Return the first waiting rows, less those onto which only averaging spread an event."""
        waiting = len(self._waiting.severity)
        rows = self._waiting.part(0, count)
        self._waiting = self._waiting.part(count, waiting)
        if self._blur and rows.is_high.any():
            here = slice(len(self._around) - waiting, len(self._around) - waiting + count)
            score, strong, is_strong = self._around.T
            reach = min(self._blur, STRONG_BLUR)
            by_channel = (is_strong > 0) & _core(strong, reach, MIN_STRONG_SHARE)
            # where a channel stands out, its rows are those of the event
            beside = maximum_filter1d(by_channel, 2 * self._blur + 1, mode="nearest")
            by_score = _core(score, self._blur, MIN_CORE_SHARE)
            if self._by_row:
                by_channel = is_strong > 0
            else:
                by_score &= ~beside
            by_score = by_score[here] | (rows.since > 0)
            rows = rows._replace(by_score=rows.by_score & by_score, by_channel=by_channel[here])
        self._around = self._around[max(len(self._around) - (waiting - count) - self._ahead, 0) :]
        return rows

    def _silent(self, count: int) -> RowSeverity:
        """Rows with a silent channel: part of an event, and no part of any baseline."""
        everywhere = np.ones(count, dtype=bool)
        level = self._score.level if self._levels is None else float(self._score.level)
        return RowSeverity(
            np.full(count, SILENT_SEVERITY),
            ~everywhere,
            everywhere,
            np.full(count, level),
            np.zeros(count),
            ~everywhere,
            ~everywhere,
            everywhere,
            np.zeros(count, dtype=np.int64),
        )


def rows_until_settled(blur: int) -> int:
    """Rows after a row that the decision on it depends on, where averages spread events so far."""
    return blur + min(blur, STRONG_BLUR)


def _core(values: Rows, reach: int, share: float) -> Flags:
    """Rows with at least a share of the highest value within ``reach`` rows."""
    highest = maximum_filter1d(values, 2 * reach + 1, mode="nearest")
    return np.asarray(values >= share * highest)
