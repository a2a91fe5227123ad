"""A predictor for each entity, from its own rows, and one of all rows for entities that are new.

A method that keeps rows knows those that it learned from by heart: they score next to nothing, and
a threshold set by them would be far too low. Such a method judges every fifth of a training series
by what it learns from the other four.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import EntityScalers, Scaler
from subadjacent.data.series import TrainSeries, cut
from subadjacent.methods.residuals import Predictor, ResidualMethod, Rows, standardised
from subadjacent.runtime import Progress, Runtime, in_turn

# so many entities are worth starting processes for
MANY_ENTITIES = 100
# parts of a training series that are held out in turn; more cost more and say the same
FOLDS = 5
# rows of a part at least, else nothing is held out: fewer tell nothing of how rows differ
SHORTEST_FOLD = 4


class Task(NamedTuple):
    """Series to fit one predictor to, on the scale of one scaler."""

    series: Sequence[TrainSeries]
    scaler: Scaler
    seed: int

    def stretches(self, window: int) -> Iterator[Rows]:
        """Standardised rows of every unbroken stretch, of at least a window, (T, C)."""
        for one in self.series:
            for start, stop in one.stretches:
                yield standardised(one.values[start:stop], self.scaler, window)


@dataclass(frozen=True, kw_only=True)
class PerEntityMethod(ResidualMethod):
    """Learns one predictor an entity; where it ``keeps_rows``, training rows are held out."""

    keeps_rows: ClassVar[bool] = False

    @abstractmethod
    def _fit_one(self, task: Task) -> Predictor:
        """A predictor from some series."""

    def _learn(
        self, series: Sequence[TrainSeries], scalers: EntityScalers, run: Runtime
    ) -> PerEntity[Predictor]:
        named = [one for one in series if one.entity is not None]
        pooled = self._fit_one(Task(series, scalers.pooled, run.seed))
        if len(series) == 1:
            # all rows are its own
            return PerEntity(
                pooled, {one.entity: pooled for one in named if one.entity is not None}
            )
        tasks = [Task([one], scalers.of(one.entity), run.seed) for one in named]
        spread = run.map if len(named) >= MANY_ENTITIES else in_turn
        by_entity: dict[str, Predictor] = {}
        for one, predictor in zip(named, spread(self._fit_one, tasks), strict=True):
            by_entity[str(one.entity)] = predictor
            run.watch(Progress("fitting", len(by_entity), len(named), "entities"))
        return PerEntity(pooled, by_entity)

    def _judges(
        self, one: TrainSeries, scaler: Scaler, predictor: Predictor, run: Runtime
    ) -> Iterator[tuple[int, int, Predictor]]:
        shortest = max(predictor.window, SHORTEST_FOLD)
        if not self.keeps_rows or len(one) < FOLDS * shortest:
            yield from super()._judges(one, scaler, predictor, run)
            return
        fold = np.arange(len(one)) * FOLDS // len(one)  # (T,)
        for number in range(FOLDS):
            held = fold == number
            others = self._fit_one(Task([without(one, held)], scaler, run.seed))
            for start, stop in cut(one.stretches, held):
                if held[start]:
                    yield start, stop, others


def without(one: TrainSeries, held: np.ndarray) -> TrainSeries:
    """A series without some of its rows, broken where they were."""
    kept = [(start, stop) for start, stop in cut(one.stretches, held) if not held[start]]
    starts = np.cumsum([0, *(stop - start for start, stop in kept[:-1])])
    return replace(
        one, values=one.values[~held], index=None, starts=tuple(starts.tolist()), missing=None
    )
