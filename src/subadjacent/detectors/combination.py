"""Plain views and a network, added up: how surprising a value is to all of them together.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.members import VIEWS, require_shape
from subadjacent.detectors.persist import Tensors
from subadjacent.detectors.views import EntityViews, Surprise
from subadjacent.scoring.standardised import SCALES, Usual, learn_usual

# the network counts for half a plain view: by itself it ranks anomalies less well
WEIGHT = 0.5
# of the plain views, whatever the network's is: that of a ridge detector by itself
BAND = Band(5, 30)

Residuals = Sequence[NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """The plain views, and what is usual for the network's residuals."""

    views: EntityViews
    usual: Usual
    by_entity: dict[str, Usual]

    @classmethod
    def fit(
        cls,
        series: Sequence[TrainSeries],
        residuals: Sequence[Residuals],
        cuts: Sequence[int],
    ) -> tuple[Combination, list[list[Surprise]]]:
        """Learn; also the surprise of each stretch of each series.

        ``residuals`` are the network's, by series and stretch; those before a series' cut are
        of rows that it learned from, and say nothing about what is usual.
        """
        views, unseen = EntityViews.fit(series, BAND, causal=False)
        held_out = [
            [
                part[max(cut - start, 0) :]
                for part, (start, _) in zip(parts, one.stretches, strict=True)
            ]
            for one, parts, cut in zip(series, residuals, cuts, strict=True)
        ]
        found = cls(
            views,
            learn_usual([part for parts in held_out for part in parts], causal=False),
            {
                one.entity: learn_usual(parts, causal=False)
                for one, parts in zip(series, held_out, strict=True)
                # one too short to hold rows back goes by what is usual for all
                if one.entity is not None and any(map(len, parts))
            },
        )
        return found, [
            found._add(one, of_views, of_network)
            for one, of_views, of_network in zip(series, unseen, residuals, strict=True)
        ]

    def surprise(self, series: TrainSeries, residuals: Residuals) -> list[Surprise]:
        """How surprising each value of each stretch is, (T, C)."""
        return self._add(series, self.views.surprise(series), residuals)

    def _add(
        self, series: TrainSeries, plain: Sequence[Surprise], residuals: Residuals
    ) -> list[Surprise]:
        usual = self.usual
        if series.entity is not None:
            usual = self.by_entity.get(series.entity, usual)
        return [
            (len(VIEWS) * views + WEIGHT * usual.surprise(part, causal=False))
            / (len(VIEWS) + WEIGHT)
            for views, part in zip(plain, residuals, strict=True)
        ]

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Arrays, and all else as JSON holds it."""
        tensors, learned = self.views.state()
        usual = [self.usual, *(self.by_entity.get(one, self.usual) for one in self.views.by_entity)]
        squares = np.stack([one.squares for one in usual])
        return tensors | {"usual": torch.from_numpy(squares)}, learned

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
        squares = tensors["usual"].numpy()
        require_shape("usual", squares, (1 + len(views.by_entity), len(SCALES), len(channels)))
        first, *others = (Usual(one) for one in squares)
        return cls(views, first, dict(zip(views.by_entity, others, strict=True)))
