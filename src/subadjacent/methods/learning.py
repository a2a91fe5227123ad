"""Learn from series without their faults, and score their rows with them.

A fault in the training rows (a value of 9999 in a sine) is nothing to learn from, and yet an
anomaly that a user wants to hear of. Models see rows without faults; as none of them has seen one,
what they make of the rows as they came is what models make of rows that they had not seen. Rows in
which a value is missing for long are not shown to them at all, and scored afterwards.

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
from subadjacent.data.missing import known_rows, only, stand_in
from subadjacent.data.series import TrainSeries
from subadjacent.methods.method import Fitted, Method, Model
from subadjacent.runtime import Runtime
from subadjacent.scoring.evidence import Reach
from subadjacent.scoring.habits import Habits, learn_all_habits

log = logging.getLogger(__name__)


class Learned(NamedTuple):
    """What a method came to, and what the channels of each entity usually do.

    ``causal`` is what the same method came to looking back only, where there is such a one; its
    scores are of the rows without faults. ``series`` are these rows.
    """

    fitted: Fitted
    habits: PerEntity[Habits]
    causal: Fitted | None
    series: list[TrainSeries]


def learn(method: Method, series: Sequence[TrainSeries], run: Runtime) -> Learned:
    """What a method makes of series without their faults; scores are of the rows as they came."""
    cleaned = [_Cleaned.of(one) for one in series]
    fitted, causal = method.fit_with_causal([one.learned for one in cleaned], run)
    return _learned(cleaned, fitted, causal)


def learn_each(method: Method, series: Sequence[TrainSeries], run: Runtime) -> list[Learned]:
    """What ``learn`` comes to for each of many series by itself, but for the causal method."""
    cleaned = [_Cleaned.of(one) for one in series]
    fits = method.fit_each([one.learned for one in cleaned], run)
    return [_learned([one], fit, None) for one, fit in zip(cleaned, fits, strict=True)]


class _Cleaned(NamedTuple):
    """A series, which of its rows are known (None: all), as they came and without faults."""

    series: TrainSeries
    known: NDArray[np.bool_] | None
    came: TrainSeries
    learned: TrainSeries
    faults: NDArray[np.bool_] | None

    @classmethod
    def of(cls, series: TrainSeries) -> _Cleaned:
        known = known_rows(series)
        came = only(series, known)
        return cls(series, known, came, *set_aside(came))


def _learned(cleaned: Sequence[_Cleaned], fitted: Fitted, causal: Fitted | None) -> Learned:
    """What was learned of series, with the scores of their rows as they came."""
    scores = []
    for (one, rows, came, _, faults), own in zip(cleaned, fitted.scores, strict=True):
        model, found = fitted.models.of(one.entity), own
        if one.missing is not None:
            _warn_of_missing(one, one.missing, left_out=rows is not None)
        if faults is not None:
            _warn(one, faults if rows is None else _spread(faults, rows))
            found = _as_they_came(came, np.asarray(faults.any(axis=1)), own, model)
        scores.append(found if rows is None else _with_missing(one, rows, found, model))
    learned = [one.learned for one in cleaned]
    return Learned(fitted._replace(scores=scores), learn_all_habits(learned), causal, learned)


def _spread(found: NDArray[np.bool_], rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What was found in some rows, among all; nothing in the others."""
    spread = np.zeros((len(rows), found.shape[1]), dtype=bool)
    spread[rows] = found
    return spread


def _with_missing(
    series: TrainSeries, known: NDArray[np.bool_], scores: NDArray[np.float64], model: Model
) -> NDArray[np.float64]:
    """Scores of all rows, given those of the known ones."""
    found = np.empty(len(series))
    found[known] = scores
    filled = stand_in(series, model.typical_values).values
    for start, stop in series.parts:
        if not known[start]:
            found[start:stop] = model.assess(filled[start:stop]).score
    return found


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


def _warn_of_missing(series: TrainSeries, missing: NDArray[np.bool_], *, left_out: bool) -> None:
    """Say how many values were missing for long, and whether their rows were learned from."""
    worst, rows, others = _most(missing)
    log.warning(
        "%d of %d values of %r%s%s are missing in gaps longer than fill_limit, the first of them "
        "at %s: these rows are alarms, and %s",
        len(rows),
        len(missing),
        series.channels[worst],
        f" of {series.entity}" if series.entity is not None else "",
        others,
        series.label(int(rows[0])),
        "not learned from" if left_out else "too many to leave out: learned from with gaps filled",
    )


def _warn(series: TrainSeries, faults: NDArray[np.bool_]) -> None:
    """Say which values were not learned from: those of one channel, and how many more have some."""
    worst, rows, others = _most(faults)
    log.warning(
        "%d of %d values of %r%s%s lie far from all others, the first of them %s at %s: they are "
        "taken for faults and not learned from",
        len(rows),
        len(faults),
        series.channels[worst],
        f" of {series.entity}" if series.entity is not None else "",
        others,
        series.values[rows[0], worst],
        series.label(int(rows[0])),
    )


def _most(found: NDArray[np.bool_]) -> tuple[int, NDArray[np.intp], str]:
    """The channel that has most of what was found, in which rows, and how many more have some."""
    counts = found.sum(axis=0)
    worst, others = int(counts.argmax()), int((counts > 0).sum()) - 1
    more = f", and some of {others} more channel{'s' if others > 1 else ''}," if others else ""
    return worst, np.flatnonzero(found[:, worst]), more
