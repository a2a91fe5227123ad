"""The network: windows in, reconstruction and contribution out."""

from subadjacent.model.config import SIZES, ModelConfig
from subadjacent.model.transformer import Reconstruction, SubAdjacentTransformer

__all__ = ["SIZES", "ModelConfig", "Reconstruction", "SubAdjacentTransformer"]
