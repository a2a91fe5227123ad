"""PyOD's form: ``decision_scores_``, ``threshold_`` and ``labels_`` by a share of outliers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from subadjacent.adapters.inner import DetectorParameters, fit_inner, fresh, row_scores
from subadjacent.errors import InputError, needs

with needs("subadjacent.adapters.pyod"):
    from pyod.models.base import BaseDetector as PyODBase


class PyODDetector(DetectorParameters, PyODBase):  # type: ignore[misc]  # PyOD is untyped
    """One of our detectors with PyOD's interface, for PyOD's ensembles and tools.

    ``predict``, ``predict_proba``, ``predict_confidence`` and ``predict_with_rejection`` are
    inherited from PyOD, and so is the threshold: ``contamination`` is the share of training rows
    above it.

    Parameters
    ----------
    detector : BaseDetector, optional
        One of our detectors; ``fit`` fits a copy of it. None: ``SubAdjacentDetector()``.
    contamination : float or threshold object
        As everywhere in PyOD. ``detector_`` has its own threshold, set by its own
        ``contamination``.

    Attributes
    ----------
    detector_ : BaseDetector
        The fitted detector: its ``alarms``, its own threshold, ``explain``.
    decision_scores_, threshold_, labels_
        Of the training rows, as in PyOD.
    """

    def __init__(self, detector: Any = None, contamination: Any = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what is normal from rows (time, channels); PyOD warns if there are labels."""
        if isinstance(self.contamination, str):
            raise InputError.of(
                "contamination",
                "must be a share of training rows, as in PyOD, or a threshold object",
                f"got {self.contamination!r}",
                "our own thresholds are for the detector inside, "
                f"SubAdjacentDetector(contamination={self.contamination!r})",
            )
        # an array, whatever it came as: PyOD counts the classes
        self._set_n_classes(None if y is None else np.asarray(y))
        self.detector_ = fit_inner(self.detector, X)
        self.n_features_in_ = self.detector_.n_features_in_
        self.decision_scores_ = self.detector_.decision_scores_
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """One score per row, high = abnormal."""
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        return row_scores(self.detector_, X)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = fresh(self.detector).__sklearn_tags__().input_tags.allow_nan
        return tags
