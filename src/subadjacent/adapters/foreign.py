"""Detectors of PyOD and scikit-learn: recognised by class, with one sign of score.

PyOD's scores are high where rows are abnormal, those of scikit-learn are low. Neither library is
imported to tell: an object of theirs can only come in once they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_outlier_detector

from subadjacent.errors import InputError

Rows = NDArray[np.float64]

PYOD, SKLEARN = "PyOD", "scikit-learn"


def library_of(detector: Any) -> str:
    """The library that a detector keeps the conventions of; any other object is refused.

    Of a scikit-learn pipeline the last step decides.
    """
    last = (
        detector.steps[-1][1] if _inherits(detector, "sklearn.pipeline", "Pipeline") else detector
    )
    if any(kind.__module__.startswith("subadjacent.") for kind in type(last).__mro__):
        raise InputError.of(
            "detector",
            "must be of another library",
            f"got {type(last).__name__}, which is ours",
            "use it as it is, or the detector inside the adapter",
        )
    if _inherits(last, "pyod.models.base", "BaseDetector"):
        return PYOD
    if (
        not isinstance(last, type)
        and hasattr(last, "__sklearn_tags__")
        and is_outlier_detector(last)
    ):
        _require_scores_of_new_rows(detector)
        return SKLEARN
    raise InputError.of(
        "detector",
        "must be a detector of PyOD (BaseDetector) or of outliers in scikit-learn (OutlierMixin)",
        f"got {detector!r}" if isinstance(detector, type) else f"got {type(detector).__name__}",
        "make an instance of it" if isinstance(detector, type) else "",
    )


def _inherits(thing: Any, module: str, name: str) -> bool:
    kinds = type(thing).__mro__
    return any(kind.__name__ == name and kind.__module__ == module for kind in kinds)


def _require_scores_of_new_rows(detector: Any) -> None:
    if not (hasattr(detector, "score_samples") or hasattr(detector, "decision_function")):
        raise InputError.of(
            "detector",
            "must score rows that it was not fitted on",
            f"got {type(detector).__name__} without score_samples and decision_function",
            "LocalOutlierFactor has them with novelty=True",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Foreign:
    """A fitted detector of another library, whose scores are high where rows are abnormal."""

    detector: Any
    library: str

    @classmethod
    def fit(cls, template: Any, rows: Rows, seed: int) -> Foreign:
        """Fit a copy of an unfitted detector; errors that it raises are passed on.

        The seed stands for every ``random_state`` that is None.
        """
        detector = clone(template)
        unseeded = [
            name
            for name, value in detector.get_params().items()
            if name.rpartition("__")[2] == "random_state" and value is None
        ]
        detector.set_params(**dict.fromkeys(unseeded, seed))
        try:
            detector.fit(rows)
        except ValueError as error:
            raise _refused(detector, "be fitted on", rows, error) from error
        return cls(detector, library_of(detector))

    def score(self, rows: Rows) -> Rows:
        """One score a row, high = abnormal, finite."""
        try:
            scores = np.asarray(self._signed(rows), dtype=np.float64)
        except ValueError as error:
            raise _refused(self.detector, "score", rows, error) from error
        if scores.shape != (len(rows),) or not np.isfinite(scores).all():
            wrong = f"shape {scores.shape}"
            if scores.shape == (len(rows),):
                wrong = f"{scores[~np.isfinite(scores)][0]} among them"
            name = type(self.detector).__name__
            raise InputError.of(
                "detector", "must give one finite score a row", f"got {wrong} from {name}"
            )
        return scores

    def _signed(self, rows: Rows) -> Any:
        if self.library == PYOD:
            return self.detector.decision_function(rows)
        if hasattr(self.detector, "score_samples"):
            return -np.asarray(self.detector.score_samples(rows))
        return -np.asarray(self.detector.decision_function(rows))


def _refused(detector: Any, what: str, rows: Rows, error: ValueError) -> InputError:
    name, (count, width) = type(detector).__name__, rows.shape
    return InputError.of(
        "detector", f"must {what} {count:,} rows of {width} values", f"{name} says: {error}"
    )
