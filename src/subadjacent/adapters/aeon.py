"""Adapter for aeon: takes a series, returns one score per point."""

from __future__ import annotations

import logging
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.adapters.inner import DetectorParameters, fit_inner, row_scores
from subadjacent.errors import InputError, needs

with needs("subadjacent.adapters.aeon"):
    from aeon.anomaly_detection.series.base import BaseSeriesAnomalyDetector

log = logging.getLogger(__name__)

OUTPUTS = {"scores": "anomaly_scores", "alarms": "binary"}
"""What ``predict`` gives, and aeon's name for it."""


class AeonDetector(DetectorParameters, BaseSeriesAnomalyDetector):  # type: ignore[misc]  # aeon is untyped
    """One of our detectors with the interface of aeon's series anomaly detectors.

    With aeon's default, ``axis=1``, each row of ``X`` is a channel. With ``axis=0``, in ``fit`` and
    ``predict``, each row is a point in time.

    Parameters
    ----------
    detector : BaseDetector, optional
        One of our detectors; ``fit`` fits a copy of it. None: ``SubAdjacentDetector()``.
    output : "scores" or "alarms"
        What ``predict`` returns for each point: its score, high = abnormal; or 1 if it belongs to
        an alarm of the detector, else 0.

    Attributes
    ----------
    detector_ : BaseDetector
        The fitted detector.
    """

    _tags: ClassVar[dict[str, Any]] = {
        "anomaly_output_type": "anomaly_scores",
        "capability:multivariate": True,
        "capability:univariate": True,
        "capability:missing_values": True,
        "fit_is_empty": False,
        # one series that is mostly normal will do, and a normal one before it is better
        "learning_type:unsupervised": True,
        "learning_type:semi_supervised": True,
        "requires_y": False,
        "X_inner_type": "np.ndarray",
    }

    def __init__(self, detector: Any = None, output: str = "scores") -> None:
        self.detector = detector
        self.output = output
        super().__init__(axis=0)
        self._tell_output()

    def _tell_output(self) -> None:
        """Set aeon's tag for the output of ``predict``; refuse an unknown output."""
        if self.output not in OUTPUTS:
            raise InputError.of(
                "output", f"must be one of {', '.join(OUTPUTS)}", f"got {self.output!r}"
            )
        self.set_tags(anomaly_output_type=OUTPUTS[self.output])

    def _fit(self, X: NDArray[Any], y: Any = None) -> Self:  # noqa: ARG002 — aeon passes labels
        # set_params may have changed it
        self._tell_output()
        points, channels = X.shape
        if channels > points:
            log.warning(
                "fit got %d channels of %d points: where rows of X are points in time, "
                "pass axis=0 to fit and predict",
                channels,
                points,
            )
        self.detector_ = fit_inner(self.detector, X)
        return self

    def _predict(self, X: NDArray[Any]) -> NDArray[Any]:
        if self.output == "alarms":
            return np.asarray(self.detector_.predict(X))
        return row_scores(self.detector_, X)

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        return [{"output": output} for output in OUTPUTS]
