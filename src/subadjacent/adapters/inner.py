"""The detector inside an adapter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.default import SubAdjacentDetector
from subadjacent.errors import InputError


class DetectorParameters:
    """``set_params(detector__near=3)`` where ``detector`` is None: the parameter is the default's.

    For adapters whose parameters can be searched; it comes before the library's base class, which
    sets them.
    """

    detector: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the adapter, or with ``detector__`` those of the detector inside."""
        inside = any(name.startswith("detector__") for name in params)
        if inside and params.get("detector", self.detector) is None:
            # first: PyOD looks for the detector inside before it sets a new one
            self.detector = SubAdjacentDetector()
            params.pop("detector", None)
        changed: Self = super().set_params(**params)  # type: ignore[misc]  # the library's
        return changed


def fresh(detector: Any) -> BaseDetector:
    """An unfitted copy of the detector that an adapter was given; of None, the default."""
    if detector is None:
        return SubAdjacentDetector()
    if isinstance(detector, type):
        raise InputError.of(
            "detector",
            "must be a detector of subadjacent, or None for the default",
            f"got the class {detector.__name__}",
            f"make an instance of it: {detector.__name__}()",
        )
    if not isinstance(detector, BaseDetector):
        raise InputError.of(
            "detector",
            "must be a detector of subadjacent, or None for the default",
            f"got {type(detector).__name__}",
            "subadjacent.wrap takes those of PyOD and scikit-learn",
        )
    copy: BaseDetector = clone(detector)
    return copy


def fit_inner(detector: Any, X: Any) -> BaseDetector:
    """A fresh detector, fitted on one table of rows, as other libraries pass them."""
    require_one_table(X)
    return fresh(detector).fit(X)


def row_scores(detector: BaseDetector, X: Any) -> NDArray[np.float64]:
    """One score per row of a table, high = abnormal, always as an array."""
    require_one_table(X)
    return np.asarray(detector.decision_function(X), dtype=np.float64)


def require_one_table(X: Any) -> None:
    """Refuse several entities: no other library has a shape for their scores."""
    # one of scipy's sparse formats is a dict as well; scikit-learn has a message for them all
    by_name = isinstance(X, Mapping) and not issparse(X)
    by_place = isinstance(X, list | tuple) and any(len(getattr(x, "shape", ())) == 2 for x in X)
    if by_name or by_place:
        raise InputError.of(
            "X",
            "must be one series",
            f"got a {type(X).__name__} of several",
            "fit a detector of subadjacent itself on entities, or pass a frame with an item_id",
        )
