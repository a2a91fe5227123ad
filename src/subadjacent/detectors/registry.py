"""Every detector by name. A detector is imported when it is looked up: only networks need torch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.folder import read_kind
from subadjacent.errors import ModelFileError
from subadjacent.exchange import read_steady
from subadjacent.runtime import needs_torch

# name of the class → its module in this folder
MODULES = {
    "SubAdjacentDetector": "default",
    "SubAdjacentTransformerDetector": "transformer",
    "StrictTransformerDetector": "rivals.strict",
    "AnomalyTransformerDetector": "rivals.anomaly_transformer",
    "USADDetector": "rivals.usad",
    "GDNDetector": "rivals.gdn",
    "MTADGATDetector": "rivals.mtad_gat",
    "MSCREDDetector": "rivals.mscred",
    "NPSRDetector": "rivals.npsr",
    "GTADetector": "rivals.gta",
    "SubPCADetector": "rivals.sub_pca",
    "PCADetector": "rivals.pca",
    "MagnitudeDetector": "rivals.magnitude",
    "RandomDetector": "rivals.random",
}


class _Detectors(Mapping[str, type[BaseDetector]]):
    """The classes of ``MODULES``, in its order."""

    def __getitem__(self, name: str) -> type[BaseDetector]:
        with needs_torch(name):
            module = import_module(f"subadjacent.detectors.{MODULES[name]}")
        detector: type[BaseDetector] = getattr(module, name)
        return detector

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


DETECTORS: Mapping[str, type[BaseDetector]] = _Detectors()


def load(path: str | os.PathLike[str], *, device: str = "auto") -> BaseDetector:
    """Load whatever detector a model folder holds, onto any device."""

    def load_any(folder: Path) -> BaseDetector:
        kind = read_kind(folder)
        if kind not in MODULES:
            raise ModelFileError(
                f"{path} holds a {kind!r}; this version knows {', '.join(MODULES)}"
            )
        return DETECTORS[kind].load(folder, device=device)

    # another kind may take its place between the two
    return read_steady(Path(path), load_any)
