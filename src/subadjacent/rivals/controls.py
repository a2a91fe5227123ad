"""Controls that any detector should beat: the distance of a row to the mean, and chance."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import EntityScalers
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Reach
from subadjacent.detectors.method import MethodDetector, SeededDetector
from subadjacent.errors import require_whole
from subadjacent.methods.method import State
from subadjacent.methods.residuals import Prediction, Predictor, ResidualMethod, Rows
from subadjacent.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Mean(Predictor):
    """Expects the mean of training; a row's error is its mean squared standardised value."""

    @property
    def reach(self) -> Reach:
        """The row itself."""
        return Reach(0, 0)

    def predict(self, scaled: Rows) -> Prediction:
        """Zeros, and mean squares."""
        return Prediction(np.zeros_like(scaled), np.square(scaled).mean(axis=1))

    def state(self) -> State:
        """Nothing."""
        return State({}, {})


@dataclass(frozen=True, slots=True)
class Chance(Predictor):
    """Uniform random numbers for errors; expects the mean of training.

    A number follows from the seed, the entity and the row's place in its segment, and from
    nothing else: rows that come later change no score.
    """

    seed: int
    entity: int  # a hash of its name

    @property
    def reach(self) -> Reach:
        """The whole segment."""
        # a row's place in the segment is needed, which a part of the segment does not show
        return Reach(0, None)

    def predict(self, scaled: Rows) -> Prediction:
        """Zeros, and random numbers."""
        noise = np.random.default_rng([self.seed, self.entity]).random(len(scaled))
        return Prediction(np.zeros_like(scaled), noise)

    def state(self) -> State:
        """Two numbers."""
        return State({}, {"seed": self.seed, "entity": self.entity})


@dataclass(frozen=True, kw_only=True)
class MagnitudeMethod(ResidualMethod):
    """Nothing is learned but means and deviations."""

    def _learn(
        self,
        series: Sequence[TrainSeries],
        scalers: EntityScalers,
        run: Runtime,  # noqa: ARG002 — over before there is anything to watch
    ) -> PerEntity[Predictor]:
        del series
        return scalers.map(lambda _: Mean())

    def _restore(self, state: State, channels: int) -> Predictor:  # noqa: ARG002 — it is empty
        return Mean()


@dataclass(frozen=True, kw_only=True)
class RandomMethod(ResidualMethod):
    """Random scores, which depend on the seed of the run alone."""

    def _learn(
        self,
        series: Sequence[TrainSeries],
        scalers: EntityScalers,
        run: Runtime,
    ) -> PerEntity[Predictor]:
        del series
        return PerEntity(
            Chance(run.seed, _hash("")),
            {name: Chance(run.seed, _hash(name)) for name in scalers.by_entity},
        )

    def _restore(self, state: State, channels: int) -> Predictor:  # noqa: ARG002 — any number
        seed, entity = state.facts["seed"], state.facts["entity"]
        require_whole("seed", seed, least=0)
        require_whole("entity", entity, least=0)
        return Chance(seed, entity)


def _hash(name: str) -> int:
    """The same in every process, as Python's own hash is not."""
    return zlib.crc32(name.encode())


@dataclass(kw_only=True, eq=False, repr=False)
class MagnitudeDetector(MethodDetector):
    """Scores a row by its mean squared standardised value.

    Parameters
    ----------
    others
        As of every ``MethodDetector``.
    """

    method = MagnitudeMethod


@dataclass(kw_only=True, eq=False, repr=False)
class RandomDetector(SeededDetector):
    """Scores every row by a uniform random number between 0 and 1.

    The number follows from the seed, the entity's name and the row's place in its unbroken
    segment, and from nothing else: rows that come later change no score. Entities that were not
    there in fitting share the numbers of a series without a name. Explanations are those of
    ``MagnitudeDetector``.

    Parameters
    ----------
    clip : float
        Standardised values beyond this are cut; for the explanations alone.
    random_state : int, RandomState or None
        Decides the scores.
    others
        As of every ``MethodDetector``.
    """

    method = RandomMethod
