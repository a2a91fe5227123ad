"""Every detector by name."""

from __future__ import annotations

import os
from pathlib import Path

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.baselines.anomaly_transformer import AnomalyTransformerDetector
from subadjacent.detectors.folder import read_kind
from subadjacent.detectors.old_base import BaseDetector as OldDetector
from subadjacent.detectors.persist import read_kind as read_old_kind
from subadjacent.detectors.ridge import BandRidgeDetector
from subadjacent.detectors.rivals.magnitude import MagnitudeDetector
from subadjacent.detectors.rivals.pca import PCADetector
from subadjacent.detectors.rivals.random import RandomDetector
from subadjacent.detectors.rivals.sub_pca import SubPCADetector
from subadjacent.detectors.subadjacent import SubAdjacentDetector
from subadjacent.errors import ModelFileError

DETECTORS: dict[str, type[BaseDetector]] = {
    "SubAdjacentDetector": SubAdjacentDetector,
    "BandRidgeDetector": BandRidgeDetector,
    "AnomalyTransformerDetector": AnomalyTransformerDetector,
    "SubPCADetector": SubPCADetector,
    "PCADetector": PCADetector,
    "MagnitudeDetector": MagnitudeDetector,
    "RandomDetector": RandomDetector,
}


def load(path: str | os.PathLike[str], *, device: str = "auto") -> BaseDetector:
    """Load whatever detector a model folder holds, onto any device."""
    kind = _kind(Path(path))
    if kind not in DETECTORS:
        raise ModelFileError(f"{path} holds a {kind!r}; this version knows {', '.join(DETECTORS)}")
    return DETECTORS[kind].load(path, device=device)


def _kind(path: Path) -> str:
    try:
        return read_kind(path)
    except ModelFileError:
        # detectors that are still on the old base write schema 1
        kind = read_old_kind(path)
        if not issubclass(DETECTORS.get(kind, OldDetector), OldDetector):
            raise
        return kind
