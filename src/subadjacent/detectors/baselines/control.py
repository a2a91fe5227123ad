"""What the cheap controls share: scale, reconstruct, take the squared error.

They tell how much of a result any detector would get. Each works entity by entity, on the same
standardised and cut values that the networks see; an entity that was not there in fitting is
scaled and judged by what was learned of all together.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import EntityScalers, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, Stretch, stack
from subadjacent.detectors.old_base import BaseDetector, Explanation, TrainingScores
from subadjacent.detectors.old_integrity import check_scalers, require_numbers
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import require_number, require_whole
from subadjacent.scoring.alarms import ERROR_FLOOR
from subadjacent.scoring.moving import smooth
from subadjacent.training.loop import Watch

Rows = NDArray[np.float64]


class Judged(NamedTuple):
    """A stretch's expected values, scaled, and its scores."""

    expected: Rows  # (T, C)
    scores: Rows  # (T,)


class ControlDetector(BaseDetector):
    """A detector that learns in one pass and scores a row by its mean squared error.

    Subclasses write ``_judge`` and, where they learn anything, ``_learn_scaled``; those that do
    extend ``_state`` and ``_restore``. They learn from all training rows, and the threshold is
    set by those same rows: nothing is held back.

    Attributes
    ----------
    usual_error_ : ndarray
        Each channel's mean squared error on the training rows, in standardised units.
    """

    smoothing: int
    clip: float

    @abstractmethod
    def _judge(self, values: Rows, entity: str | None) -> Judged:
        """What was to be expected of a stretch's scaled rows (T, C), and their scores."""

    def _reach(self) -> int:
        """Rows that must be seen together; shorter stretches are continued by mirroring."""
        return 1

    def _check(self) -> None:
        """Refuse bad parameters before any work."""
        require_whole("smoothing", self.smoothing, least=1)
        require_whole("fill_limit", self.fill_limit, least=0)
        require_number("clip", self.clip, above=0)

    def _learn_scaled(self, series: Sequence[TrainSeries]) -> None:
        """Learn from the training rows; the scalers are there."""

    def _fit(
        self,
        series: Sequence[TrainSeries],
        watch: Watch,  # noqa: ARG002 — over before there is anything to watch
    ) -> TrainingScores:
        self._check()
        self.scalers_ = fit_scalers(series, self.clip)
        self._learn_scaled(series)
        stacked = stack(series, self.scalers_, self._reach())
        total, points = np.zeros(len(self.channels_)), np.zeros(len(stacked.values))
        for one, values in _stretches(stacked):
            found = self._judge(values, series[one.series].entity)
            total += np.square(values - found.expected)[: one.rows].sum(axis=0)
            points[one.at : one.at + one.padded] = found.scores
        raw = np.concatenate(stacked.unstack(points))
        self.usual_error_ = total / len(raw)
        self.usual_score_ = float(raw.mean())
        scores = stacked.unstack(self._smooth(stacked, points))
        return TrainingScores(scores, np.concatenate(scores))

    def _score(self, series: Sequence[TrainSeries]) -> list[NDArray[Any]]:
        stacked = self._stack(series)
        points = np.zeros(len(stacked.values))
        for one, values in _stretches(stacked):
            found = self._judge(values, series[one.series].entity)
            points[one.at : one.at + one.padded] = found.scores
        return stacked.unstack(self._smooth(stacked, points))

    def _explain(
        self,
        series: Sequence[TrainSeries],
        wanted: Sequence[NDArray[np.bool_]],
        *,
        expected: bool = True,
    ) -> list[Explanation]:
        stacked = self._stack(series)
        found = np.zeros(stacked.values.shape)
        for place, values in _stretches(stacked):
            judged = self._judge(values, series[place.series].entity)
            found[place.at : place.at + place.padded] = judged.expected
        unusual = np.square(stacked.values.numpy() - found) / (self.usual_error_ + ERROR_FLOOR)
        return [
            Explanation(
                scores[rows],
                self.scalers_.of(one.entity).invert(part[rows]) if expected else part[rows],
            )
            for one, rows, scores, part in zip(
                series, wanted, stacked.unstack(unusual), stacked.unstack(found), strict=True
            )
        ]

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        learned = {
            "scalers": self.scalers_.to_dict(),
            "usual_score": self.usual_score_,
            "usual_error": self.usual_error_.tolist(),
        }
        return {}, learned

    def _restore(
        self,
        tensors: Tensors,  # noqa: ARG002 — for those that learn arrays
        learned: dict[str, Any],
    ) -> None:
        check_scalers(learned["scalers"], self.channels_, self.entities_)
        require_number("usual_score", learned["usual_score"])
        require_numbers("usual_error", learned["usual_error"], len(self.channels_), least=0)
        self.scalers_ = EntityScalers.from_dict(learned["scalers"])
        self.usual_score_ = float(learned["usual_score"])
        self.usual_error_ = np.array(learned["usual_error"], dtype=float)

    def _smooth(self, stacked: Stack, points: Rows) -> Rows:
        return stacked.map_stretches(
            points, lambda rows: smooth(rows, self.smoothing, before=self.usual_score_)
        )

    def _stack(self, series: Sequence[TrainSeries]) -> Stack:
        self._name_strangers(series)
        return stack(series, self.scalers_, self._reach())


def _stretches(stacked: Stack) -> Iterator[tuple[Stretch, Rows]]:
    """Every stretch, and its scaled rows with their padding."""
    for one in stacked.stretches:
        yield one, stacked.values[one.at : one.at + one.padded].numpy().astype(np.float64)
