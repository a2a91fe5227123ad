"""The default's method: views of every entity, in the entity's own unit.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import Scaler, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.methods.method import Fitted, Method, Model, State
from subadjacent.methods.views.combine import smoothed, smoothing_lengths
from subadjacent.methods.views.entity import EntityViews, ViewsModel
from subadjacent.methods.views.fit import Common, ViewsFit, fit_views, fit_views_of_many
from subadjacent.methods.views.saved import restore
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.ridge.band import FAR_CLIP
from subadjacent.runtime import Progress, Runtime, Watch, ignore, in_turn
from subadjacent.scoring.outliers import apart_from_outliers, level_folds
from subadjacent.scoring.quantiles import quantiles
from subadjacent.scoring.usual_fit import FOLDS

log = logging.getLogger(__name__)

# the share of normal rows that scores below an entity's unit
SHARE = 0.99
# the unit of an entity that hardly anything ever surprised
LEAST_UNIT = 2e-3
# rows and entities that the model for entities never seen learns from: more of them take longer
# than all the rest of a fleet (docs/log.md, "The linear default rebuilt")
POOLED_ROWS, POOLED_ENTITIES = 20_000, 40
# so many entities, or values in several of them, are worth several processes
MANY_ENTITIES, MANY_VALUES = 100, 5_000_000
# fewer rows than this are refused
FEWEST_ROWS = 8
# more channels than this are refused: each is held against all others, which takes steps that grow
# with the cube of their number and memory that grows with its square. 2,000 rows of so many take
# minutes on two cores and 3 GB
MOST_CHANNELS = 2_000
# an unbroken stretch of fewer times the band's reach has little to learn from
FEW_ROWS = 5
# rows that have nothing to do with each other, of which fewer promise nothing: with 8 to 33 of them
# some processes have 5 to 15 times the alarms asked for, with more none has more than 3 times
# (docs/log.md, "What contamination promises")
FEWEST_INDEPENDENT = 40


@dataclass(frozen=True, slots=True)
class ViewsMethod(Method):
    """Learns views of each entity, and of all together for entities never seen."""

    settings: ViewSettings = field(default_factory=ViewSettings)

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        """Learn; scores of training rows are those of models that had not seen them."""
        return self.fitted(series, self.fit_entities(series, run))

    def causal(self) -> ViewsMethod | None:
        """The same views with a look-ahead of 0."""
        if self.settings.lookahead == 0:
            return None
        return ViewsMethod(replace(self.settings, lookahead=0))

    def fit_with_causal(
        self, series: Sequence[TrainSeries], run: Runtime
    ) -> tuple[Fitted, Fitted | None]:
        """Learn both; what does not depend on the look-ahead is learned once."""
        causal = self.causal()
        if causal is None:
            return self.fit(series, run), None
        own, other = self._fit_all(series, run, (self.settings, causal.settings))
        return self.fitted(series, own), causal.fitted(series, other)

    def fit_each(self, series: Sequence[TrainSeries], run: Runtime) -> list[Fitted]:
        """Learn from each series by itself; those of one shape together, which is quicker."""
        found: list[Fitted | None] = [None] * len(series)
        alike: dict[tuple[object, ...], list[int]] = {}
        for place, one in enumerate(series):
            alike.setdefault((one.values.shape, one.starts), []).append(place)
        for places in alike.values():
            together = [series[place] for place in places]
            for place, fitted in zip(places, self._fit_alike(together), strict=True):
                found[place] = fitted
            run.watch(
                Progress("fitting", sum(one is not None for one in found), len(series), "entities")
            )
        return [one for one in found if one is not None]

    def _fit_alike(self, series: Sequence[TrainSeries]) -> Iterator[Fitted]:
        """The same of series of one shape."""
        for one in series:
            _check_channels([one])
            _check_rows([one], self.settings.far)
        scalers = [fit_scalers([one], FAR_CLIP) for one in series]
        parts = [
            [scaler.pooled.apply(one.values[start:stop]) for start, stop in one.stretches]
            for one, scaler in zip(series, scalers, strict=True)
        ]
        views = fit_views_of_many(parts, self.settings)
        for one, scaler, fit in zip(series, scalers, views, strict=True):
            own = in_own_unit(fit, self.settings)
            _warn_of_no_views([one], [own])
            _warn_of_few_rows([one], [own])
            yield self.fitted([one], EntityFits(scaler, [own], fit.entity))

    def fit_entities(self, series: Sequence[TrainSeries], run: Runtime) -> EntityFits:
        """Learn the views of every entity, and of all together."""
        return self._fit_all(series, run, (self.settings,))[0]

    def _fit_all(
        self, series: Sequence[TrainSeries], run: Runtime, settings: tuple[ViewSettings, ...]
    ) -> list[EntityFits]:
        """The same with each of some settings, of which these are the first."""
        _check_channels(series)
        _check_rows(series, self.settings.far)
        scalers = fit_scalers(series, FAR_CLIP)
        # of many entities, those that are done are counted; of a single one, its rows
        single = len(series) == 1
        tasks = [
            # other processes have no use for labels of rows
            _EntityTask(
                replace(one, index=None),
                scalers.of(one.entity),
                settings,
                run.watch if single else ignore,
            )
            for one in series
        ]
        spread = run.map if _worth_spreading(series) else in_turn
        together = [task._replace(settings=settings) for task in self._pooled_task(series, scalers)]
        fits: list[list[EntityFit]] = []
        for fit in spread(_fit_entity, [*tasks, *together]):
            fits.append(fit)
            if len(fits) <= len(tasks) and not single:
                run.watch(Progress("fitting", len(fits), len(tasks), "entities"))
        by_settings = list(zip(*fits, strict=True))
        _warn_of_no_views(series, by_settings[0])
        _warn_of_few_rows(series, by_settings[0])
        # the model for entities never seen comes last; a single series serves them itself
        return [
            EntityFits(scalers, list(each[: len(tasks)]), each[-1].views.entity)
            for each in by_settings
        ]

    def fitted(self, series: Sequence[TrainSeries], fits: EntityFits) -> Fitted:
        """The models, each in its entity's own unit."""
        scalers, entities, pooled = fits
        models: dict[str, Model] = {
            one.entity: ViewsModel(
                self.settings, scalers.of(one.entity), fit.views.entity, fit.unit
            )
            for one, fit in zip(series, entities, strict=True)
            if one.entity is not None
        }
        unit = float(np.median([fit.unit for fit in entities]))
        return Fitted(
            PerEntity(ViewsModel(self.settings, scalers.pooled, pooled, unit), models),
            [fit.scores for fit in entities],
            [fit.held_out for fit in entities],
        )

    def _pooled_task(
        self, series: Sequence[TrainSeries], scalers: PerEntity[Scaler]
    ) -> list[_EntityTask]:
        """All entities together, on the scale that an unknown one will have."""
        if len(series) == 1:
            return []
        some = series[:: -(-len(series) // POOLED_ENTITIES)]
        most = max(POOLED_ROWS // len(some), 2 * self.settings.far)
        parts = [rows for one in some for rows in _last_stretches(one, most)]
        starts = np.cumsum([0, *map(len, parts)])[:-1]
        together = TrainSeries(np.concatenate(parts), starts=tuple(starts.tolist()))
        return [_EntityTask(together, scalers.pooled, (self.settings,))]

    def restore(self, state: State, channels: int) -> Model:
        """A model from its saved state."""
        return restore(state, channels, self.settings)


class _EntityTask(NamedTuple):
    """An entity to be fitted with each of some settings: all that another process needs."""

    series: TrainSeries
    scaler: Scaler
    settings: tuple[ViewSettings, ...]
    watch: Watch = ignore


class EntityFit(NamedTuple):
    """An entity's views, its unit, and scores of its training rows in this unit."""

    views: ViewsFit
    unit: float
    scores: NDArray[np.float64]
    held_out: NDArray[np.float64]


class EntityFits(NamedTuple):
    """Scales and fits of all entities, and the views of all together."""

    scalers: PerEntity[Scaler]
    entities: list[EntityFit]
    pooled: EntityViews


def _fit_entity(task: _EntityTask) -> list[EntityFit]:
    series, scaler, settings, watch = task
    parts = [scaler.apply(series.values[start:stop]) for start, stop in series.stretches]
    common = Common(parts)

    def told(number: int) -> Watch:
        def tell(done: Progress) -> None:
            so_far = (number * done.total + done.done) // len(settings)
            watch(replace(done, done=so_far))

        return tell

    return [
        in_own_unit(fit_views(parts, each, told(number), common), each)
        for number, each in enumerate(settings)
    ]


def in_own_unit(fit: ViewsFit, settings: ViewSettings) -> EntityFit:
    """Scores of an entity's rows in units of what one normal row in a hundred exceeds.

    Unit and threshold are judged by rows without outliers alone. Which rows are outliers is told by
    the views that expect values; windows spread them over many more rows.
    """
    reach = max(smoothing_lengths(settings.smoothing))

    def level(rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        scores = [smoothed(part, settings.smoothing, settings.ahead.score) for part in rows]
        return level_folds(np.concatenate(scores), FOLDS, reach)

    shapes = fit.entity.shapes
    window = 0 if shapes is None else sum(shapes.reach) // 2
    normal = apart_from_outliers(level(fit.expecting), reach, reach + window)
    scores = level(fit.unseen)
    unit = max(quantiles(scores[normal], (SHARE,))[0], LEAST_UNIT)
    return EntityFit(fit, unit, scores / unit, scores[normal] / unit)


def _last_stretches(series: TrainSeries, most: int) -> list[NDArray[np.float64]]:
    """The last rows of a series, so many in all, by stretch."""
    kept: list[NDArray[np.float64]] = []
    for start, stop in reversed(series.stretches):
        if most <= 0:
            break
        kept.append(series.values[max(start, stop - most) : stop])
        most -= stop - start
    return kept[::-1]


def _worth_spreading(series: Sequence[TrainSeries]) -> bool:
    """Whether fitting takes longer than starting processes for it."""
    values = sum(one.values.size for one in series)
    return len(series) >= MANY_ENTITIES or (len(series) > 1 and values >= MANY_VALUES)


def _warn_of_no_views(series: Sequence[TrainSeries], fits: Sequence[EntityFit]) -> None:
    """Say of which entities the chosen views know nothing."""
    for one, fit in zip(series, fits, strict=False):
        if not fit.views.entity.expecting and not fit.views.entity.seeking:
            log.warning(
                "none of the chosen views can judge %s, of %d rows and %d channels: its scores "
                "are 0; views='all' has views for any rows",
                one.entity or "the series",
                *one.values.shape,
            )


def _warn_of_few_rows(series: Sequence[TrainSeries], fits: Sequence[EntityFit]) -> None:
    """Say where too few rows were given to promise how many alarms will come."""
    few = [
        (fit.views.independent, one)
        for one, fit in zip(series, fits, strict=False)
        if fit.views.independent < FEWEST_INDEPENDENT
    ]
    if few:
        independent, one = min(few, key=lambda pair: pair[0])
        log.warning(
            "%d of %d series have too few rows to promise how many alarms will come: the %d rows "
            "of %s say as much as %d that have nothing to do with each other, and %d are needed; "
            "expect several times as many alarms as contamination asks for, or none",
            *(len(few), len(series), len(one), one.entity or "the series"),
            *(round(independent), FEWEST_INDEPENDENT),
        )


def _check_channels(series: Sequence[TrainSeries]) -> None:
    channels = series[0].values.shape[1]
    if channels > MOST_CHANNELS:
        raise InputError.of(
            "X",
            f"must have at most {MOST_CHANNELS:,} channels, each of which is held against all "
            f"others",
            f"got {channels:,}",
            "fit groups of them that belong together, each by itself",
        )


def _check_rows(series: Sequence[TrainSeries], far: int) -> None:
    longest = max(map(len, series))
    if longest < FEWEST_ROWS:
        raise InputError.of(
            "X",
            f"must have at least {FEWEST_ROWS} rows",
            f"the longest series has n_samples={longest}",
        )
    stretch = max(stop - start for one in series for start, stop in one.stretches)
    if stretch < FEW_ROWS * far:
        log.warning(
            "the longest unbroken stretch has %d rows, few for neighbours up to %d rows away: "
            "expect false alarms",
            stretch,
            far,
        )
