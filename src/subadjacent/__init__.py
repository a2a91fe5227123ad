"""Anomaly detection in multivariate time series by sub-adjacent reconstruction."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from subadjacent.detectors.registry import REGISTRY

if TYPE_CHECKING:
    # the names that a type checker knows; all others are Any to it
    from subadjacent.adapters.wrapped import wrap as wrap
    from subadjacent.data.plant import multivariate as multivariate
    from subadjacent.data.series import TestSeries as TestSeries
    from subadjacent.data.series import TrainSeries as TrainSeries
    from subadjacent.decision.alarms import Alarm as Alarm
    from subadjacent.detectors.base import BaseDetector as BaseDetector
    from subadjacent.detectors.default import SubAdjacentDetector as SubAdjacentDetector
    from subadjacent.detectors.registry import create as create
    from subadjacent.detectors.registry import load as load
    from subadjacent.detectors.transformer import (
        SubAdjacentTransformerDetector as SubAdjacentTransformerDetector,
    )
    from subadjacent.streaming.answer import Answer as Answer
    from subadjacent.streaming.scorer import StreamScorer as StreamScorer

__version__ = "0.3.0"

# module → public names in it; beside them, every detector of the registry is public
_PUBLIC = {
    "adapters.wrapped": ("WrappedDetector", "wrap"),
    "data.plant": ("multivariate",),
    "data.series": ("TestSeries", "TrainSeries"),
    "detectors.base": ("BaseDetector",),
    "detectors.registry": ("create", "load"),
    "errors": ("DataNotFound", "InputError", "ModelFileError", "SubAdjacentError"),
    "runtime": ("Progress",),
    "decision.adaptive": ("AdaptiveConformal",),
    "decision.alarms": ("Alarm",),
    "decision.causes": ("Cause",),
    "decision.conformal": ("Conformal",),
    "decision.threshold": ("AlarmBudget", "DynamicLevel", "ExtremeValue", "Fixed", "Quantile"),
    "streaming.answer": ("Answer",),
    "streaming.scorer": ("StreamScorer",),
    "training.history": ("Epoch",),
}
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}
_HOMES |= {entry.class_name: entry.module for entry in REGISTRY.values()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    # on first use, so that importing the package is quick and does not import torch
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from subadjacent.errors import needs

    with needs(name):
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
