"""The threshold of one trace of the evidence, and its share of the requested false alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.decision.base_threshold import BaseThreshold, Threshold
from subadjacent.decision.calibration import fit_threshold
from subadjacent.decision.normal import NormalScores, normal_scores
from subadjacent.decision.threshold import (
    AutoRate,
    Quantile,
    requested_rate,
    threshold_from_dict,
)
from subadjacent.errors import InputError, require_number

# of the requested false alarms those that the strongest channel may raise. A jump stands far above
# either level, so that it loses little where it has less; with a half the score finds fewer weak
# anomalies of shape and state, with a tenth web services lose two points of F1 (reproduce/log.md,
# "What the strongest channel may raise")
STRONGEST_SHARE = 0.2

# the rarest false alarm that can be requested, in a row
MIN_RATE = 1e-12

# alarms in as many rows as were fitted on, where a rate does not depend on these
ANY_ROWS = 1e15

Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TraceThreshold:
    """The threshold of one trace of the evidence, and its normal scores, entity by entity.

    Parameters
    ----------
    threshold
        The score above which rows are anomalous, set in fitting or by hand.
    rule
        The rule that set it, unless it was changed by hand.
    normal
        Statistics of normal scores.
    """

    threshold: float
    rule: BaseThreshold | None
    normal: PerEntity[NormalScores]

    def level(self, entity: str | None) -> float:
        """The score of severity 1."""
        if isinstance(self.rule, AutoRate):
            return self.rule.level(self.normal.of(entity), self.normal.pooled)
        return self.threshold

    def period(self, entity: str | None) -> float:
        """Rows in which one false alarm is requested."""
        normal = self.normal.of(entity)
        if self.rule is not None and (risk := requested_rate(self.rule, normal.rows)):
            return 1 / risk
        return 1 / max(normal.tail.chance(self.level(entity)), MIN_RATE)

    def requesting(self, rate: float, entity: str | None, *, of_rows: bool) -> TraceThreshold:
        """The threshold of one entity for another rate: of false alarms, or of rows above it."""
        normal = self.normal.of(entity)
        if of_rows:
            return replace(self, threshold=normal.level_of_rows(rate), rule=Quantile(1 - rate))
        rule = AutoRate(ANY_ROWS, rate)
        return replace(self, threshold=rule.level(normal, self.normal.pooled), rule=rule)

    def to_dict(self) -> dict[str, Any]:
        """The threshold as JSON types."""
        return {
            "threshold": float(self.threshold),
            "rule": None if self.rule is None else self.rule.to_dict(),
            "normal": [scores.to_dict() for scores in self.normal],
        }

    @classmethod
    def load(cls, saved: Any, entities: Sequence[str]) -> TraceThreshold | None:
        """A saved threshold, or None where none was."""
        return None if saved is None else cls.from_dict(saved, entities)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any], entities: Sequence[str]) -> TraceThreshold:
        """The inverse of ``to_dict``; refuses what does not fit."""
        require_number("threshold", saved["threshold"])
        known = saved["normal"]
        if not isinstance(known, list) or len(known) != 1 + len(entities):
            raise InputError(f"normal must be a list of {1 + len(entities)}; got {known!r}")
        pooled, *per_entity = map(NormalScores.from_dict, known)
        rule = None if saved["rule"] is None else threshold_from_dict(saved["rule"])
        normal = PerEntity(pooled, dict(zip(entities, per_entity, strict=True)))
        return cls(float(saved["threshold"]), rule, normal)


def fit_strongest(
    threshold: Threshold, entities: Sequence[str | None], strongest: Sequence[Rows] | None
) -> tuple[Threshold, TraceThreshold | None]:
    """Fit the threshold of the strongest channel; return it, and what is left for the score.

    The strongest channel may raise ``STRONGEST_SHARE`` of the false alarms. A threshold that cannot
    be divided, or a model that does not tell the strongest channel, leaves all to the score.
    """
    if not isinstance(threshold, BaseThreshold) or strongest is None:
        return threshold, None
    own, rest = threshold.part(STRONGEST_SHARE), threshold.part(1 - STRONGEST_SHARE)
    if own is None or rest is None:
        return threshold, None
    cut, rule = fit_threshold(own, np.concatenate(strongest), warns=False)
    return rest, TraceThreshold(cut, rule, normal_scores(entities, strongest))
