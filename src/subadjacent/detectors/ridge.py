"""Sub-adjacent points and plain algebra: no network, seconds on one core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from subadjacent.core.band import Band
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.levels import EntityLevels
from subadjacent.detectors.old_base import BaseDetector, Explanation, TrainingScores
from subadjacent.detectors.persist import Tensors
from subadjacent.detectors.views import EntityViews
from subadjacent.errors import InputError, require_whole
from subadjacent.runtime import Watch
from subadjacent.scoring.alarms import core_of
from subadjacent.scoring.standardised import averaged, smoothing_lengths, unusual


class BandRidgeDetector(BaseDetector):
    """Finds rows that their sub-adjacent neighbours do not expect, by ridge regression.

    Each point is expected from the points near but not next to it, in a linear way: by their
    values, by how they depart from their own mean, and by points further away. What is left
    over, by itself and given what is left over of the other channels, is averaged on three
    scales, compared with what was left over of training rows that the model had not seen, and
    put through a logarithm; the mean over channels, scales and models is the score, in units of
    what one training row in a hundred exceeds. How far a channel is out of its training range
    counts as a model of its own.

    One model an entity. It learns in seconds what a network takes minutes for, and on the
    benchmark sets it ranks anomalies better: see ``docs/results.md``.

    Parameters
    ----------
    near, far : int
        The band: neighbours at a distance of ``near`` to ``far`` rows.
    smoothing : int
        Rows that the score is averaged over: the mean of this average, one over three times as
        many rows, and the score as it is.
    causal : bool
        Whether a score depends on earlier rows alone. It never changes then when more rows
        come, and finds clearly less.
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

    def _fit(
        self,
        series: Sequence[TrainSeries],
        watch: Watch,  # noqa: ARG002 — it counts steps of training; here are none
    ) -> TrainingScores:
        # small products: several threads would wait for each other more than work
        with threadpool_limits(1, user_api="blas"):
            self.views_, unseen = EntityViews.fit(series, self._check(), causal=self.causal)
        self.levels_, scores = EntityLevels.fit(series, [self._smoothed(one) for one in unseen])
        return scores

    def _score(self, series: Sequence[TrainSeries]) -> list[NDArray[Any]]:
        self._name_strangers(series)
        return [
            self.levels_.apply(one, self._smoothed(self.views_.surprise(one))) for one in series
        ]

    def _explain(
        self,
        series: Sequence[TrainSeries],
        wanted: Sequence[NDArray[np.bool_]],
        *,
        expected: bool = True,  # noqa: ARG002 — they cost nothing more
    ) -> list[Explanation]:
        return [
            Explanation(
                unusual(self.views_.surprise(one), self.smoothing, causal=self.causal)[rows],
                self.views_.expected(one)[rows],
            )
            for one, rows in zip(series, wanted, strict=True)
        ]

    def _events(self, scores: NDArray[Any], series: TrainSeries) -> NDArray[np.bool_]:
        above = super()._events(scores, series)
        if self.causal:
            # which rows are the core is known later only
            return above
        return core_of(above, scores, max(smoothing_lengths(self.smoothing)), series.stretches)

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        tensors, learned = self.views_.state()
        return tensors, learned | {"levels": self.levels_.to_list()}

    def _restore(self, tensors: Tensors, learned: dict[str, Any]) -> None:
        self.views_ = EntityViews.restore(
            tensors, learned, self._check(), self.channels_, self.entities_, causal=self.causal
        )
        self.levels_ = EntityLevels.from_list(learned["levels"], self.entities_)

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

    def _smoothed(self, parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """One score a row, from the surprise of each stretch."""
        each = [averaged(part, self.smoothing, causal=self.causal) for part in parts]
        return np.concatenate(each)
