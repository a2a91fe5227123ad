"""Anomaly detection in multivariate time series by sub-adjacent reconstruction."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subadjacent.adapters.wrapped import WrappedDetector, wrap
    from subadjacent.data.plant import multivariate
    from subadjacent.data.series import TestSeries, TrainSeries
    from subadjacent.data.synthetic import neurips_ts
    from subadjacent.detectors.base import BaseDetector
    from subadjacent.detectors.default import SubAdjacentDetector
    from subadjacent.detectors.hybrid import SubAdjacentHybridDetector
    from subadjacent.detectors.registry import load
    from subadjacent.detectors.rivals.anomaly_transformer import AnomalyTransformerDetector
    from subadjacent.detectors.rivals.dagmm import DAGMMDetector
    from subadjacent.detectors.rivals.ecod import ECODDetector
    from subadjacent.detectors.rivals.gdn import GDNDetector
    from subadjacent.detectors.rivals.gta import GTADetector
    from subadjacent.detectors.rivals.iforest import IsolationForestDetector
    from subadjacent.detectors.rivals.knn import KNNDetector
    from subadjacent.detectors.rivals.linear import LinearForecastDetector
    from subadjacent.detectors.rivals.lof import LOFDetector
    from subadjacent.detectors.rivals.lstm import LSTMDetector
    from subadjacent.detectors.rivals.lstm_vae import LSTMVAEDetector
    from subadjacent.detectors.rivals.mad_gan import MADGANDetector
    from subadjacent.detectors.rivals.magnitude import MagnitudeDetector
    from subadjacent.detectors.rivals.matrix_profile import MatrixProfileDetector
    from subadjacent.detectors.rivals.mscred import MSCREDDetector
    from subadjacent.detectors.rivals.mtad_gat import MTADGATDetector
    from subadjacent.detectors.rivals.npsr import NPSRDetector
    from subadjacent.detectors.rivals.omni_anomaly import OmniAnomalyDetector
    from subadjacent.detectors.rivals.pca import PCADetector
    from subadjacent.detectors.rivals.random import RandomDetector
    from subadjacent.detectors.rivals.strict import StrictTransformerDetector
    from subadjacent.detectors.rivals.sub_pca import SubPCADetector
    from subadjacent.detectors.rivals.thoc import THOCDetector
    from subadjacent.detectors.rivals.timesnet import TimesNetDetector
    from subadjacent.detectors.rivals.tranad import TranADDetector
    from subadjacent.detectors.rivals.uae import UAEDetector
    from subadjacent.detectors.rivals.usad import USADDetector
    from subadjacent.detectors.transformer import SubAdjacentTransformerDetector
    from subadjacent.errors import DataNotFound, InputError, ModelFileError, SubAdjacentError
    from subadjacent.runtime import Progress
    from subadjacent.scoring.adaptive import AdaptiveConformal
    from subadjacent.scoring.alarms import Alarm
    from subadjacent.scoring.causes import Cause
    from subadjacent.scoring.conformal import Conformal
    from subadjacent.scoring.threshold import (
        AlarmBudget,
        DynamicLevel,
        ExtremeValue,
        Fixed,
        Quantile,
    )
    from subadjacent.streaming.alarms import LiveAlarm
    from subadjacent.streaming.answer import Answer
    from subadjacent.streaming.scorer import StreamScorer
    from subadjacent.training.history import Epoch

__version__ = "0.2.0"

# public name → the module it lives in; loaded on first use, so that importing the package
# is quick and does not import torch
_HOMES = {
    "AdaptiveConformal": "scoring.adaptive",
    "Alarm": "scoring.alarms",
    "AlarmBudget": "scoring.threshold",
    "AnomalyTransformerDetector": "detectors.rivals.anomaly_transformer",
    "Answer": "streaming.answer",
    "BaseDetector": "detectors.base",
    "Cause": "scoring.causes",
    "Conformal": "scoring.conformal",
    "DAGMMDetector": "detectors.rivals.dagmm",
    "DataNotFound": "errors",
    "DynamicLevel": "scoring.threshold",
    "ECODDetector": "detectors.rivals.ecod",
    "Epoch": "training.history",
    "ExtremeValue": "scoring.threshold",
    "Fixed": "scoring.threshold",
    "GDNDetector": "detectors.rivals.gdn",
    "GTADetector": "detectors.rivals.gta",
    "InputError": "errors",
    "IsolationForestDetector": "detectors.rivals.iforest",
    "KNNDetector": "detectors.rivals.knn",
    "LOFDetector": "detectors.rivals.lof",
    "LSTMDetector": "detectors.rivals.lstm",
    "LSTMVAEDetector": "detectors.rivals.lstm_vae",
    "LinearForecastDetector": "detectors.rivals.linear",
    "LiveAlarm": "streaming.alarms",
    "MADGANDetector": "detectors.rivals.mad_gan",
    "MSCREDDetector": "detectors.rivals.mscred",
    "MTADGATDetector": "detectors.rivals.mtad_gat",
    "MagnitudeDetector": "detectors.rivals.magnitude",
    "MatrixProfileDetector": "detectors.rivals.matrix_profile",
    "ModelFileError": "errors",
    "NPSRDetector": "detectors.rivals.npsr",
    "OmniAnomalyDetector": "detectors.rivals.omni_anomaly",
    "PCADetector": "detectors.rivals.pca",
    "Progress": "runtime",
    "Quantile": "scoring.threshold",
    "RandomDetector": "detectors.rivals.random",
    "StreamScorer": "streaming.scorer",
    "StrictTransformerDetector": "detectors.rivals.strict",
    "SubAdjacentDetector": "detectors.default",
    "SubAdjacentHybridDetector": "detectors.hybrid",
    "SubAdjacentTransformerDetector": "detectors.transformer",
    "SubPCADetector": "detectors.rivals.sub_pca",
    "SubAdjacentError": "errors",
    "THOCDetector": "detectors.rivals.thoc",
    "TestSeries": "data.series",
    "TimesNetDetector": "detectors.rivals.timesnet",
    "TrainSeries": "data.series",
    "TranADDetector": "detectors.rivals.tranad",
    "UAEDetector": "detectors.rivals.uae",
    "USADDetector": "detectors.rivals.usad",
    "WrappedDetector": "adapters.wrapped",
    "load": "detectors.registry",
    "multivariate": "data.plant",
    "neurips_ts": "data.synthetic",
    "wrap": "adapters.wrapped",
}

__all__ = [
    "AdaptiveConformal",
    "Alarm",
    "AlarmBudget",
    "AnomalyTransformerDetector",
    "Answer",
    "BaseDetector",
    "Cause",
    "Conformal",
    "DAGMMDetector",
    "DataNotFound",
    "DynamicLevel",
    "ECODDetector",
    "Epoch",
    "ExtremeValue",
    "Fixed",
    "GDNDetector",
    "GTADetector",
    "InputError",
    "IsolationForestDetector",
    "KNNDetector",
    "LOFDetector",
    "LSTMDetector",
    "LSTMVAEDetector",
    "LinearForecastDetector",
    "LiveAlarm",
    "MADGANDetector",
    "MSCREDDetector",
    "MTADGATDetector",
    "MagnitudeDetector",
    "MatrixProfileDetector",
    "ModelFileError",
    "NPSRDetector",
    "OmniAnomalyDetector",
    "PCADetector",
    "Progress",
    "Quantile",
    "RandomDetector",
    "StreamScorer",
    "StrictTransformerDetector",
    "SubAdjacentDetector",
    "SubAdjacentError",
    "SubAdjacentHybridDetector",
    "SubAdjacentTransformerDetector",
    "SubPCADetector",
    "THOCDetector",
    "TestSeries",
    "TimesNetDetector",
    "TrainSeries",
    "TranADDetector",
    "UAEDetector",
    "USADDetector",
    "WrappedDetector",
    "load",
    "multivariate",
    "neurips_ts",
    "wrap",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        from subadjacent.runtime import needs_torch

        with needs_torch(name):
            raise error


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
