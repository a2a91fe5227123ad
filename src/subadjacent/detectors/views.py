"""The plain views of every entity, and of all together for those that were not there.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import EntityScalers, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import stack
from subadjacent.detectors.learn_members import fit_members
from subadjacent.detectors.members import Members
from subadjacent.detectors.old_integrity import check_scalers, scalers_from_dict, scalers_to_dict
from subadjacent.detectors.persist import Tensors
from subadjacent.model.ridge import FAR_CLIP, Rows
from subadjacent.scoring.standardised import smoothing_lengths

# rows of all entities together that a model for entities not seen in fitting learns from
POOLED_ROWS = 100_000

# a stretch of fewer times the band's reach has little to learn from
FEW_ROWS = 5

Surprise = NDArray[np.float64]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class EntityViews:
    """What was learned of each entity, on what scale, and of all of them."""

    scalers: EntityScalers
    pooled: Members
    by_entity: dict[str, Members]

    @classmethod
    def fit(
        cls, series: Sequence[TrainSeries], band: Band, *, causal: bool
    ) -> tuple[EntityViews, list[list[Surprise]]]:
        """Learn; also the surprise of each stretch to models that had not seen it, by series."""
        # cut as far out as any of the models does; nearer cuts are theirs
        scalers = fit_scalers(series, FAR_CLIP)
        longest = max(stop - start for one in series for start, stop in one.stretches)
        if longest < FEW_ROWS * band.far:
            log.warning(
                "the longest unbroken stretch has %d rows, few for a band that reaches %d: "
                "expect false alarms",
                longest,
                band.far,
            )
        fits = [fit_members(_scaled(one, scalers), band, causal=causal) for one in series]
        by_entity = {
            one.entity: members
            for one, (members, _) in zip(series, fits, strict=True)
            if one.entity is not None
        }
        pooled = fits[0][0]
        if len(series) > 1:
            # on the scale that an unknown entity will have
            common = PerEntity(scalers.pooled, {})
            most = max(POOLED_ROWS // len(series), 2 * band.far)
            parts = [part for one in series for part in _last(_scaled(one, common), most)]
            pooled = fit_members(parts, band, causal=causal)[0]
        return cls(scalers, pooled, by_entity), [unseen for _, unseen in fits]

    def scaled(self, series: TrainSeries) -> list[Rows]:
        """The unbroken stretches of a series, as the views see them."""
        return _scaled(series, self.scalers)

    def reach(self, smoothing: int) -> int:
        """Rows to either side of a row, at most, that its score depends on."""
        members = [self.pooled, *self.by_entity.values()]
        return max(one.reach for one in members) + max(smoothing_lengths(smoothing))

    def surprise(self, series: TrainSeries) -> list[Surprise]:
        """How surprising each value of each stretch is, (T, C)."""
        members = self.of(series)
        return [members.surprise(part) for part in self.scaled(series)]

    def expected(self, series: TrainSeries) -> NDArray[np.float64]:
        """What its neighbours lead to expect of every row, in the data's own units."""
        members = self.of(series)
        parts = [members.expected(part) for part in self.scaled(series)]
        return self.scalers.of(series.entity).invert(np.concatenate(parts))

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Arrays, and all else as JSON holds it."""
        tensors = self.pooled.tensors("pooled")
        # by place: an entity may be called anything
        for number, members in enumerate(self.by_entity.values()):
            tensors |= members.tensors(f"entity_{number}")
        return tensors, {"scalers": scalers_to_dict(self.scalers)}

    @classmethod
    def restore(
        cls,
        tensors: Tensors,
        learned: dict[str, Any],
        band: Band,
        channels: Collection[str],
        entities: Collection[str],
        *,
        causal: bool,
    ) -> EntityViews:
        """The inverse of ``state``; refuses what does not fit."""
        check_scalers(learned["scalers"], channels, entities)
        scalers = scalers_from_dict(learned["scalers"])

        def read(name: str) -> Members:
            return Members.restore(tensors, name, band, len(channels), causal=causal)

        # in the order of the list: a table's keys may have been laid out anew
        by_entity = {entity: read(f"entity_{number}") for number, entity in enumerate(entities)}
        return cls(scalers, read("pooled"), by_entity)

    def of(self, series: TrainSeries) -> Members:
        """What was learned of a series' entity, or of all."""
        if series.entity is None:
            return self.pooled
        return self.by_entity.get(series.entity, self.pooled)


def _scaled(series: TrainSeries, scalers: EntityScalers) -> list[Rows]:
    """The unbroken stretches of a series, scaled."""
    stacked = stack([series], scalers, 1)
    return [stacked.values[one.at : one.at + one.rows].numpy() for one in stacked.stretches]


def _last(parts: list[Rows], most: int) -> list[Rows]:
    """The last rows of some stretches, so many in all."""
    kept: list[Rows] = []
    for part in reversed(parts):
        if most <= 0:
            break
        kept.append(part[-most:])
        most -= len(part)
    return kept[::-1]
