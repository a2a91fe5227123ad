"""A predictor for each entity, from its own rows, and one of all rows for entities that are new.

A method that keeps rows has seen its training rows as they are: they score next to nothing, and a
threshold set by them would be far too low. Such a method is cross-validated: each fifth of a
training series is assessed by a predictor of the other four.

Shapes: T rows of a segment, C channels.
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

# number of entities from which starting processes pays off
MANY_ENTITIES = 100
# folds of the cross-validation; more take longer with the same result
FOLDS = 5
# rows of a fold, at least; with fewer rows nothing is held out, as they hardly vary
SHORTEST_FOLD = 4


class Task(NamedTuple):
    """Series to fit one predictor to, on the scale of one scaler."""

    series: Sequence[TrainSeries]
    scaler: Scaler
    seed: int

    def segments(self, window: int) -> Iterator[Rows]:
        """Standardised rows of every unbroken segment, of at least a window, (T, C)."""
        for one_series in self.series:
            for start, stop in one_series.segments:
                yield standardised(one_series.values[start:stop], self.scaler, window)


@dataclass(frozen=True, kw_only=True)
class PerEntityMethod(ResidualMethod):
    """Learns one predictor an entity; one that ``keeps_rows`` is cross-validated."""

    keeps_rows: ClassVar[bool] = False

    @abstractmethod
    def _fit_one(self, task: Task) -> Predictor:
        """Fit one predictor to the series of a task."""

    def _learn(
        self, series: Sequence[TrainSeries], scalers: EntityScalers, run: Runtime
    ) -> PerEntity[Predictor]:
        named = [one_series for one_series in series if one_series.entity is not None]
        pooled = self._fit_one(Task(series, scalers.pooled, run.seed))
        if len(series) == 1:
            # all rows are its own
            return PerEntity(
                pooled,
                {
                    one_series.entity: pooled
                    for one_series in named
                    if one_series.entity is not None
                },
            )
        tasks = [
            Task([one_series], scalers.of(one_series.entity), run.seed) for one_series in named
        ]
        spread = run.map if len(named) >= MANY_ENTITIES else in_turn
        by_entity: dict[str, Predictor] = {}
        for one_series, predictor in zip(named, spread(self._fit_one, tasks), strict=True):
            by_entity[str(one_series.entity)] = predictor
            run.watch(Progress("fitting", len(by_entity), len(named), "entities"))
        return PerEntity(pooled, by_entity)

    def _training_predictors(
        self, series: TrainSeries, scaler: Scaler, predictor: Predictor, run: Runtime
    ) -> Iterator[tuple[int, int, Predictor]]:
        shortest = max(predictor.window, SHORTEST_FOLD)
        if not self.keeps_rows or len(series) < FOLDS * shortest:
            yield from super()._training_predictors(series, scaler, predictor, run)
            return
        fold = np.arange(len(series)) * FOLDS // len(series)  # (T,)
        for number in range(FOLDS):
            held = fold == number
            predictor_of_rest = self._fit_one(Task([without(series, held)], scaler, run.seed))
            for start, stop in cut(series.segments, held):
                if held[start]:
                    yield start, stop, predictor_of_rest


def without(series: TrainSeries, held: np.ndarray) -> TrainSeries:
    """A series without some of its rows, broken where they were."""
    kept = [(start, stop) for start, stop in cut(series.segments, held) if not held[start]]
    starts = np.cumsum([0, *(stop - start for start, stop in kept[:-1])])
    return replace(
        series, values=series.values[~held], index=None, starts=tuple(starts.tolist()), missing=None
    )
