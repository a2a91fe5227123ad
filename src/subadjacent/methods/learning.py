"""Learn from series without their faults, and score their rows with them.

A fault in the training rows (a value of 9999 in a sine) must not be learned, and yet it is an
anomaly that a user wants to hear of. Models are therefore fitted to rows without faults. As no
model has seen a fault, the scores that they give to the original rows are scores of unseen rows.
Rows in which a value is missing for long are left out of the fit, and scored afterwards.

Shapes: T rows, C channels.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.faults import replace_faults
from subadjacent.data.missing import replace_missing, select_rows, usable_rows
from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import BaselineProfiles
from subadjacent.decision.evidence import Reach
from subadjacent.decision.learn_profiles import learn_entity_profiles
from subadjacent.methods.method import Fitted, Method, Model
from subadjacent.runtime import Runtime

log = logging.getLogger(__name__)


class Learned(NamedTuple):
    """A fitted method, the profiles of each entity's channels, and the rows without faults."""

    fitted: Fitted
    profiles: PerEntity[BaselineProfiles]
    series: list[TrainSeries]


def learn(method: Method, series: Sequence[TrainSeries], run: Runtime) -> Learned:
    """Fit a method to series without their faults; the scores are of the original rows."""
    cleaned = [_Cleaned.of(one_series) for one_series in series]
    return _learned(cleaned, method.fit([item.learned for item in cleaned], run))


def learn_each(method: Method, series: Sequence[TrainSeries], run: Runtime) -> list[Learned]:
    """Do as ``learn`` for each series by itself."""
    cleaned = [_Cleaned.of(one_series) for one_series in series]
    fits = method.fit_each([item.learned for item in cleaned], run)
    return [_learned([item], fit) for item, fit in zip(cleaned, fits, strict=True)]


class _Cleaned(NamedTuple):
    """A series, which of its rows are known (None: all), and these with and without faults."""

    series: TrainSeries
    known: NDArray[np.bool_] | None
    with_faults: TrainSeries
    learned: TrainSeries
    faults: NDArray[np.bool_] | None

    @classmethod
    def of(cls, series: TrainSeries) -> _Cleaned:
        known = usable_rows(series)
        with_faults = select_rows(series, known)
        return cls(series, known, with_faults, *replace_faults(with_faults))


def _learned(cleaned: Sequence[_Cleaned], fitted: Fitted) -> Learned:
    """The result of a fit, with the scores of the original rows."""
    scores = []
    for (one_series, known, with_faults, _, faults), clean_scores in zip(
        cleaned, fitted.scores, strict=True
    ):
        model, row_scores = fitted.models.of(one_series.entity), clean_scores
        if one_series.missing is not None:
            _warn_of_missing(one_series, one_series.missing, left_out=known is not None)
        if faults is not None:
            _warn_of_faults(one_series, faults if known is None else _in_all_rows(faults, known))
            row_scores = _with_faults(
                with_faults, np.asarray(faults.any(axis=1)), clean_scores, model
            )
        scores.append(
            row_scores if known is None else _with_missing(one_series, known, row_scores, model)
        )
    learned = [item.learned for item in cleaned]
    return Learned(fitted._replace(scores=scores), learn_entity_profiles(learned), learned)


def _in_all_rows(faults: NDArray[np.bool_], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Faults of the known rows as a mask of all rows; the others have none."""
    mask = np.zeros((len(known), faults.shape[1]), dtype=bool)
    mask[known] = faults
    return mask


def _with_missing(
    series: TrainSeries, known: NDArray[np.bool_], scores: NDArray[np.float64], model: Model
) -> NDArray[np.float64]:
    """Scores of all rows, given the scores of the known ones."""
    all_scores = np.empty(len(series))
    all_scores[known] = scores
    filled = replace_missing(series, model.typical_values).values
    for start, stop in series.parts:
        if not known[start]:
            all_scores[start:stop] = model.assess(filled[start:stop]).score
    return all_scores


def _with_faults(
    series: TrainSeries,
    faulty: NDArray[np.bool_],
    scores: NDArray[np.float64],
    model: Model,
) -> NDArray[np.float64]:
    """Scores of the original rows: where a fault may have an effect, no lower than without it."""
    raised = scores.copy()
    for start, stop in series.segments:
        rows = np.flatnonzero(faulty[start:stop])
        if len(rows):
            reached = start + np.flatnonzero(_reached(rows, stop - start, model.reach))
            raw = model.assess(series.values[start:stop]).score
            raised[reached] = np.maximum(scores[reached], raw[reached - start])
    return raised


def _reached(rows: NDArray[np.int64], length: int, reach: Reach) -> NDArray[np.bool_]:
    """Which of ``length`` rows have a score that depends on any of ``rows``."""
    changes = np.zeros(length + 1, dtype=np.int64)
    # the score of a row looks back as far as the row reaches ahead
    ahead = length if reach.after is None else reach.after
    np.add.at(changes, np.maximum(rows - ahead, 0), 1)
    np.add.at(changes, np.minimum(rows + reach.before + 1, length), -1)
    return np.asarray(np.cumsum(changes[:-1]) > 0)


def _warn_of_missing(series: TrainSeries, missing: NDArray[np.bool_], *, left_out: bool) -> None:
    """Say how many values were missing for long, and whether their rows were learned from."""
    worst, rows, more = _most(missing)
    log.warning(
        "%d of %d values of %r%s%s are missing in gaps longer than fill_limit, the first of them "
        "at %s: these rows are alarms, and %s",
        len(rows),
        len(missing),
        series.channels[worst],
        f" of {series.entity}" if series.entity is not None else "",
        more,
        series.label(int(rows[0])),
        "not learned from" if left_out else "too many to leave out: learned from with gaps filled",
    )


def _warn_of_faults(series: TrainSeries, faults: NDArray[np.bool_]) -> None:
    """Say which values were not learned from: those of the worst channel, and how many others."""
    worst, rows, more = _most(faults)
    log.warning(
        "%d of %d values of %r%s%s lie far from all others, the first of them %s at %s: they are "
        "taken for faults and not learned from",
        len(rows),
        len(faults),
        series.channels[worst],
        f" of {series.entity}" if series.entity is not None else "",
        more,
        series.values[rows[0], worst],
        series.label(int(rows[0])),
    )


def _most(flags: NDArray[np.bool_]) -> tuple[int, NDArray[np.intp], str]:
    """The channel with most flags, its flagged rows, and a phrase for the other channels."""
    counts = flags.sum(axis=0)
    worst, further = int(counts.argmax()), int((counts > 0).sum()) - 1
    more = f", and some of {further} more channel{'s' if further > 1 else ''}," if further else ""
    return worst, np.flatnonzero(flags[:, worst]), more
