"""A detector with all that a model may show: a control with attention and a training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from subadjacent import MagnitudeDetector
from subadjacent.decision.evidence import Evidence, Reach
from subadjacent.methods.method import Model, State
from subadjacent.report.model_facts import BandShape

WINDOW = 20
BAND = BandShape(near=4, far=6, circular=True)


@dataclass(frozen=True)
class Epoch:
    number: int
    train_loss: float
    validation_error: float
    seconds: float = 0.5
    complete: bool = True

    def curves(self) -> dict[str, float]:
        return {"train_loss": self.train_loss, "validation_error": self.validation_error}


EPOCHS = (Epoch(1, 0.9, 1.1), Epoch(2, 0.5, 0.8))


class AttentiveModel(Model):
    """A model with attention around every row; the rest is another model's."""

    def __init__(self, model: Model, history: tuple[Epoch, ...], band: BandShape | None) -> None:
        self.model, self.history, self.band = model, history, band

    @property
    def reach(self) -> Reach:
        return Reach(WINDOW - 1, WINDOW - 1)

    @property
    def typical_values(self) -> np.ndarray:
        return self.model.typical_values

    def assess(self, rows: np.ndarray) -> Evidence:
        found = self.model.assess(rows)
        return found._replace(traces={"contribution": np.log1p(found.score)})

    def state(self) -> State:
        network = {} if self.band is None else {"band": self.band._asdict()}
        return State({}, {"window": WINDOW, "network": network})

    def attention_around(self, rows: np.ndarray, row: int) -> tuple[int, np.ndarray]:
        first = max(min(row // WINDOW * WINDOW, len(rows) - WINDOW), 0)
        return first, np.eye(WINDOW) + 0.1


class AttentiveDetector(MagnitudeDetector):
    """Rows by their size, with a window to look into."""

    def __init__(
        self,
        *,
        window: Any = "auto",
        near: Any = "auto",
        history: Any = EPOCHS,
        band: Any = BAND,
        contamination: Any = "auto",
        fill_limit: int = 10,
    ) -> None:
        super().__init__(contamination=contamination, fill_limit=fill_limit)
        self.window = window
        self.near = near
        self.history = history
        self.band = band

    def fit(self, X: Any, y: Any = None, **others: Any) -> AttentiveDetector:
        super().fit(X, y, **others)
        self.models_ = self.models_.map(
            lambda model: AttentiveModel(model, self.history, self.band)
        )
        return self
