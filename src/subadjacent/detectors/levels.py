"""Scores of every entity in units of its own: 1 is what one row in a hundred of it exceeds.

One threshold then serves entities that are calm and such that are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.detectors.old_base import TrainingScores
from subadjacent.errors import InputError
from subadjacent.scoring.trust import levelled, trusted

# the share of normal rows that scores below 1
SHARE = 0.99
# the unit of an entity that hardly anything ever surprised
LEAST = 2e-3

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EntityLevels:
    """Each entity's unit, and one for entities that were not there."""

    pooled: float
    by_entity: Mapping[str, float]

    @classmethod
    def fit(
        cls, series: Sequence[TrainSeries], scores: Sequence[Scores]
    ) -> tuple[EntityLevels, TrainingScores]:
        """From scores of training rows to models that had not seen them; also these, in units.

        Units and threshold are judged by trusted rows alone.
        """
        even = [levelled(one) for one in scores]
        kept = [one[trusted(one)] for one in even]
        units = [max(float(np.quantile(one, SHARE)), LEAST) for one in kept]
        named = zip(series, units, strict=True)
        levels = cls(
            float(np.median(units)),
            {one.entity: unit for one, unit in named if one.entity is not None},
        )
        held_out = [one / unit for one, unit in zip(kept, units, strict=True)]
        rows = [one / unit for one, unit in zip(even, units, strict=True)]
        return levels, TrainingScores(rows, np.concatenate(held_out))

    def apply(self, series: TrainSeries, scores: Scores) -> Scores:
        """Scores of a series in its own unit."""
        unit = self.pooled
        if series.entity is not None:
            unit = self.by_entity.get(series.entity, unit)
        return scores / unit

    def to_list(self) -> list[float]:
        """The common unit, then each entity's, as JSON holds them."""
        return [self.pooled, *self.by_entity.values()]

    @classmethod
    def from_list(cls, units: Any, entities: Sequence[str]) -> EntityLevels:
        """The inverse of ``to_list``; refuses what does not fit."""
        found = np.asarray(units, dtype=np.float64)
        if found.shape != (1 + len(entities),) or not (np.isfinite(found) & (found > 0)).all():
            raise InputError(f"levels must be {1 + len(entities)} positive numbers; got {units!r}")
        pooled, *others = found.tolist()
        return cls(pooled, dict(zip(entities, others, strict=True)))
