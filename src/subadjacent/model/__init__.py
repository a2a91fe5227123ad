"""The networks: windows in, reconstruction and contribution out."""

from subadjacent.model.anomaly_transformer import AnomalyTransformer
from subadjacent.model.config import SIZES, ModelConfig
from subadjacent.model.network import Network, Objective, Reconstruction
from subadjacent.model.strict import StrictTransformer
from subadjacent.model.transformer import SubAdjacentTransformer

__all__ = [
    "SIZES",
    "AnomalyTransformer",
    "ModelConfig",
    "Network",
    "Objective",
    "Reconstruction",
    "StrictTransformer",
    "SubAdjacentTransformer",
]
