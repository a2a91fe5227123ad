"""Plain views and, where there is one, a network, added up: how surprising a value is to all.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from subadjacent.core.band import Band
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.members import TOTAL_WEIGHT, require_shape, restore_loudness
from subadjacent.detectors.persist import Tensors
from subadjacent.detectors.views import EntityViews, Surprise
from subadjacent.scoring.loudness import typical
from subadjacent.scoring.standardised import SCALES, SOFTNESS, Usual, learn_usual

# the network counts for half a plain view, or less: by itself it ranks anomalies less well
WEIGHT = 0.5
# of the plain views, whatever the network's is: that of a ridge detector by itself
BAND = Band(5, 30)

Residuals = Sequence[NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class NetworkResiduals:
    """What a network leaves of training rows.

    Parameters
    ----------
    parts
        By series and stretch, (T, C) each.
    cuts
        One a series: rows before it were learned from, and say nothing about what is usual.
    """

    parts: Sequence[Residuals]
    cuts: Sequence[int]

    def held_out(self, series: Sequence[TrainSeries]) -> list[list[NDArray[Any]]]:
        """The parts without the rows that were learned from."""
        return [
            [
                part[max(cut - start, 0) :]
                for part, (start, _) in zip(parts, one.stretches, strict=True)
            ]
            for one, parts, cut in zip(series, self.parts, self.cuts, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """What is usual of a network's residuals, and how loud they are on a typical row."""

    usual: Usual
    typical: float

    @classmethod
    def learn(cls, parts: Residuals) -> Voice:
        """From residuals of rows that the network did not learn from."""
        usual, surprise = learn_usual(parts, causal=False)
        every = [np.ones(len(part), dtype=bool) for part in parts]
        return cls(usual, typical(surprise, every, SOFTNESS))


@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """The plain views, and what is usual for the network's residuals, if there is one."""

    views: EntityViews
    pooled: Voice | None
    by_entity: dict[str, Voice]

    @classmethod
    def fit(
        cls, series: Sequence[TrainSeries], network: NetworkResiduals | None = None
    ) -> tuple[Combination, list[list[Surprise]]]:
        """Learn; also the surprise of each stretch of each series."""
        # small products: several threads would wait for each other more than work
        with threadpool_limits(1, user_api="blas"):
            views, unseen = EntityViews.fit(series, BAND, causal=False)
        if network is None:
            return cls(views, None, {}), unseen
        held_out = network.held_out(series)
        everything = [part for parts in held_out for part in parts]
        found = cls(
            views,
            Voice.learn(everything),
            {
                one.entity: Voice.learn(parts)
                for one, parts in zip(series, held_out, strict=True)
                # one too short to hold rows back goes by what is usual for all
                if one.entity is not None and any(map(len, parts))
            },
        )
        return found, [
            found._add(one, of_views, of_network)
            for one, of_views, of_network in zip(series, unseen, network.parts, strict=True)
        ]

    def surprise(self, series: TrainSeries, residuals: Residuals | None = None) -> list[Surprise]:
        """How surprising each value of each stretch is, (T, C); a network's residuals count in."""
        plain = self.views.surprise(series)
        return plain if residuals is None else self._add(series, plain, residuals)

    def _add(
        self, series: TrainSeries, plain: Sequence[Surprise], residuals: Residuals
    ) -> list[Surprise]:
        network = self.network_surprise(series, residuals)
        return [
            (TOTAL_WEIGHT * one + WEIGHT * other) / (TOTAL_WEIGHT + WEIGHT)
            for one, other in zip(plain, network, strict=True)
        ]

    def network_surprise(self, series: TrainSeries, residuals: Residuals) -> list[Surprise]:
        """How surprising the network's residuals are, (T, C) a stretch."""
        usual, factor = self._voice(series).usual, self.network_factor(series)
        return [factor * usual.surprise(part, causal=False) for part in residuals]

    def network_factor(self, series: TrainSeries) -> float:
        """What the network is turned down by: 1, or less where it is far louder than the views."""
        return self.views.of(series).loudness.factor(self._voice(series).typical)

    def _voice(self, series: TrainSeries) -> Voice:
        voice = self.pooled
        if series.entity is not None:
            voice = self.by_entity.get(series.entity, voice)
        assert voice is not None
        return voice

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Arrays, and all else as JSON holds it."""
        tensors, learned = self.views.state()
        if self.pooled is None:
            return tensors, learned
        others = (self.by_entity.get(one, self.pooled) for one in self.views.by_entity)
        voices = [self.pooled, *others]
        arrays = {
            "usual": np.stack([one.usual.array() for one in voices]),
            "loudness": np.array([one.typical for one in voices]),
        }
        return tensors | {name: torch.from_numpy(one) for name, one in arrays.items()}, learned

    @classmethod
    def restore(
        cls,
        tensors: Tensors,
        learned: dict[str, Any],
        channels: Collection[str],
        entities: Collection[str],
    ) -> Combination:
        """The inverse of ``state``; refuses what does not fit."""
        views = EntityViews.restore(tensors, learned, BAND, channels, entities, causal=False)
        if "usual" not in tensors:
            return cls(views, None, {})
        arrays = tensors["usual"].numpy()
        require_shape("usual", arrays, (1 + len(views.by_entity), len(SCALES) + 1, len(channels)))
        loud = restore_loudness(tensors, "loudness", (len(arrays),)).tolist()
        first, *others = (
            Voice(Usual.from_array(one), how) for one, how in zip(arrays, loud, strict=True)
        )
        return cls(views, first, dict(zip(views.by_entity, others, strict=True)))
