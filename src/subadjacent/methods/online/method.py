"""The online method: a learner is led through the training rows, and what lasts is fitted to them.

Shapes: T rows of a series, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.normal import normal_scores
from subadjacent.decision.quantiles import quantiles
from subadjacent.errors import InputError
from subadjacent.methods.method import Fitted, Method, Model, State, split_names
from subadjacent.methods.online.lasting import LastingViews
from subadjacent.methods.online.learner import WARM_UP, Learner
from subadjacent.methods.online.learning_rule import CLOSE_AFTER
from subadjacent.methods.online.model import LASTING, OnlineModel
from subadjacent.methods.online.stream import Watcher
from subadjacent.methods.views.method import ViewsMethod, worth_spreading
from subadjacent.methods.views.outliers import outlier_free
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.runtime import Progress, Runtime, in_turn

Array = NDArray[np.float64]

SHARE = 0.99
"""Share of normal rows with less surprise than the unit."""

MIN_UNIT = 1.0
"""The least unit, of surprise and of what lasts: rows that do nothing have hardly any."""

ROWS_BEYOND = 20
"""Normal rows beyond the unit of what lasts: the rarest level that they can tell. A series that
drifts has many such rows, and drifts on. With a hundredth of the rows beyond it, as for surprise,
web services have two points of average precision less (benchmarks/reports/online.csv)."""

BLOCK = 4_096
"""Rows that are watched at a time, so that memory does not grow with the training rows."""


class LastRows(NamedTuple):
    """How many of the last rows of each series to learn from, where not from all.

    Parameters
    ----------
    watched
        Rows that the learner is led through: about as many as it remembers.
    values, total_values
        Values of these rows, of one series and of all.
    lasting
        Rows that the views of what lasts are fitted to.
    """

    watched: int = 2_000
    values: int = 100_000
    total_values: int = 1_000_000
    lasting: int = 6_000

    def to_watch(self, series: int, channels: int) -> int:
        """Rows to watch of each of ``series`` series, within the budgets of values."""
        values = min(self.values, self.total_values // series)
        return max(min(self.watched, values // channels), 1)


@dataclass(frozen=True, slots=True)
class OnlineMethod(Method):
    """Leads a learner through the rows of each entity, and fits the views of what lasts.

    Parameters
    ----------
    lasting
        Settings of these views, of which look-ahead and smoothing do not count; None for a learner
        alone.
    rows
        The last rows to learn from; None for all. Scores are those of rows that both parts have.
    """

    lasting: ViewSettings | None = field(default_factory=ViewSettings)
    rows: LastRows | None = None

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        """Learn from the series; scores are those of rows before they were learned from."""
        lasting, normal = self._fit_lasting(series, run), None
        if lasting is not None:
            entities = [one_series.entity for one_series in series]
            normal = normal_scores(entities, lasting.held_out)
        watched = self._rows_to_watch(series)
        spread = run.map if worth_spreading(watched) else in_turn
        fits = []
        for number, result in enumerate(spread(_watch, watched)):
            fit = _fit_of(result, series[number])
            if lasting is not None and normal is not None:
                entity = series[number].entity
                views = LastingViews(lasting.models.of(entity), MIN_UNIT, normal.of(entity))
                fit = _with_lasting(fit, views, lasting.scores[number])
            fits.append(fit)
            run.watch(Progress("watching", number + 1, len(series), "entities"))
        models: dict[str, Model] = {
            one_series.entity: fit.model
            for one_series, fit in zip(series, fits, strict=True)
            if one_series.entity is not None
        }
        pooled = fits[0].model
        if len(fits) > 1:
            unseen = None
            if lasting is not None and normal is not None:
                unseen = LastingViews(lasting.models.pooled, MIN_UNIT, normal.pooled)
            pooled = _unseen(unseen, fits)
        return Fitted(
            PerEntity(pooled, models),
            [fit.scores for fit in fits],
            [fit.scores[fit.normal] for fit in fits],
        )

    def _fit_lasting(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted | None:
        views = self._views()
        if views is None:
            return None
        count = None if self.rows is None else self.rows.lasting
        return views.fit([last_rows(one_series, count) for one_series in series], run)

    def _rows_to_watch(self, series: Sequence[TrainSeries]) -> list[TrainSeries]:
        if self.rows is None:
            return list(series)
        count = self.rows.to_watch(len(series), series[0].values.shape[1])
        return [last_rows(one_series, count) for one_series in series]

    def restore(self, state: State, channels: int) -> Model:
        """A model from its saved state."""
        if "typical_values" not in state.arrays or "lasting_unit" in state.facts:
            raise InputError(
                "lookahead=0 was another method before version 0.3, whose models are not read; fit "
                "the detector anew"
            )
        lasting, views = None, self._views()
        if views is not None and LASTING in state.facts:
            arrays, facts = split_names(state.arrays)[LASTING], state.facts[LASTING]
            model = views.restore(State(arrays, facts["views"]), channels)
            lasting = LastingViews.of_facts(model, facts)
        return OnlineModel.restore(state, channels, lasting)

    def _views(self) -> ViewsMethod | None:
        """The same views, looking back only and without an average over rows."""
        if self.lasting is None:
            return None
        settings = replace(self.lasting, lookahead=0, smoothing=1)
        # beside a detector that looks ahead, which has said so already
        return ViewsMethod(settings, quiet=self.rows is not None)


class _WatchedSeries(NamedTuple):
    """The learner after the rows of a series, and the surprise of these rows, (T,)."""

    learner: Learner
    surprise: Array


class _EntityFit(NamedTuple):
    """The model of an entity, the scores of its rows, and which of them are normal; (T,) both."""

    model: OnlineModel
    scores: Array
    normal: NDArray[np.bool_]


def _watch(series: TrainSeries) -> _WatchedSeries:
    """Lead a learner through a series."""
    watcher = Watcher(Learner(series.values.shape[1]))
    surprise = []
    for start, stop in series.segments:
        if start:
            watcher.learner.gap(None)
        for first in range(start, stop, BLOCK):
            rows = np.asarray(series.values[first : min(first + BLOCK, stop)], dtype=np.float64)
            surprise.append(watcher.watch(rows).assessment.surprise)
    watcher.learner.learn()
    return _WatchedSeries(watcher.learner, np.concatenate(surprise))


def _fit_of(watched: _WatchedSeries, series: TrainSeries) -> _EntityFit:
    """The model of an entity without views of what lasts."""
    learner, surprise = watched
    normal = np.arange(len(surprise)) >= min(WARM_UP, len(surprise) // 2)
    normal[normal] = outlier_free(surprise[normal], CLOSE_AFTER)
    unit = _level(surprise[normal], SHARE)
    typical = np.asarray(series.values.mean(axis=0), dtype=np.float64)
    return _EntityFit(OnlineModel.of(learner, typical, unit), surprise / unit, normal)


def _with_lasting(fit: _EntityFit, lasting: LastingViews, lasting_scores: Array) -> _EntityFit:
    """The same with views of what lasts; their score has the unit of normal rows as well."""
    count = min(len(fit.scores), len(lasting_scores))
    scores, normal = fit.scores[-count:], fit.normal[-count:].copy()
    lasting_scores = lasting_scores[-count:]
    normal[normal] = outlier_free(scores[normal] + lasting_scores[normal], CLOSE_AFTER)
    unit = _level(lasting_scores[normal], max(1 - ROWS_BEYOND / count, SHARE))
    model = replace(
        fit.model,
        typical_values=np.asarray(lasting.views.typical_values, dtype=np.float64),
        lasting=lasting._replace(unit=unit),
    )
    return _EntityFit(model, scores + lasting_scores / unit, normal)


def _level(scores: Array, share: float) -> float:
    return max(quantiles(scores, (share,))[0], MIN_UNIT)


def _unseen(lasting: LastingViews | None, fits: Sequence[_EntityFit]) -> OnlineModel:
    """The model of unseen entities: its learner starts from nothing, for it has no past of theirs.

    What lasts is a distance from the rows of all entities.
    """
    unit = float(np.median([fit.model.unit for fit in fits]))
    typical = np.mean([fit.model.typical_values for fit in fits], axis=0)
    if lasting is not None:
        typical = np.asarray(lasting.views.typical_values, dtype=np.float64)
        units = [fit.model.lasting.unit for fit in fits if fit.model.lasting is not None]
        lasting = lasting._replace(unit=float(np.median(units)))
    return OnlineModel(typical, None, unit, lasting)


def last_rows(series: TrainSeries, count: int | None) -> TrainSeries:
    """The last ``count`` rows of a series; None for all."""
    if count is None or len(series) <= count:
        return series
    first = len(series) - count
    starts = [start - first for start in series.starts if start > first]
    return replace(
        series,
        values=series.values[first:],
        starts=(0, *starts),
        index=None,
    )
