"""Adapter for scikit-learn's outlier detection: −1 is an outlier, low scores are abnormal.

Our detectors follow scikit-learn's API with PyOD's signs: 1 is an anomaly, high scores are
abnormal. This adapter is for code that expects an ``OutlierMixin``, such as a grid search or a
pipeline written for ``IsolationForest``.
"""

from __future__ import annotations

import hashlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from subadjacent.adapters.inner import (
    DetectorParameters,
    fit_inner,
    fresh,
    require_one_table,
    row_scores,
)
from subadjacent.errors import require_number


class SklearnOutlierDetector(DetectorParameters, OutlierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """One of our detectors with the interface of scikit-learn's outlier detectors.

    A row is an outlier if its own score is above the threshold. ``detector_.predict`` decides more:
    it joins rows into events, accepts a permanent change as normal, and flags missing channels.

    Training rows have cross-validated scores (``detector_.decision_scores_``), even when they are
    passed to ``predict`` again: the fitted model has memorised them, and a threshold from its
    in-sample scores would make outliers of most new rows.

    Parameters
    ----------
    detector : BaseDetector, optional
        One of our detectors; ``fit`` fits a copy of it. None: ``SubAdjacentDetector()``.
    contamination : "auto" or float
        Share of training rows that are outliers, as in scikit-learn. "auto": the detector's own
        threshold, which may find none.

    Attributes
    ----------
    detector_ : BaseDetector
        The fitted detector.
    offset_ : float
        The threshold, as a value of ``score_samples``.

    Examples
    --------
    >>> import numpy as np
    >>> from subadjacent.adapters.sklearn import SklearnOutlierDetector
    >>> rows = np.sin(np.arange(600) / 8)[:, None]
    >>> rows[500] = 9.0
    >>> outlier = SklearnOutlierDetector().fit(rows[:400])
    >>> int(outlier.score_samples(rows).argmin()), int(outlier.predict(rows)[500])
    (500, -1)
    """

    def __init__(self, detector: Any = None, contamination: Any = "auto") -> None:
        self.detector = detector
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 — scikit-learn passes it
        """Learn what is normal from rows (time, channels): an array or a frame."""
        auto = isinstance(self.contamination, str) and self.contamination == "auto"
        if not auto:
            require_number("contamination", self.contamination, above=0, most=0.5)
        self.detector_ = fit_inner(self.detector, X)
        if auto:
            self.offset_ = -float(self.detector_.threshold_)
        else:
            scores = -np.asarray(self.detector_.decision_scores_, dtype=np.float64)
            self.offset_ = float(np.percentile(scores, 100 * self.contamination))
        self._training_rows = _digest(X)
        self.n_features_in_ = self.detector_.n_features_in_
        if hasattr(self.detector_, "feature_names_in_"):
            self.feature_names_in_ = self.detector_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            # of an earlier fit
            del self.feature_names_in_
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """One score per row, low = abnormal."""
        check_is_fitted(self)
        if _digest(X) == self._training_rows:
            return -np.asarray(self.detector_.decision_scores_, dtype=np.float64)
        return -row_scores(self.detector_, X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """``score_samples`` minus ``offset_``: outliers are below zero."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """−1 for outliers, 1 for all other rows."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = fresh(self.detector).__sklearn_tags__().input_tags.allow_nan
        return tags


def _digest(X: Any) -> str:
    """A hash of a table's values."""
    require_one_table(X)
    try:
        rows = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # of the two zeros, one
    except (TypeError, ValueError):
        # a frame with a column of times or names
        rows = np.ascontiguousarray(np.asarray(X, dtype=object).astype(str))
    return f"{rows.shape} {hashlib.blake2b(rows.tobytes()).hexdigest()}"
