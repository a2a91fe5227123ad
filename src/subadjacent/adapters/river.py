"""Adapter for river: ``score_one`` scores a row, ``learn_one`` learns it.

Our stream does both in one step. To score a row without learning it, the adapter keeps two streams:
one has learned all rows that ``learn_one`` was given, the other is one row ahead. While rows are
scored and then learned, as river does it, both take every row once. After a row that was scored but
not learned, the second stream is copied from the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError, needs
from subadjacent.streaming.scorer import StreamScorer

with needs("subadjacent.adapters.river"):
    from river import base


class RiverDetector(base.AnomalyDetector):  # type: ignore[misc]  # for environments without it
    """Our stream with the interface of river's anomaly detectors.

    A score is a severity: 1 opens an alarm, 0 is typical. ``anomaly.ThresholdFilter(detector,
    threshold=1)`` classifies rows by it. The channels are those of the detector, or of the first
    row. A feature that is absent later is a missing value; a feature that first appears later is
    ignored.

    Parameters
    ----------
    detector : BaseDetector, optional
        One of our detectors, fitted, to start from. None: learn from the rows alone.

    Examples
    --------
    >>> import math
    >>> from subadjacent.adapters.river import RiverDetector
    >>> detector = RiverDetector()
    >>> for minute in range(300):
    ...     detector.learn_one({"wave": math.sin(minute / 8), "saw": minute % 7})
    >>> typical = detector.score_one({"wave": math.sin(300 / 8), "saw": 300 % 7})
    >>> typical < 1 < detector.score_one({"wave": 9.0, "saw": 300 % 7})
    True
    """

    def __init__(self, detector: Any = None) -> None:
        if detector is not None and not isinstance(detector, BaseDetector):
            raise InputError.of(
                "detector",
                "must be a fitted detector of subadjacent, or None to learn from rows alone",
                f"got {type(detector).__name__}",
            )
        self.detector = detector
        self._learned = StreamScorer(detector)
        self._ahead: StreamScorer | None = None
        self._asked: dict[Any, Any] | None = None
        self._severity = 0.0

    @property
    def alarms(self) -> Any:
        """Alarms of the learned rows, open and closed, with their reasons."""
        return self._learned.alarms

    def score_one(self, x: Mapping[Any, Any]) -> float:
        """The severity of this row if it came next; 1 would open an alarm."""
        row = _dict(x)
        if self._asked != row:
            if self._ahead is None or self._asked is not None:
                self._ahead = self._learned.copy()
            self._severity = _severity(self._ahead, row)
            self._asked = row
        return self._severity

    def learn_one(self, x: Mapping[Any, Any]) -> None:
        """Learn from the row."""
        row = _dict(x)
        _severity(self._learned, row)
        if self._asked != row:
            # the stream ahead took another row, or none
            self._ahead = None
        self._asked = None


def _dict(x: Any) -> dict[Any, Any]:
    if not isinstance(x, Mapping):
        raise InputError.of(
            "x",
            "must be one row, a dict from features to values",
            f"got {type(x).__name__}",
            "river.stream.iter_array and iter_pandas make dicts of rows",
        )
    return dict(x)


def _severity(scorer: StreamScorer, row: dict[Any, Any]) -> float:
    # in order of names: river's rows have none, and channels of a stream do
    named: dict[str, Any] = dict(sorted((str(name), value) for name, value in row.items()))
    known = scorer.series[None].channels if scorer.series else scorer.channels or named
    if not any(name in known for name in named):
        # river's rows may have other features now and then: nothing is known of this one
        named = dict.fromkeys(known)
    return float(scorer.score_one(named)[0].severity)
