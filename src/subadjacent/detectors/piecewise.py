"""Score rows that arrive in parts, without ever holding them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.kinds import MIN_STUCK_ROWS
from subadjacent.decision.silence import silent_rows
from subadjacent.detectors.assessment import check_scores
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.methods.method import Model
from subadjacent.methods.stream import ModelStream, missing_rows_before


def can_score_in_parts(detector: BaseDetector) -> bool:
    """Whether no score depends on all rows at once."""
    # the models of all entities are of one kind
    return detector.models_.pooled.reach.after is not None


class PiecewiseScorer:
    """Scores one series part by part; together the scores equal those of all rows at once.

    Rows wait until it is known whether a value missing in them is missing for long, and go through
    the model's stream then. `push` returns the evidence on rows that are final, in order, and
    `finish` that on the rest: scores alone, and nothing of channels.

    Parameters
    ----------
    detector
        Fitted; one that ``can_score_in_parts``.
    least
        Wait for this many new rows before scoring them. A few rows do not tell how fast
        their clock ticks.
    """

    def __init__(self, detector: BaseDetector, *, least: int = 1) -> None:
        if not can_score_in_parts(detector):
            raise InputError(
                f"detector must not need all rows at once to score in parts; got {detector}"
            )
        self._detector = detector
        # missing values are filled from earlier rows, and stuck ones are recognised by them
        self._behind = max(detector.fill_limit, MIN_STUCK_ROWS)
        self._least = least
        self._stream: ModelStream | None = None
        self._kept: Any = None  # the last rows; those before them tell gaps and the clock
        self._done = 0  # rows of those kept that the stream has
        self._seen = 0  # rows of those kept that were read already
        self._gone = 0  # rows that are no longer kept
        self._given = 0  # rows whose scores were given
        self._starts = {0}  # first rows of segments, of all rows so far
        # of every row that the stream has
        self._missing = np.zeros(0, dtype=bool)
        self._silent = np.zeros(0, dtype=bool)

    def push(self, frame: Any) -> Evidence:
        """Take the next rows (a frame); return the evidence that became final."""
        rows = frame if self._kept is None else _below(self._kept, frame)
        self._kept = rows
        if len(rows) - self._seen < self._least:
            return Evidence.of_scores(np.empty(0))
        series = self._read(rows)
        # only later rows tell whether a value missing in the last rows is missing for long
        settled = max(len(rows) - self._detector.fill_limit, series.segments[-1][0], self._done)
        fresh = self._score(series, settled)
        before, after, _ = self._detector.models_.of(series.entity).reach
        first = max(settled - max(before, after or 0) - self._behind, 0)
        self._kept, self._done, self._seen = rows[first:], settled - first, len(rows) - first
        self._gone += first
        return fresh

    def finish(self) -> Evidence:
        """Evidence on the rows that were still open."""
        if self._kept is None:
            return Evidence.of_scores(np.empty(0))
        series = self._read(self._kept)
        fresh = self._score(series, len(self._kept))
        assert self._stream is not None
        rest = self._checked(series, self._stream.finish())
        self._kept, self._done, self._seen, self._gone, self._given = None, 0, 0, 0, 0
        return joined_scores([fresh, rest])

    @property
    def waiting(self) -> Any:
        """The rows so far (a frame) as long as none of them were scored, else None."""
        return self._kept if self._stream is None else None

    @property
    def starts(self) -> list[int]:
        """First rows of the unbroken segments among all rows so far."""
        return sorted(self._starts)

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Whether a channel is missing for long or stuck, of every row that has a final score."""
        return self._silent

    def _score(self, series: TrainSeries, stop: int) -> Evidence:
        """Push the rows up to one into the stream; return the evidence that became final."""
        model = self._detector.models_.of(series.entity)
        if self._stream is None:
            self._stream = self._begin(model)
        # the first row that is kept lies within a segment
        self._starts.update(self._gone + start for start, _ in series.segments[1:])
        parts: list[Evidence] = []
        for first, last in series.segments if model.learns else series.parts:
            begin, end = max(first, self._done), min(last, stop)
            if begin >= end:
                continue
            is_new = begin == first and self._gone + first > 0
            if model.learns:
                stream: Any = self._stream
                if is_new:
                    stream.gap(missing_rows_before(series, first))
                missing = None if series.missing is None else series.missing[begin:end]
                parts.append(stream.push(series.values[begin:end], missing))
            else:
                if is_new:
                    parts.append(self._stream.finish())
                parts.append(self._stream.push(series.values[begin:end]))
        fresh = slice(self._done, stop)
        silent = silent_rows(series, self._detector.profiles_.of(series.entity))
        self._missing = _longer(self._missing, series.missing_rows, fresh)
        self._silent = _longer(self._silent, silent, fresh)
        return self._checked(series, joined_scores(parts))

    def _begin(self, model: Model) -> Any:
        """A stream; one that learns goes on over gaps."""
        if model.learns:
            options: dict[str, Any] = {"adapt_after": self._detector.adapt_after}
            return model.stream(**options)
        return model.stream(explained=False)

    def _checked(self, series: TrainSeries, evidence: Evidence) -> Evidence:
        """The evidence that follows, after refusing scores that are not finite."""
        every, scores = np.zeros(len(series)), evidence.score
        first = self._given - self._gone
        every[first : first + len(scores)] = scores
        check_scores(series, every)
        self._given += len(scores)
        return evidence

    def _read(self, rows: Any) -> TrainSeries:
        try:
            series = self._detector._read(rows).series[0]
        except InputError as error:
            if not self._gone or not error.came:
                raise
            got = f"{error.came} (rows counted from row {self._gone})"
            raise InputError.of(error.argument, error.rule, got, error.remedy) from error
        self._detector.seen_.warn_of_unseen_entities([series.entity])
        # rows that were missing for long when they were first read still are
        known = self._missing[self._gone : self._gone + self._done]
        if not known.any():
            return series
        missing = np.zeros(series.values.shape, bool) if series.missing is None else series.missing
        # the channel does not matter: segments begin where they did
        missing[: self._done] |= known[:, None]
        return replace(series, missing=missing)


def joined_scores(parts: Sequence[Evidence]) -> Evidence:
    """The evidence on rows that follow each other that a decision needs, and nothing else."""
    some = [part for part in parts if len(part.score)]
    scores = np.concatenate([np.empty(0), *(part.score for part in some)])
    known: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in some])
        for name in ("strongest", "log_period", "goes_on")
        if some and getattr(some[0], name) is not None
    }
    return Evidence.of_scores(scores)._replace(**known)


def _longer(
    known: NDArray[np.bool_], rows: NDArray[np.bool_] | None, fresh: slice
) -> NDArray[np.bool_]:
    """Append the flags of fresh rows to those of earlier ones; None: no fresh row is flagged."""
    added = np.zeros(fresh.stop, bool)[fresh] if rows is None else rows[fresh]
    return np.concatenate([known, added])


def _below(first: Any, second: Any) -> Any:
    import narwhals as nw

    frames = [nw.from_native(frame, eager_only=True) for frame in (first, second)]
    return nw.concat(frames, how="vertical").to_native()
