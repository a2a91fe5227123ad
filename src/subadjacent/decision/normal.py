"""Statistics of an entity's normal scores: how often they rise above a level, and how high."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.decision.extremes import Tail, fit_tail
from subadjacent.decision.quantiles import quantiles
from subadjacent.errors import require_number, require_whole

# share of normal rows that score below ``high``. Below that no row is ever an alarm of "auto"
HIGH_QUANTILE = 0.99
# the tail of normal scores is that of excursions above this quantile. 0.95 finds fewer anomalies of
# shape, 0.9 fewer still; on data sets with labels it makes no difference (the log, "Decisions
# that hold")
TAIL_QUANTILE = 0.98
# rows above a level with fewer rows than this between them are one excursion: scores are averages
# over 20 rows. Twice or four times as much changes little (same entry)
EXCURSION_GAP = 25
# fewer held-out rows than this do not tell what an entity's scores are like: all entities do
MIN_ROWS = 100


@dataclass(frozen=True, slots=True)
class NormalScores:
    """Statistics of normal scores, from held-out rows.

    Parameters
    ----------
    typical
        The median.
    high
        The score that one row in a hundred exceeds.
    spread
        The standard deviation.
    rows
        The number of held-out rows.
    tail
        How often excursions begin, and how high they rise.
    """

    typical: float
    high: float
    spread: float
    rows: int
    tail: Tail

    def __post_init__(self) -> None:
        for name in ("typical", "high"):
            require_number(name, getattr(self, name))
        require_number("spread", self.spread, least=0)
        require_whole("rows", self.rows, least=1)

    @classmethod
    def of(cls, scores: NDArray[np.float64]) -> Self:
        """The statistics of scores of held-out rows, in time order."""
        typical, high = quantiles(scores, (0.5, HIGH_QUANTILE))
        tail = fit_tail(scores, TAIL_QUANTILE, EXCURSION_GAP)
        return cls(typical, high, float(np.std(scores)), len(scores), tail)

    def level_of_rows(self, share: float) -> float:
        """The score that this share of normal rows exceeds, by the statistics alone.

        Between a typical score and the tail it is interpolated in the logarithm of the share.
        """
        in_tail = 1 - TAIL_QUANTILE
        if share <= in_tail:
            return self.tail.level(share / in_tail * self.tail.rate) if share else self.tail.base
        way = (np.log(0.5) - np.log(min(share, 0.5))) / (np.log(0.5) - np.log(in_tail))
        return float(self.typical + way * (self.tail.base - self.typical))

    def to_dict(self) -> dict[str, Any]:
        """The statistics as JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Self:
        """The inverse of ``to_dict``; refuses what does not fit."""
        numbers = {name: saved[name] for name in ("typical", "high", "spread", "rows")}
        return cls(**numbers, tail=Tail(**saved["tail"]))


def normal_scores(
    entities: Sequence[str | None], held_out: Sequence[NDArray[np.float64]]
) -> PerEntity[NormalScores]:
    """Statistics of the scores of every entity that has a name, and of all rows together.

    An entity with few held-out rows gets those of all.
    """
    pooled = NormalScores.of(np.concatenate(held_out))
    # an entity never seen counts as having the median number of held-out rows
    rows = int(np.median([len(scores) for scores in held_out]))
    unseen = NormalScores(
        pooled.typical, pooled.high, pooled.spread, max(rows, MIN_ROWS), pooled.tail
    )

    def scores_of(scores: NDArray[np.float64]) -> NormalScores:
        # a single entity is all of them: no second fit
        return pooled if len(held_out) == 1 else NormalScores.of(scores)

    return PerEntity(
        unseen,
        {
            entity: scores_of(scores) if len(scores) >= MIN_ROWS else unseen
            for entity, scores in zip(entities, held_out, strict=True)
            if entity is not None
        },
    )
