"""Sub-adjacent points and plain algebra: no network, seconds on one core."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.data.scaling import EntityScalers, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import stack
from subadjacent.detectors.base import BaseDetector, TrainingScores
from subadjacent.detectors.integrity import check_scalers
from subadjacent.detectors.members import Members, fit_members
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import InputError, require_whole
from subadjacent.model.ridge import FAR_CLIP, Rows
from subadjacent.scoring.alarms import Explanation
from subadjacent.scoring.standardised import SOFTNESS, moving_mean
from subadjacent.training.loop import Watch

log = logging.getLogger(__name__)

# rows of all entities together that a model for entities not seen in fitting learns from
POOLED_ROWS = 100_000


class BandRidgeDetector(BaseDetector):
    """Finds rows that their sub-adjacent neighbours do not expect, by ridge regression.

    Each point is expected from the points near but not next to it, in a linear way, once by
    their values and once by how they depart from their own mean. What is left over is averaged
    on three scales, compared with what was left over of training rows that the model had not
    seen, and put through a logarithm; the mean over channels, scales and models is the score.
    How far a channel is out of its training range counts as a third model.

    One model an entity. It learns in seconds what a network takes minutes for, and on the
    benchmark sets it ranks anomalies better: see ``docs/results.md``.

    Parameters
    ----------
    near, far : int
        The band: neighbours at a distance of ``near`` to ``far`` rows.
    smoothing : int
        Rows that the score is averaged over.
    causal : bool
        Whether a score depends on earlier rows alone. It never changes then when more rows
        come, and finds a little less.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels; as for ``SubAdjacentDetector``.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it.

    Examples
    --------
    >>> import numpy as np
    >>> from subadjacent import BandRidgeDetector
    >>> time = np.arange(2000)
    >>> normal = np.column_stack([np.sin(time / 8), np.cos(time / 8)])
    >>> broken = normal[:500].copy()
    >>> broken[300:310, 1] = 1.0
    >>> detector = BandRidgeDetector().fit(normal)
    >>> worst = max(detector.alarms(broken), key=lambda alarm: alarm.severity)
    >>> worst.causes[0].channel
    'channel_1'
    """

    def __init__(
        self,
        *,
        near: int = 5,
        far: int = 30,
        smoothing: int = 20,
        causal: bool = False,
        contamination: Any = "auto",
        fill_limit: int = 10,
    ) -> None:
        self.near = near
        self.far = far
        self.smoothing = smoothing
        self.causal = causal
        self.contamination = contamination
        self.fill_limit = fill_limit

    def _fit(self, series: Sequence[TrainSeries], watch: Watch) -> TrainingScores:  # noqa: ARG002
        band = self._check()
        # cut as far out as any of the models does; nearer cuts are theirs
        self.scalers_ = fit_scalers(series, FAR_CLIP)
        self.by_entity_, scores = {}, []
        for one in series:
            members, surprise = fit_members(_scaled(one, self.scalers_), band, causal=self.causal)
            scores.append(np.concatenate([self._smoothed(part) for part in surprise]))
            if one.entity is None:
                self.pooled_ = members
            else:
                self.by_entity_[one.entity] = members
        if self.by_entity_:
            self.pooled_ = self._pool(series, band)
        return TrainingScores(scores, np.concatenate(scores))

    def _pool(self, series: Sequence[TrainSeries], band: Band) -> Members:
        """A model for entities that were not there, on the scale they will have."""
        if len(series) == 1:
            return next(iter(self.by_entity_.values()))
        common = EntityScalers(self.scalers_.pooled, {})
        most = max(POOLED_ROWS // len(series), 2 * band.far)
        parts = [part[-most:] for one in series for part in _scaled(one, common)]
        return fit_members(parts, band, causal=self.causal)[0]

    def _score(self, series: Sequence[TrainSeries]) -> list[NDArray[Any]]:
        self._warn_of_unseen(series)
        return [
            np.concatenate([
                self._smoothed(self._members(one).surprise(part))
                for part in _scaled(one, self.scalers_)
            ])
            for one in series
        ]  # fmt: skip

    def _explain(
        self,
        series: Sequence[TrainSeries],
        wanted: Sequence[NDArray[np.bool_]],
        *,
        expected: bool = True,
    ) -> list[Explanation]:
        found = []
        for one, rows in zip(series, wanted, strict=True):
            members, parts = self._members(one), _scaled(one, self.scalers_)
            surprise = np.concatenate([
                moving_mean(members.surprise(part), self.smoothing, causal=self.causal)
                for part in parts
            ])  # fmt: skip
            values = np.concatenate([members.expected(part) for part in parts])[rows]
            if expected:
                values = self.scalers_.of(one.entity).invert(values)
            # back from the logarithm to squares in units of the usual one
            found.append(Explanation(SOFTNESS * np.expm1(surprise[rows]), values))
        return found

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        tensors = self.pooled_.tensors("pooled")
        for number, entity in enumerate(self.entities_):
            tensors |= self.by_entity_[entity].tensors(f"entity_{number}")
        return tensors, {"scalers": self.scalers_.to_dict()}

    def _restore(self, tensors: Tensors, learned: dict[str, Any]) -> None:
        check_scalers(learned["scalers"], self.channels_, self.entities_)
        self.scalers_ = EntityScalers.from_dict(learned["scalers"])
        band = self._check()

        def read(name: str) -> Members:
            channels = len(self.channels_)
            return Members.restore(tensors, name, band, channels, causal=self.causal)

        self.pooled_ = read("pooled")
        self.by_entity_ = {
            entity: read(f"entity_{number}") for number, entity in enumerate(self.entities_)
        }

    def _check(self) -> Band:
        """Refuse bad parameters before any work."""
        # nearer than 1 is the point itself, which would explain itself
        require_whole("near", self.near, least=1)
        require_whole("far", self.far, least=1)
        require_whole("smoothing", self.smoothing, least=1)
        require_whole("fill_limit", self.fill_limit, least=0)
        if not isinstance(self.causal, bool | np.bool_):
            raise InputError(f"causal must be True or False; got {self.causal!r}")
        return Band(self.near, self.far)

    def _members(self, series: TrainSeries) -> Members:
        if series.entity is None:
            return self.pooled_
        return self.by_entity_.get(series.entity, self.pooled_)

    def _smoothed(self, surprise: NDArray[np.float64]) -> NDArray[np.float64]:
        return moving_mean(surprise.mean(axis=1), self.smoothing, causal=self.causal)

    def _warn_of_unseen(self, series: Sequence[TrainSeries]) -> None:
        named = {one.entity for one in series if one.entity is not None}
        unknown = named.difference(self.entities_)
        if unknown and self.entities_:
            log.warning("entities not seen in fitting are judged by all: %s", sorted(unknown))


def _scaled(series: TrainSeries, scalers: EntityScalers) -> list[Rows]:
    """The unbroken stretches of a series, scaled."""
    stacked = stack([series], scalers, 1)
    return [stacked.values[one.at : one.at + one.rows].numpy() for one in stacked.stretches]
