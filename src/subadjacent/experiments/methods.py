"""The detectors that tables compare, by the name of their file of results."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import DETECTORS
from subadjacent.errors import InputError
from subadjacent.experiments.run import Run

# name → the detector's class, and what is set whatever the run
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("SubAdjacentDetector", {}),
    "sub-adjacent": ("SubAdjacentDetector", {"recipe": "network", "size": "paper"}),
    "untrained": ("SubAdjacentDetector", {"recipe": "network", "size": "paper", "epochs": 0}),
    "band-ridge": ("BandRidgeDetector", {}),
    "anomaly-transformer": ("AnomalyTransformerDetector", {"size": "paper"}),
    "random": ("RandomDetector", {}),
    "magnitude": ("MagnitudeDetector", {}),
    "pca": ("PCADetector", {}),
    "sub-pca": ("SubPCADetector", {}),
}


def build(run: Run, device: str) -> BaseDetector:
    """The detector of a run under the clean protocol, ready to fit."""
    if run.detector not in METHODS:
        raise InputError(f"detector must be one of {', '.join(METHODS)}; got {run.detector!r}")
    kind, usual = METHODS[run.detector]
    known = DETECTORS[kind]().get_params(deep=False)
    if run.quick and "size" in known:
        usual = {"epochs": 1} | usual | {"size": "small", "stride": 40}
    arguments = usual | {name: value for name, value in run.settings if name != "train"}
    # a control has no use for some of these
    arguments |= {
        name: value
        for name, value in (("device", device), ("random_state", run.seed))
        if name in known
    }
    return DETECTORS[kind](**arguments)
