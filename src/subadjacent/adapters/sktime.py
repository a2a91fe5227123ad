"""Adapter for sktime: positions of anomalous rows, and scores with the index of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.adapters.inner import DetectorParameters, fit_inner, row_scores
from subadjacent.errors import needs

with needs("subadjacent.adapters.sktime"):
    from sktime.detection.base import BaseDetector as SktimeBase

if TYPE_CHECKING:
    import pandas as pd


class SktimeDetector(DetectorParameters, SktimeBase):  # type: ignore[misc]  # sktime is untyped
    """One of our detectors with the interface of sktime's anomaly detectors.

    ``predict`` returns the positions (``ilocs``) of the rows that belong to alarms, ``transform`` 0
    or 1 per row, ``transform_scores`` the score of every row, high = abnormal, and
    ``predict_scores`` the scores of the anomalous rows. ``update`` fits again on all rows so far.

    Parameters
    ----------
    detector : BaseDetector, optional
        One of our detectors; ``fit`` fits a copy of it. None: ``SubAdjacentDetector()``.

    Attributes
    ----------
    detector_ : BaseDetector
        The fitted detector.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from subadjacent.adapters.sktime import SktimeDetector
    >>> rows = pd.DataFrame({"wave": np.sin(np.arange(600) / 8)})
    >>> detector = SktimeDetector().fit(rows[:400])
    >>> rows.loc[500, "wave"] = 9.0
    >>> 500 in detector.predict(rows)["ilocs"].to_list()
    True
    """

    _tags: ClassVar[dict[str, Any]] = {
        "task": "anomaly_detection",
        "learning_type": "unsupervised",
        "capability:multivariate": True,
        "capability:missing_values": True,
        "capability:update": True,
        "X_inner_mtype": "pd.DataFrame",
        "fit_is_empty": False,
        "authors": ["subadjacent"],
        "maintainers": ["subadjacent"],
    }

    def __init__(self, detector: Any = None) -> None:
        self.detector = detector
        super().__init__()

    def _fit(self, X: pd.DataFrame, y: Any = None) -> Self:  # noqa: ARG002 — sktime passes events
        self.detector_ = fit_inner(self.detector, _with_dates(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> pd.DataFrame:
        """Fit, then return 0 or 1 per row; sktime's own fails with an index of dates."""
        labels: pd.DataFrame = self.fit(X, y).transform(X)
        return labels

    def _predict(self, X: pd.DataFrame) -> pd.Series:
        import pandas as pd

        return pd.Series(self._anomalous(X), dtype="int64")

    def _transform_scores(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        scores = row_scores(self.detector_, _with_dates(X))
        return pd.DataFrame({"scores": scores}, index=X.index)

    def _predict_scores(self, X: pd.DataFrame) -> pd.Series:
        import pandas as pd

        scores = row_scores(self.detector_, _with_dates(X))
        return pd.Series(scores[self._anomalous(X)], name="scores")

    def _anomalous(self, X: pd.DataFrame) -> NDArray[np.intp]:
        return np.flatnonzero(np.asarray(self.detector_.predict(_with_dates(X))))

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Parameters of the detectors that sktime's checks create."""
        from subadjacent.rivals.pca import PCADetector

        return [{}, {"detector": PCADetector()}]


def _with_dates(X: pd.DataFrame) -> pd.DataFrame:
    """The rows with dates for an index of periods, which has no clock that we read."""
    import pandas as pd

    return X.to_timestamp() if isinstance(X.index, pd.PeriodIndex) else X
