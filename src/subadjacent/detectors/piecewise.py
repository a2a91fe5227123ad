"""Score rows that arrive in parts, without ever holding them all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.scoring.evidence import Reach
from subadjacent.scoring.kinds import MIN_STUCK_ROWS
from subadjacent.scoring.silence import silent_rows


def reach_of(detector: BaseDetector) -> Reach:
    """The rows around a row that any model of a detector looks at."""
    reaches = [model.reach for model in detector.models_]
    ahead = [reach.after for reach in reaches]
    known = [after for after in ahead if after is not None]
    return Reach(
        max(reach.before for reach in reaches),
        max(known) if len(known) == len(ahead) else None,
        reaches[0].every,
    )


def can_score_in_parts(detector: BaseDetector) -> bool:
    """Whether no score depends on all rows at once."""
    return reach_of(detector).after is not None


class PiecewiseScorer:
    """Scores one series part by part; together the scores equal those of all rows at once.

    A part's last rows stay open until the rows that their scores depend on have come: `push`
    gives the scores of rows that are final, in order, and `finish` those of the rest. Only
    the rows that later ones still need are kept.

    Parameters
    ----------
    detector
        Fitted; one that ``can_score_in_parts``.
    least
        Wait for this many new rows before scoring them. A few rows do not tell how fast
        their clock ticks.
    reach
        The result of ``reach_of``, where it is known: with many entities it takes a while.
    """

    def __init__(
        self, detector: BaseDetector, *, least: int = 1, reach: Reach | None = None
    ) -> None:
        before, after, self._every = reach_of(detector) if reach is None else reach
        if after is None:
            raise InputError(
                f"detector must not need all rows at once to score in parts; got {detector}"
            )
        self._detector = detector
        self._after = after
        # missing values are filled from rows before, and stuck ones are told by rows before:
        # they must be there too
        self._behind = max(detector.fill_limit, MIN_STUCK_ROWS)
        self._before = before + self._behind
        self._least = least
        self._kept: Any = None
        self._done = 0  # rows of what is kept whose scores were given already
        self._seen = 0  # rows of what is kept that were looked at already
        self._gone = 0  # rows that are no longer kept
        self._starts = {0}  # first rows of segments, of all rows so far
        # of every row whose score was given
        self._missing = np.zeros(0, dtype=bool)
        self._silent = np.zeros(0, dtype=bool)

    def push(self, frame: Any) -> NDArray[Any]:
        """Take the next rows (a frame); give the scores that became final."""
        rows = frame if self._kept is None else _below(self._kept, frame)
        self._kept = rows
        if len(rows) - self._seen < self._least:
            return np.empty(0)
        series, scores = self._look(rows)
        start = series.segments[-1][0]
        # only later rows tell whether a value missing in the last rows is missing for long
        settled = max(len(rows) - self._detector.fill_limit, start)
        begin = max(first for first, _ in series.parts if first < settled or first == start)
        # no later row can change these
        final = max(settled - self._after, begin)
        fresh = self._give(series, scores, final)
        # at a multiple, so that windows stand as they would with all rows at once
        first = begin + max(final - self._before - begin, 0) // self._every * self._every
        if first == begin:
            # the first rows of a part may be compared with those of the part before it
            first = max(begin - self._behind, 0)
        self._kept, self._done, self._seen = rows[first:], final - first, len(rows) - first
        self._gone += first
        return fresh

    def finish(self) -> NDArray[Any]:
        """Scores of the rows that were still open."""
        if self._kept is None:
            return np.empty(0)
        rest = self._give(*self._look(self._kept), len(self._kept))
        self._kept, self._done, self._seen, self._gone = None, 0, 0, 0
        return rest

    @property
    def starts(self) -> list[int]:
        """First rows of the unbroken segments among all rows so far."""
        return sorted(self._starts)

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Whether a channel is missing for long or stuck, of every row whose score was given."""
        return self._silent

    def _give(self, series: TrainSeries, scores: NDArray[Any], final: int) -> NDArray[Any]:
        """New scores up to a row; keeps what else the decision on these rows needs."""
        # what is kept begins within a segment
        self._starts.update(self._gone + start for start, _ in series.segments[1:])
        fresh = slice(self._done, final)
        silent = silent_rows(series, self._detector.habits_.of(series.entity))
        self._missing = _longer(self._missing, series.missing_rows, fresh)
        self._silent = _longer(self._silent, silent, fresh)
        return scores[fresh]

    def _look(self, rows: Any) -> tuple[TrainSeries, NDArray[Any]]:
        try:
            series = self._detector._read(rows).series[0]
        except InputError as error:
            if not self._gone or not error.came:
                raise
            got = f"{error.came} (rows counted from row {self._gone})"
            raise InputError.of(error.argument, error.rule, got, error.remedy) from error
        series = self._with_known(series)
        return series, next(self._detector._evidence([series])).score

    def _with_known(self, series: TrainSeries) -> TrainSeries:
        """The series, with rows marked as missing that were missing for long when first judged."""
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
