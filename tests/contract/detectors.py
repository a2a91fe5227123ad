"""Every detector of the registry, quick enough for tests."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import REGISTRY, create, detector_class
from subadjacent.rivals.base import RivalDetector

# the default, the paper's, a control, a neural rival and another library's
FIVE = ("default", "sub-adjacent-transformer", "magnitude", "usad", "iforest")
# detectors that score a row by itself
ROW_BY_ROW = ("pca", "magnitude", "knn", "lof", "iforest")
WRAPPED = tuple(name for name, entry in REGISTRY.items() if entry.library)


def quick(name: str, **parameters: Any) -> BaseDetector:
    """A detector that is soon fitted; parameters that it does not have are left out."""
    rival = issubclass(detector_class(name), RivalDetector)
    # some tests have few rows: fewer neighbours than usual
    cheap = {
        "epochs": 2,
        "size": "tiny" if rival else "small",
        "detector__n_estimators": 10,
        "detector__n_neighbors": 3,
    }
    known, wanted = create(name).get_params(), cheap | parameters
    return create(name, **{key: value for key, value in wanted.items() if key in known})
