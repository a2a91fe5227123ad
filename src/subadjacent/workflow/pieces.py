"""Score rows that come in pieces, without ever holding them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.scoring.evidence import Reach


def scores_in_pieces(detector: BaseDetector) -> bool:
    """Whether no score of a fitted detector depends on the whole stretch that a row is in."""
    return all(model.reach.after is not None for model in detector.models_)


class PieceScorer:
    """Scores one series piece by piece; together the scores equal those of all rows at once.

    `push` gives the scores that no later row can change, in order, and `finish` the rest. Only
    the rows that later ones still depend on are kept.

    Parameters
    ----------
    detector
        Fitted; ``scores_in_pieces`` must hold.
    least
        Wait for so many new rows before assessing them. A few rows do not tell how fast
        their clock ticks, or whether a value is missing for long.
    """

    def __init__(self, detector: BaseDetector, *, least: int = 1) -> None:
        if not scores_in_pieces(detector):
            raise InputError(
                f"detector must score a row by a limited number of rows around it to score in "
                f"pieces; got {detector}"
            )
        self._detector = detector
        self._least = least
        self._kept: Any = None
        self._scored = 0  # kept rows whose scores were given already
        self._assessed = 0  # kept rows that were assessed already
        self._dropped = 0  # rows that are no longer kept

    def push(self, frame: Any) -> NDArray[Any]:
        """Take the next rows (a frame); give the scores that became final."""
        rows = frame if self._kept is None else _below(self._kept, frame)
        self._kept = rows
        if len(rows) - self._assessed < self._least:
            return np.empty(0)
        assessment = self._assess(rows)
        series, reach = assessment.series[0], self._reach(assessment)
        start, stop = series.stretches[-1]
        # every stretch but the last is whole
        final = max(stop - (reach.after or 0), start)
        scores = assessment.evidence[0].score[self._scored : final]
        # a missing value takes the one before it, which must be there too
        needed = reach.before + self._detector.fill_limit + 1
        # windows must lie where they would with all rows at once
        first = start + max(final - needed - start, 0) // reach.every * reach.every
        self._kept = rows[first:]
        self._scored, self._assessed = max(final, self._scored) - first, len(rows) - first
        self._dropped += first
        return scores

    def finish(self) -> NDArray[Any]:
        """Scores of the rows that a later one could still have changed."""
        if self._kept is None:
            return np.empty(0)
        rest = self._assess(self._kept).evidence[0].score[self._scored :]
        self._kept, self._scored, self._assessed, self._dropped = None, 0, 0, 0
        return rest

    def _assess(self, rows: Any) -> Assessment:
        try:
            return self._detector.assess(rows)
        except InputError as error:
            if not self._dropped or not error.came:
                raise
            came = f"{error.came} (rows counted from row {self._dropped})"
            raise InputError.of(error.argument, error.rule, came, error.remedy) from error

    def _reach(self, assessment: Assessment) -> Reach:
        return self._detector.models_.of(assessment.series[0].entity).reach


def _below(first: Any, second: Any) -> Any:
    import narwhals as nw

    pieces = [nw.from_native(piece, eager_only=True) for piece in (first, second)]
    return nw.concat(pieces, how="vertical").to_native()
