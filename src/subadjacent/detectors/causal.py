"""The causal twin of a detector: it looks back only, so that its scores are final at once.

A detector that looks ahead has the final score of a row only when later rows have arrived. Its
twin is fitted to the same rows with the same settings but for the look-ahead, and has a threshold
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.errors import InputError, require_number
from subadjacent.methods.method import Arrays, Fitted, Method, Model, State
from subadjacent.scoring.base_threshold import BaseThreshold, Threshold
from subadjacent.scoring.calibration import fit_threshold
from subadjacent.scoring.decision import Decision, TraceThreshold
from subadjacent.scoring.normal import NormalScores, normal_scores
from subadjacent.scoring.threshold import threshold_from_dict

# before the names of its arrays in a model folder
PREFIX = "causal."


@dataclass(frozen=True, slots=True, eq=False)
class CausalTwin:
    """The same detector with ``lookahead=0``, fitted to the same rows.

    Parameters
    ----------
    models
        One an entity; ``models.of(entity).stream()`` scores rows as they arrive, each at once.
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
    def of(cls, fitted: Fitted, entities: Sequence[str | None], threshold: Threshold) -> CausalTwin:
        """Make the twin from a fit; the threshold is fitted to the held-out scores."""
        # the detector itself has already warned of too few rows
        cut, rule = fit_threshold(threshold, np.concatenate(fitted.held_out), warns=False)
        return cls(fitted.models, cut, rule, normal_scores(entities, fitted.held_out))

    def decision(self, adapt_after: int | None) -> Decision:
        """How its scores are judged."""
        score = TraceThreshold(self.threshold, self.rule, self.normal_scores)
        return Decision(score, None, adapt_after)

    def save(self, method: Method, beside: Arrays) -> State:
        """Arrays and facts; arrays that are the same among ``beside`` are not kept twice."""
        arrays, learned = method.pack(self.models)
        shared = [name for name, array in arrays.items() if _same(array, beside.get(name))]
        facts = {
            "threshold": float(self.threshold),
            "threshold_rule": self.rule.to_dict(),
            "normal_scores": [entity_scores.to_dict() for entity_scores in self.normal_scores],
            "shared": shared,
            "learned": learned,
        }
        own_arrays = {f"{PREFIX}{name}": arrays[name] for name in arrays if name not in shared}
        return State(own_arrays, facts)

    @classmethod
    def load(
        cls, state: State, method: Method, channels: int, entities: Sequence[str]
    ) -> CausalTwin:
        """The inverse of ``save``, given all arrays of the folder; refuses what does not fit."""
        arrays, facts = state
        own_arrays = {k.removeprefix(PREFIX): v for k, v in arrays.items() if k.startswith(PREFIX)}
        own_arrays |= {name: arrays[name] for name in facts["shared"]}
        known = facts["normal_scores"]
        if not isinstance(known, list) or len(known) != 1 + len(entities):
            raise InputError(f"normal_scores must be a list of {1 + len(entities)}; got {known!r}")
        require_number("threshold", facts["threshold"])
        pooled, *per_entity = map(NormalScores.from_dict, known)
        return cls(
            method.unpack(State(own_arrays, facts["learned"]), channels, entities),
            float(facts["threshold"]),
            threshold_from_dict(facts["threshold_rule"]),
            PerEntity(pooled, dict(zip(entities, per_entity, strict=True))),
        )


def _same(array: NDArray[Any], other: NDArray[Any] | None) -> bool:
    return other is not None and array.dtype == other.dtype and np.array_equal(array, other)
