"""The online models beside a detector: they look back only, so that their scores are final at once.

A detector that looks ahead has the final score of a row only when later rows have arrived. Streams
need evidence at once. So an online model of each entity is fitted along with it, and has a
threshold of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError, require_number
from subadjacent.methods.method import Arrays, Method, Model, State
from subadjacent.runtime import Runtime
from subadjacent.scoring.base_threshold import BaseThreshold, Threshold
from subadjacent.scoring.calibration import fit_threshold
from subadjacent.scoring.decision import Decision
from subadjacent.scoring.normal import NormalScores, normal_scores
from subadjacent.scoring.threshold import threshold_from_dict

ONLINE, PREFIX = "online", "online."
"""The name of their facts in a model folder, and the beginning of those of their arrays."""

EARLIER = ("causal.", "recent.")
"""Before the names of arrays for streams in folders of versions before 0.3, which are not read."""


@dataclass(frozen=True, slots=True, eq=False)
class OnlineModels:
    """Models that look back only, fitted to the last training rows of each entity.

    Parameters
    ----------
    models
        One an entity; ``models.of(entity).stream()`` assesses rows as they arrive, each at once.
    threshold, rule
        The score above which rows are anomalous, and the rule that set it.
    normal_scores
        Statistics of each entity's scores by these models.
    """

    models: PerEntity[Model]
    threshold: float
    rule: BaseThreshold
    normal_scores: PerEntity[NormalScores]

    @classmethod
    def fit(
        cls, method: Method, series: Sequence[TrainSeries], threshold: Threshold
    ) -> OnlineModels:
        """Fit the models, and the threshold to their held-out scores."""
        fitted = method.fit(series, Runtime())
        entities = [one_series.entity for one_series in series]
        # the detector itself has already warned of too few rows
        cut, rule = fit_threshold(threshold, np.concatenate(fitted.held_out), warns=False)
        return cls(fitted.models, cut, rule, normal_scores(entities, fitted.held_out))

    def decision(self, adapt_after: int | None) -> Decision:
        """How their scores are judged."""
        return Decision(self.threshold, self.rule, self.normal_scores, adapt_after)

    def save(self, method: Method) -> State:
        """Arrays and facts, as they are beside the detector's own in a folder."""
        arrays, learned = method.pack(self.models)
        facts = {
            "threshold": float(self.threshold),
            "threshold_rule": self.rule.to_dict(),
            "normal_scores": [entity_scores.to_dict() for entity_scores in self.normal_scores],
            "learned": learned,
        }
        named = {f"{PREFIX}{name}": array for name, array in arrays.items()}
        return State(named, {ONLINE: facts})

    @classmethod
    def load(
        cls, state: State, method: Method | None, channels: int, entities: Sequence[str]
    ) -> OnlineModels | None:
        """The inverse of ``save``, given all that a folder holds; refuses what does not fit.

        None for a folder of an earlier version, and without a ``method``.
        """
        if method is None or ONLINE not in state.facts:
            return None
        facts = state.facts[ONLINE]
        known = facts["normal_scores"]
        arrays = {
            name.removeprefix(PREFIX): array
            for name, array in state.arrays.items()
            if name.startswith(PREFIX)
        }
        if not isinstance(known, list) or len(known) != 1 + len(entities):
            raise InputError(f"normal_scores must be a list of {1 + len(entities)}; got {known!r}")
        require_number("threshold", facts["threshold"])
        pooled, *per_entity = map(NormalScores.from_dict, known)
        return cls(
            method.unpack(State(arrays, facts["learned"]), channels, entities),
            float(facts["threshold"]),
            threshold_from_dict(facts["threshold_rule"]),
            PerEntity(pooled, dict(zip(entities, per_entity, strict=True))),
        )


def without_online(arrays: Arrays) -> Arrays:
    """The arrays of a folder that are not for streams."""
    return {k: v for k, v in arrays.items() if not k.startswith((PREFIX, *EARLIER))}
