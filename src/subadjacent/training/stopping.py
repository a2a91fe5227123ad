"""When to stop training."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class EarlyStopping:
    """Keeps the best validation error, and counts the epochs since."""

    patience: int
    best: float = math.inf
    waited: int = 0

    def update(self, validation_error: float) -> bool:
        """Take the error of an epoch; return whether it is the best so far."""
        if validation_error < self.best:
            self.best, self.waited = validation_error, 0
            return True
        self.waited += 1
        return False

    @property
    def should_stop(self) -> bool:
        """Whether patience has run out."""
        return self.waited >= self.patience
