"""Score rows that arrive in parts, without ever holding them all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.detectors.assessment import check_scores
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.seen import SeenInput
from subadjacent.errors import InputError
from subadjacent.methods.stream import ModelStream
from subadjacent.scoring.kinds import MIN_STUCK_ROWS
from subadjacent.scoring.silence import silent_rows


def can_score_in_parts(detector: BaseDetector) -> bool:
    """Whether no score depends on all rows at once."""
    # the models of all entities are of one kind
    return detector.models_.pooled.reach.after is not None


class PiecewiseScorer:
    """Scores one series part by part; together the scores equal those of all rows at once.

    Rows wait until it is known whether a value missing in them is missing for long, and go through
    the model's stream then. `push` returns the scores of rows that are final, in order, and
    `finish` those of the rest.

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

    def push(self, frame: Any) -> NDArray[Any]:
        """Take the next rows (a frame); return the scores that became final."""
        rows = frame if self._kept is None else _below(self._kept, frame)
        self._kept = rows
        if len(rows) - self._seen < self._least:
            return np.empty(0)
        series = self._read(rows)
        # only later rows tell whether a value missing in the last rows is missing for long
        settled = max(len(rows) - self._detector.fill_limit, series.segments[-1][0], self._done)
        fresh = self._score(series, settled)
        before, after, _ = self._detector.models_.of(series.entity).reach
        first = max(settled - max(before, after or 0) - self._behind, 0)
        self._kept, self._done, self._seen = rows[first:], settled - first, len(rows) - first
        self._gone += first
        return fresh

    def finish(self) -> NDArray[Any]:
        """Scores of the rows that were still open."""
        if self._kept is None:
            return np.empty(0)
        series = self._read(self._kept)
        fresh = self._score(series, len(self._kept))
        assert self._stream is not None
        rest = self._checked(series, self._stream.finish().score)
        self._kept, self._done, self._seen, self._gone, self._given = None, 0, 0, 0, 0
        return np.concatenate([fresh, rest])

    @property
    def starts(self) -> list[int]:
        """First rows of the unbroken segments among all rows so far."""
        return sorted(self._starts)

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Whether a channel is missing for long or stuck, of every row that has a final score."""
        return self._silent

    def _score(self, series: TrainSeries, stop: int) -> NDArray[Any]:
        """Push the rows up to one into the stream; return the scores that became final."""
        model = self._detector.models_.of(series.entity)
        if self._stream is None:
            self._stream = model.stream(explained=False)
        # the first row that is kept lies within a segment
        self._starts.update(self._gone + start for start, _ in series.segments[1:])
        scores = [np.empty(0)]
        for first, last in series.parts:
            begin, end = max(first, self._done), min(last, stop)
            if begin < end:
                if begin == first and self._gone + first:
                    scores.append(self._stream.finish().score)
                scores.append(self._stream.push(series.values[begin:end]).score)
        fresh = slice(self._done, stop)
        silent = silent_rows(series, self._detector.habits_.of(series.entity))
        self._missing = _longer(self._missing, series.missing_rows, fresh)
        self._silent = _longer(self._silent, silent, fresh)
        return self._checked(series, np.concatenate(scores))

    def _checked(self, series: TrainSeries, scores: NDArray[Any]) -> NDArray[Any]:
        """The scores that follow those given, after refusing what is not finite."""
        every = np.zeros(len(series))
        first = self._given - self._gone
        every[first : first + len(scores)] = scores
        check_scores(series, every)
        self._given += len(scores)
        return scores

    def _read(self, rows: Any) -> TrainSeries:
        try:
            series = self._detector._read(rows).series[0]
        except InputError as error:
            if not self._gone or not error.came:
                raise
            got = f"{error.came} (rows counted from row {self._gone})"
            raise InputError.of(error.argument, error.rule, got, error.remedy) from error
        SeenInput.by(self._detector).warn_of_unseen_entities([series])
        # rows that were missing for long when they were first read still are
        known = self._missing[self._gone : self._gone + self._done]
        if not known.any():
            return series
        missing = np.zeros(series.values.shape, bool) if series.missing is None else series.missing
        # the channel does not matter: segments begin where they did
        missing[: self._done] |= known[:, None]
        return replace(series, missing=missing)


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
