"""Score rows that come in parts, without ever holding them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.subadjacent import SubAdjacentDetector
from subadjacent.errors import InputError

# forms of the score that compare a row with rows to come, or with all rows at once
NEED_ALL_ROWS = ("released",)


class PiecewiseScorer:
    """Scores one series part by part; together the scores equal those of all rows at once.

    A part's last rows stay open until the window that they are scored by is full: `push`
    gives the scores of rows that are final, in order, and `finish` those of the rest. Only
    the rows that later ones still need are kept.
    """

    def __init__(self, detector: SubAdjacentDetector) -> None:
        if detector.dynamic in NEED_ALL_ROWS or detector.block is not None:
            raise InputError(
                f"detector must score rows from those before them to score in parts; "
                f"got dynamic={detector.dynamic!r}, block={detector.block}"
            )
        self._detector = detector
        self._window = detector.window_
        self._stride = detector.scoring_stride or detector.window_
        memory = detector.memory if detector.dynamic != "none" else 0
        self._reach = detector.window_ + detector.smoothing + memory
        self._kept: Any = None
        self._done = 0  # rows of what is kept whose scores were given already

    def push(self, frame: Any) -> NDArray[Any]:
        """Take the next rows (a frame); give the scores that became final."""
        rows = frame if self._kept is None else _below(self._kept, frame)
        series = self._detector._read(rows).series[0]
        scores = self._detector._score([series])[0]
        start, stop = series.stretches[-1]
        final = start + self._final(stop - start)
        fresh = scores[self._done : final]
        # on the grid of windows, so that it stays where it would be with all rows at once
        first = start + max(final - self._reach - start, 0) // self._stride * self._stride
        self._kept, self._done = rows[first:], final - first
        return fresh

    def finish(self) -> NDArray[Any]:
        """Scores of the rows that were still open."""
        if self._kept is None:
            return np.empty(0)
        series = self._detector._read(self._kept).series[0]
        rest = self._detector._score([series])[0][self._done :]
        self._kept, self._done = None, 0
        return rest

    def _final(self, rows: int) -> int:
        """How many of a stretch's first rows no later row can change."""
        if rows < self._window:
            return 0
        last_window = (rows - self._window) // self._stride * self._stride
        return last_window + self._stride


def _below(first: Any, second: Any) -> Any:
    import narwhals as nw

    parts = [nw.from_native(one, eager_only=True) for one in (first, second)]
    return nw.concat(parts, how="vertical").to_native()
