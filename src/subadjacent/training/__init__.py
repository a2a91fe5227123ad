"""From windows to weights."""

from subadjacent.training.config import TrainingConfig
from subadjacent.training.fit import fit_network
from subadjacent.training.loop import Epoch, Progress, train

__all__ = ["Epoch", "Progress", "TrainingConfig", "fit_network", "train"]
