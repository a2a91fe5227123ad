"""Every detector by name."""

from __future__ import annotations

import os
from pathlib import Path

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.default import SubAdjacentDetector
from subadjacent.detectors.folder import read_kind
from subadjacent.detectors.rivals.anomaly_transformer import AnomalyTransformerDetector
from subadjacent.detectors.rivals.magnitude import MagnitudeDetector
from subadjacent.detectors.rivals.pca import PCADetector
from subadjacent.detectors.rivals.random import RandomDetector
from subadjacent.detectors.rivals.strict import StrictTransformerDetector
from subadjacent.detectors.rivals.sub_pca import SubPCADetector
from subadjacent.detectors.transformer import SubAdjacentTransformerDetector
from subadjacent.errors import ModelFileError

DETECTORS: dict[str, type[BaseDetector]] = {
    "SubAdjacentDetector": SubAdjacentDetector,
    "SubAdjacentTransformerDetector": SubAdjacentTransformerDetector,
    "StrictTransformerDetector": StrictTransformerDetector,
    "AnomalyTransformerDetector": AnomalyTransformerDetector,
    "SubPCADetector": SubPCADetector,
    "PCADetector": PCADetector,
    "MagnitudeDetector": MagnitudeDetector,
    "RandomDetector": RandomDetector,
}


def load(path: str | os.PathLike[str], *, device: str = "auto") -> BaseDetector:
    """Load whatever detector a model folder holds, onto any device."""
    kind = read_kind(Path(path))
    if kind not in DETECTORS:
        raise ModelFileError(f"{path} holds a {kind!r}; this version knows {', '.join(DETECTORS)}")
    return DETECTORS[kind].load(path, device=device)
