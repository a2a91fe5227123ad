"""The detectors that tables compare; names are those of their files of results."""

from __future__ import annotations

from typing import Any

from reproduce.datasets import DATA_SETTINGS
from reproduce.run import Run
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import REGISTRY, create
from subadjacent.errors import InputError

# the paper's network under the clean protocol: its error, smoothed, without the terms of Eq. 6
# and 7, which find less there (docs/decisions.md)
NETWORK: dict[str, Any] = {
    "size": "paper",
    "stride": "auto",
    "temperature": 0.0,
    "smoothing": 20,
    "dynamic": "none",
}
# name → name in the registry, and settings of all its runs
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("default", {}),
    "sub-adjacent": ("sub-adjacent-transformer", NETWORK),
    "untrained": ("sub-adjacent-transformer", NETWORK | {"epochs": 0}),
    "anomaly-transformer": ("anomaly-transformer", {"size": "paper"}),
    "random": ("random", {}),
    "magnitude": ("magnitude", {}),
    "pca": ("pca", {}),
    "sub-pca": ("sub-pca", {}),
}
# systems of other papers, and what people would take instead, each with its own defaults
RIVALS = tuple(
    name
    for name, entry in REGISTRY.items()
    if entry.module.startswith(("rivals.", "adapters.")) and name not in METHODS
)
METHODS |= {name: (name, {}) for name in RIVALS}


def build(run: Run, device: str) -> BaseDetector:
    """The detector of a run under the clean protocol, ready to fit."""
    if run.detector not in METHODS:
        raise InputError(f"detector must be one of {', '.join(METHODS)}; got {run.detector!r}")
    name, arguments = METHODS[run.detector]
    known = create(name).get_params(deep=False)
    if run.quick and "size" in known:
        arguments = {"epochs": 1} | arguments | {"size": "tiny", "stride": 40}
    chosen = {key: value for key, value in run.settings if key not in DATA_SETTINGS}
    # a new dictionary: the settings of all runs stay as they are
    arguments = arguments | chosen
    # controls have no device, some of them no seed
    arguments |= {
        key: value
        for key, value in (("device", device), ("random_state", run.seed))
        if key in known
    }
    return create(name, **arguments)
