"""Noise for scores: what a metric gives to a detector that knows nothing."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from subadjacent.data.series import TrainSeries
from subadjacent.detectors.baselines.control import ControlDetector, Judged, Rows
from subadjacent.detectors.defaults import choose_seed
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import require_whole


class RandomDetector(ControlDetector):
    """Scores every row by a uniform random number between 0 and 1.

    The number follows from the seed, the entity's name and the row's place in its unbroken
    stretch, and from nothing else: rows that come later change no score. Explanations are
    those of ``MagnitudeDetector``.

    Parameters
    ----------
    smoothing : int
        Average each score with those before it, so many in all.
    clip : float
        Standardised values beyond this are cut; for the explanations alone.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels; as for ``SubAdjacentDetector``.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it.
    random_state : int, RandomState or None
        Decides the scores.
    """

    def __init__(
        self,
        *,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        fill_limit: int = 10,
        random_state: Any = 0,
    ) -> None:
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.fill_limit = fill_limit
        self.random_state = random_state

    def _learn_scaled(
        self,
        series: Sequence[TrainSeries],  # noqa: ARG002 — chance looks at nothing
    ) -> None:
        self.seed_ = choose_seed(self.random_state)

    def _judge(self, values: Rows, entity: str | None) -> Judged:
        # a hash that is the same in every process, as Python's own is not
        name = zlib.crc32((entity or "").encode())
        noise = np.random.default_rng([self.seed_, name]).random(len(values))
        return Judged(np.zeros_like(values), noise)

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        tensors, learned = super()._state()
        return tensors, learned | {"seed": self.seed_}

    def _restore(self, tensors: Tensors, learned: dict[str, Any]) -> None:
        super()._restore(tensors, learned)
        require_whole("seed", learned["seed"], least=0)
        self.seed_ = int(learned["seed"])
