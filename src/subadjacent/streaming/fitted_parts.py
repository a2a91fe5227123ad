"""The parts of a fitted detector that a stream needs, for one entity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import BaselineProfiles
from subadjacent.decision.decision import Decision
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.estimator import require_fitted
from subadjacent.errors import InputError
from subadjacent.methods.method import Model
from subadjacent.methods.online.model import OnlineModel
from subadjacent.streaming.final_scores import FinalScores

Array = NDArray[np.float64]


class FittedParts(NamedTuple):
    """The parts of a fitted detector that a stream of one entity needs."""

    online: OnlineModel
    final: FinalScores | None  # None where the online model's evidence is final
    decision: Decision
    blur: int
    wait: int  # rows after which a row is final, at most
    profiles: BaselineProfiles
    typical: Array

    @classmethod
    def of(
        cls, detector: BaseDetector, channels: tuple[str, ...], entity: str | None
    ) -> FittedParts:
        """The parts of a fitted detector; refuses one of other channels."""
        require_fitted(detector)
        if len(channels) != len(detector.channels_):
            raise InputError.of(
                "channels",
                f"must be the {len(detector.channels_)} that the detector was fitted on",
                f"got {len(channels)}",
            )
        model = detector.models_.of(entity)
        final = None if isinstance(model, OnlineModel) else FinalScores(model, detector.fill_limit)
        online: Model | None = model
        if final is not None:
            # none in a folder of an earlier version: the stream learns from its rows alone
            online = None if detector.online_ is None else detector.online_.of(entity)
        if not isinstance(online, OnlineModel):
            online = OnlineModel.from_nothing(len(channels))
        return cls(
            online,
            final,
            detector.decision,
            model.blur,
            (model.reach.after or 0) + detector.fill_limit + 1,
            detector.profiles_.of(entity),
            np.asarray(model.typical_values, dtype=np.float64),
        )
