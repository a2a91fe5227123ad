"""Rows of many series as they come: every row to its own series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from subadjacent.detectors.base import BaseDetector
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.series import SeriesStream


class StreamScorer:
    """Scores rows as they come, of one series or of many.

    Parameters
    ----------
    detector
        A fitted detector, or None to learn from the rows alone.
    """

    def __init__(self, detector: BaseDetector | None = None) -> None:
        self._detector = detector
        self._series: dict[str | None, SeriesStream] = {}

    def score_one(
        self, row: Mapping[str, Any] | Sequence[float], time: Any = None, entity: str | None = None
    ) -> list[Answer]:
        """What can be said now: of this row, and of earlier ones whose look-ahead has come."""
        values = list(row.values()) if isinstance(row, Mapping) else list(row)
        names = list(row) if isinstance(row, Mapping) else [str(n) for n in range(len(values))]
        series = self._series.setdefault(entity, SeriesStream(names, self._detector, entity))
        return series.push(np.array([values], dtype=float), None if time is None else [time])

    def score_many(
        self, rows: Any, times: Sequence[Any] | None = None, entity: str | None = None
    ) -> list[Answer]:
        """The same of rows that follow each other."""
        return [
            answer
            for number, row in enumerate(rows)
            for answer in self.score_one(row, None if times is None else times[number], entity)
        ]
