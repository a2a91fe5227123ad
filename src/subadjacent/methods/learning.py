"""Learn from series without their faults, and score their rows with them.

A fault in the training rows (a value of 9999 in a sine) is nothing to learn from, and yet an
anomaly that a user wants to hear of. Models see rows without faults; as none of them has seen one,
what they make of the rows as they came is what models make of rows that they had not seen.

Shapes: T rows, C channels.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.faults import set_aside
from subadjacent.data.series import TrainSeries
from subadjacent.methods.method import Fitted, Method, Model
from subadjacent.runtime import Runtime
from subadjacent.scoring.evidence import Reach
from subadjacent.scoring.habits import Habits, learn_all_habits

log = logging.getLogger(__name__)


class Learned(NamedTuple):
    """What a method came to, and what the channels of each entity usually do."""

    fitted: Fitted
    habits: PerEntity[Habits]


def learn(method: Method, series: Sequence[TrainSeries], run: Runtime) -> Learned:
    """What a method makes of series without their faults; scores are of the rows as they came."""
    learned = [set_aside(one) for one in series]
    fitted = method.fit([part.series for part in learned], run)
    scores = []
    for one, (_, faults), own in zip(series, learned, fitted.scores, strict=True):
        if faults is None:
            scores.append(own)
        else:
            _warn(one, faults)
            faulty = np.asarray(faults.any(axis=1))
            scores.append(_as_they_came(one, faulty, own, fitted.models.of(one.entity)))
    habits = learn_all_habits([part.series for part in learned])
    return Learned(fitted._replace(scores=scores), habits)


def _as_they_came(
    series: TrainSeries,
    faulty: NDArray[np.bool_],
    scores: NDArray[np.float64],
    model: Model,
) -> NDArray[np.float64]:
    """Scores of rows that a fault may reach, no lower than without it; others as they are."""
    found = scores.copy()
    for start, stop in series.stretches:
        rows = np.flatnonzero(faulty[start:stop])
        if len(rows):
            reached = start + np.flatnonzero(_reached(rows, stop - start, model.reach))
            raw = model.assess(series.values[start:stop]).score
            found[reached] = np.maximum(scores[reached], raw[reached - start])
    return found


def _reached(rows: NDArray[np.int64], length: int, reach: Reach) -> NDArray[np.bool_]:
    """Which of ``length`` rows have one of some rows among those that their score depends on."""
    changes = np.zeros(length + 1, dtype=np.int64)
    # the score of a row looks back as far as the row reaches ahead
    ahead = length if reach.after is None else reach.after
    np.add.at(changes, np.maximum(rows - ahead, 0), 1)
    np.add.at(changes, np.minimum(rows + reach.before + 1, length), -1)
    return np.asarray(np.cumsum(changes[:-1]) > 0)


def _warn(series: TrainSeries, faults: NDArray[np.bool_]) -> None:
    """Say which values were not learned from: those of one channel, and how many more have some."""
    channels = np.flatnonzero(faults.any(axis=0))
    worst = int(channels[faults[:, channels].sum(axis=0).argmax()])
    rows = np.flatnonzero(faults[:, worst])
    others = len(channels) - 1
    log.warning(
        "%d of %d values of %r%s%s lie far from all others, the first of them %s at %s: they are "
        "taken for faults and not learned from",
        len(rows),
        len(faults),
        series.channels[worst],
        f" of {series.entity}" if series.entity is not None else "",
        f", and some of {others} more channel{'s' if others > 1 else ''}," if others else "",
        series.values[rows[0], worst],
        series.label(int(rows[0])),
    )
