"""A method that a reader can check on fingers: the score is the distance from the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Evidence, Reach
from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.method import Fitted, Method, Model, State
from subadjacent.runtime import Runtime

PASSES: list[int] = []
"""The length of every segment that was assessed."""


@dataclass(frozen=True)
class Level(Model):
    """The mean of each channel; a row's score is averaged with those around it."""

    mean: np.ndarray
    around: int = 2
    whole: bool = False

    @property
    def reach(self) -> Reach:
        return Reach(self.around, None if self.whole else self.around)

    @property
    def typical_values(self) -> np.ndarray:
        return self.mean

    def assess(self, rows: np.ndarray) -> Evidence:
        PASSES.append(len(rows))
        distance = np.abs(rows - self.mean)
        window = np.ones(2 * self.around + 1)
        # not "same", which is longer than the rows where these are few
        here = slice(self.around, self.around + len(rows))
        counts = np.convolve(np.ones(len(rows)), window)[here]
        score = np.convolve(distance.mean(axis=1), window)[here] / counts
        expected = np.broadcast_to(self.mean, rows.shape)
        return Evidence(score, distance**2, expected, {"distance": distance.mean(axis=1)})

    def state(self) -> State:
        return State({"mean": self.mean}, {})


@dataclass(frozen=True)
class LevelMethod(Method):
    """Learns the mean of each entity, and of all."""

    whole: bool = False

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:  # noqa: ARG002 — the contract
        pooled = Level(
            np.concatenate([one.values for one in series]).mean(axis=0), whole=self.whole
        )
        own = {
            one.entity: Level(one.values.mean(axis=0), whole=self.whole)
            for one in series
            if one.entity is not None
        }
        models: PerEntity[Model] = PerEntity(pooled, own)
        scores = [models.of(one.entity).assess(one.values).score for one in series]
        return Fitted(models, scores, scores)

    def restore(self, state: State, channels: int) -> Model:  # noqa: ARG002 — the contract
        return Level(state.arrays["mean"], whole=self.whole)


class LevelDetector(BaseDetector):
    """Distance from the mean."""

    def __init__(
        self,
        *,
        whole: bool = False,
        contamination: Any = 0.05,
        adapt_after: int | None = None,
        fill_limit: int = 10,
    ) -> None:
        self.whole = whole
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> Method:
        return LevelMethod(self.whole)
