"""Score rows that come in parts, without ever holding them all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.neural import has_network
from subadjacent.detectors.ridge import BandRidgeDetector
from subadjacent.detectors.subadjacent import ADDED_UP, SubAdjacentDetector
from subadjacent.errors import InputError

# forms of the score that compare a row with rows to come, or with all rows at once
NEED_ALL_ROWS = ("released",)


class Grid(NamedTuple):
    """The windows that rows are scored by, and the rows around them that scores depend on."""

    window: int
    stride: int
    before: int
    after: int = 0


def grid_of(detector: BaseDetector) -> Grid | None:
    """How a detector's scores hang together; None where they may depend on all rows at once."""
    if has_network(detector):
        smoothing, dynamic = detector.setting("smoothing"), detector.setting("dynamic")
        stride = detector.scoring_stride or detector.window_
        if isinstance(detector, SubAdjacentDetector) and detector.recipe in ADDED_UP:
            reach = detector.combination_.views.reach(smoothing)
            return Grid(detector.window_, stride, before=reach, after=reach)
        if dynamic in NEED_ALL_ROWS or detector.block is not None:
            return None
        memory = detector.memory if dynamic != "none" else 0
        return Grid(detector.window_, stride, smoothing + memory)
    if isinstance(detector, SubAdjacentDetector):
        reach = detector.combination_.views.reach(detector.setting("smoothing"))
        return Grid(1, 1, before=reach, after=reach)
    if isinstance(detector, BandRidgeDetector):
        reach = detector.views_.reach(detector.smoothing)
        return Grid(1, 1, before=reach, after=0 if detector.causal else reach)
    models = getattr(detector, "models_", None)
    reaches = [model.reach for model in models] if models is not None else []
    ends = [reach.after for reach in reaches if reach.after is not None]
    if reaches and len(ends) == len(reaches):
        before = max(reach.before for reach in reaches)
        return Grid(1, max(reach.every for reach in reaches), before, max(ends))
    return None


class PiecewiseScorer:
    """Scores one series part by part; together the scores equal those of all rows at once.

    A part's last rows stay open until the window that they are scored by is full: `push`
    gives the scores of rows that are final, in order, and `finish` those of the rest. Only
    the rows that later ones still need are kept.

    Parameters
    ----------
    detector
        Fitted; one that ``grid_of`` has a grid for.
    least
        Wait for so many new rows before looking at them. A few rows do not tell how fast
        their clock ticks, or whether a value is missing for long.
    """

    def __init__(self, detector: BaseDetector, *, least: int = 1) -> None:
        grid = grid_of(detector)
        if grid is None:
            raise InputError(
                f"detector must score rows from those before them to score in parts; got {detector}"
            )
        self._detector = detector
        self._window, self._stride, before, self._after = grid
        # a missing value takes the one before it, which must be there too
        self._reach = self._window + before + self._after + detector.fill_limit + 1
        self._least = least
        self._kept: Any = None
        self._done = 0  # rows of what is kept whose scores were given already
        self._seen = 0  # rows of what is kept that were looked at already
        self._gone = 0  # rows that are no longer kept

    def push(self, frame: Any) -> NDArray[Any]:
        """Take the next rows (a frame); give the scores that became final."""
        rows = frame if self._kept is None else _below(self._kept, frame)
        self._kept = rows
        if len(rows) - self._seen < self._least:
            return np.empty(0)
        series, scores = self._look(rows)
        start, stop = series.stretches[-1]
        final = start + self._final(stop - start)
        fresh = scores[self._done : final]
        # on the grid of windows, so that it stays where it would be with all rows at once
        first = start + max(final - self._reach - start, 0) // self._stride * self._stride
        self._kept, self._done, self._seen = rows[first:], final - first, len(rows) - first
        self._gone += first
        return fresh

    def finish(self) -> NDArray[Any]:
        """Scores of the rows that were still open."""
        if self._kept is None:
            return np.empty(0)
        rest = self._look(self._kept)[1][self._done :]
        self._kept, self._done, self._seen, self._gone = None, 0, 0, 0
        return rest

    def _look(self, rows: Any) -> tuple[TrainSeries, NDArray[Any]]:
        try:
            series = self._detector._read(rows).series[0]
        except InputError as error:
            if not self._gone:
                raise
            raise InputError(f"{error} (rows counted from row {self._gone})") from error
        if hasattr(self._detector, "models_"):
            return series, next(self._detector._evidence([series])).score
        return series, self._detector._score([series])[0]

    def _final(self, rows: int) -> int:
        """How many of a stretch's first rows no later row can change."""
        if rows < self._window:
            return 0
        last_window = (rows - self._window) // self._stride * self._stride
        return max(last_window + self._stride - self._after, 0)


def _below(first: Any, second: Any) -> Any:
    import narwhals as nw

    parts = [nw.from_native(one, eager_only=True) for one in (first, second)]
    return nw.concat(parts, how="vertical").to_native()
