"""The training's settings."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.errors import require_number, require_whole


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How the network is trained.

    Parameters
    ----------
    epochs
        Passes over the training windows, at most; 0 leaves the network untrained.
    batch_size
        Windows in a step.
    learning_rate
        Adam's, in the first epoch.
    decay
        Factor on the learning rate after every epoch, the steady ones left out.
    steady_epochs
        Epochs at the first learning rate, before it begins to fall.
    patience
        Stop after this many epochs without a better validation error.
    max_training_time
        Stop after this many seconds of training, with the best weights so far.
    seed
        Decides the initial weights and the order of the windows.
    """

    epochs: int = 10
    batch_size: int = 128
    learning_rate: float = 1e-4
    decay: float = 1.0
    steady_epochs: int = 1
    patience: int = 3
    max_training_time: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        counts = (("epochs", 0), ("batch_size", 1), ("steady_epochs", 1), ("patience", 1))
        for name, least in counts:
            require_whole(name, getattr(self, name), least)
        require_number("learning_rate", self.learning_rate, above=0)
        require_number("decay", self.decay, above=0)
        if self.max_training_time is not None:
            require_number("max_training_time", self.max_training_time, above=0)
