"""The method of the default detector: views of every entity, scores in its own unit.

Shapes: T rows of a segment, C channels.
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
from subadjacent.decision.quantiles import quantiles
from subadjacent.errors import InputError
from subadjacent.methods.method import Fitted, Method, Model, State
from subadjacent.methods.views.entity import EntityViews, ViewsModel
from subadjacent.methods.views.fit import ViewsFit, fit_views
from subadjacent.methods.views.outliers import apart_from_outliers, level_folds
from subadjacent.methods.views.residual_scale_fit import FOLDS
from subadjacent.methods.views.saved import restore
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.smoothing import smoothed, smoothing_lengths
from subadjacent.ridge.band import FAR_CLIP
from subadjacent.runtime import Progress, Runtime, Watch, ignore, in_turn

log = logging.getLogger(__name__)

# the share of normal rows that scores below an entity's unit
SHARE = 0.99
# least unit, for an entity whose rows have hardly any surprise
MIN_UNIT = 2e-3
# least unit of a channel: about the surprise that one value in a hundred of white noise exceeds. A
# channel that hardly ever moved in training has less, and its first move would be beyond any scale
MIN_CHANNEL_UNIT = 0.05
# rows and entities that the model for unseen entities learns from: more of them take longer
# than all the rest of a fleet (reproduce/log.md, "The linear default rebuilt")
POOLED_ROWS, POOLED_ENTITIES = 20_000, 40
# from this many entities, or values in several entities, starting processes pays off
MANY_ENTITIES, MANY_VALUES = 100, 5_000_000
# fewer rows than this are refused
MIN_ROWS = 8
# more channels than this are refused: each is regressed on all others, in time that grows with the
# cube of their number and memory that grows with its square. 2,000 rows of 2,000 channels take
# minutes on two cores and 3 GB
MAX_CHANNELS = 2_000
# an unbroken segment of fewer times the band's reach has little to learn from
MIN_ROWS_PER_REACH = 5
# independent rows; with fewer, the rate of alarms is not to be relied on: with 8 to 33 of them some
# processes have 5 to 15 times the alarms requested, with more none has more than 3 times
# (reproduce/log.md, "What contamination promises")
MIN_INDEPENDENT_ROWS = 40


@dataclass(frozen=True, slots=True)
class ViewsMethod(Method):
    """Fits the views of each entity, and pooled views for unseen entities."""

    settings: ViewSettings = field(default_factory=ViewSettings)
    # whether to say nothing of series with few rows: where another fit has said so
    quiet: bool = False

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        """Fit the views; the scores of training rows are cross-validated."""
        _check_channels(series)
        _check_rows(series, 0 if self.quiet else self.settings.far)
        scalers = fit_scalers(series, FAR_CLIP)
        # progress counts entities; or rows, where there is a single entity
        single = len(series) == 1
        tasks = [
            # other processes have no use for labels of rows
            _EntityTask(
                replace(one_series, index=None),
                scalers.of(one_series.entity),
                self.settings,
                run.watch if single else ignore,
            )
            for one_series in series
        ]
        spread = run.map if worth_spreading(series) else in_turn
        fits: list[EntityFit] = []
        for fit in spread(_fit_entity, [*tasks, *self._pooled_task(series, scalers)]):
            fits.append(fit)
            if len(fits) <= len(tasks) and not single:
                run.watch(Progress("fitting", len(fits), len(tasks), "entities"))
        if not self.quiet:
            _warn_of_no_views(series, fits)
            _warn_of_few_rows(series, fits)
        # the model for unseen entities comes last; a single series serves them itself
        return self._fitted(series, scalers, fits[: len(tasks)], fits[-1].views.entity)

    def fit_each(self, series: Sequence[TrainSeries], run: Runtime) -> list[Fitted]:
        """Fit each series by itself; series of one shape are fitted together for speed."""
        fitted_series: list[Fitted | None] = [None] * len(series)
        alike: dict[tuple[object, ...], list[int]] = {}
        for place, one_series in enumerate(series):
            alike.setdefault((one_series.values.shape, one_series.starts), []).append(place)
        for places in alike.values():
            together = [series[place] for place in places]
            for place, fitted in zip(places, self._fit_alike(together), strict=True):
                fitted_series[place] = fitted
            run.watch(
                Progress(
                    "fitting",
                    sum(fitted is not None for fitted in fitted_series),
                    len(series),
                    "entities",
                )
            )
        return [fitted for fitted in fitted_series if fitted is not None]

    def _fit_alike(self, series: Sequence[TrainSeries]) -> Iterator[Fitted]:
        """Fit each of several series of one shape by itself."""
        for one_series in series:
            _check_channels([one_series])
            _check_rows([one_series], self.settings.far)
        scalers = [fit_scalers([one_series], FAR_CLIP) for one_series in series]
        segments = [
            [
                scaler.pooled.apply(one_series.values[start:stop])
                for start, stop in one_series.segments
            ]
            for one_series, scaler in zip(series, scalers, strict=True)
        ]
        views = fit_views(segments, self.settings)
        for one_series, scaler, fit in zip(series, scalers, views, strict=True):
            entity_fit = in_own_unit(fit, self.settings)
            _warn_of_no_views([one_series], [entity_fit])
            _warn_of_few_rows([one_series], [entity_fit])
            yield self._fitted([one_series], scaler, [entity_fit], fit.entity)

    def _fitted(
        self,
        series: Sequence[TrainSeries],
        scalers: PerEntity[Scaler],
        entities: Sequence[EntityFit],
        pooled: EntityViews,
    ) -> Fitted:
        """The fitted models, each in its entity's own unit."""
        models: dict[str, Model] = {
            one_series.entity: ViewsModel(
                self.settings,
                scalers.of(one_series.entity),
                fit.views.entity,
                fit.unit,
                fit.channel_units,
            )
            for one_series, fit in zip(series, entities, strict=True)
            if one_series.entity is not None
        }
        unit = float(np.median([fit.unit for fit in entities]))
        channel_units = np.median([fit.channel_units for fit in entities], axis=0)
        unseen = ViewsModel(self.settings, scalers.pooled, pooled, unit, channel_units)
        return Fitted(
            PerEntity(unseen, models),
            [fit.scores for fit in entities],
            [fit.held_out for fit in entities],
            [fit.strongest for fit in entities],
        )

    def _pooled_task(
        self, series: Sequence[TrainSeries], scalers: PerEntity[Scaler]
    ) -> list[_EntityTask]:
        """The fit of all entities pooled, for unseen ones; empty for a single series."""
        if len(series) == 1:
            return []
        some = series[:: -(-len(series) // POOLED_ENTITIES)]
        most = max(POOLED_ROWS // len(some), 2 * self.settings.far)
        segments = [rows for one_series in some for rows in _last_segments(one_series, most)]
        starts = np.cumsum([0, *map(len, segments)])[:-1]
        together = TrainSeries(np.concatenate(segments), starts=tuple(starts.tolist()))
        return [_EntityTask(together, scalers.pooled, self.settings)]

    def restore(self, state: State, channels: int) -> Model:
        """A model from its saved state."""
        return restore(state, channels, self.settings)


class _EntityTask(NamedTuple):
    """All that a process needs to fit one entity."""

    series: TrainSeries
    scaler: Scaler
    settings: ViewSettings
    watch: Watch = ignore


class EntityFit(NamedTuple):
    """An entity's views, its units, and scores of its training rows in these units.

    ``strongest`` is that of the sampled normal rows, as ``Evidence`` has it.
    """

    views: ViewsFit
    unit: float
    channel_units: NDArray[np.float64]
    scores: NDArray[np.float64]
    held_out: NDArray[np.float64]
    strongest: NDArray[np.float64]


def _fit_entity(task: _EntityTask) -> EntityFit:
    series, scaler, settings, watch = task
    segments = [scaler.apply(series.values[start:stop]) for start, stop in series.segments]
    (fit,) = fit_views([segments], settings, watch)
    return in_own_unit(fit, settings)


def in_own_unit(fit: ViewsFit, settings: ViewSettings) -> EntityFit:
    """Scores of an entity, divided by the 99% quantile of its normal rows' scores.

    Only rows that are no outliers count for this unit, and for the threshold. The
    forecasting views tell which rows are outliers; windows would spread them over many more rows.
    """
    reach = max(smoothing_lengths(settings.smoothing))

    def level(rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        scores = [smoothed(segment, settings.smoothing, settings.ahead.score) for segment in rows]
        return level_folds(np.concatenate(scores), FOLDS, reach)

    shapes = fit.entity.shapes
    window = 0 if shapes is None else sum(shapes.reach) // 2
    normal = apart_from_outliers(level(fit.forecasting), reach, reach + window)
    scores = level(fit.unseen)
    least = max(MIN_UNIT, MIN_CHANNEL_UNIT / fit.values.shape[1])
    unit = max(quantiles(scores[normal], (SHARE,))[0], least)
    values = fit.values[normal[np.concatenate(fit.sample)]]
    if not len(values):
        values = fit.values
    channel_units = np.maximum(np.quantile(values, SHARE, axis=0), MIN_CHANNEL_UNIT)
    strongest = (values / channel_units).max(axis=1)
    return EntityFit(fit, unit, channel_units, scores / unit, scores[normal] / unit, strongest)


def _last_segments(series: TrainSeries, most: int) -> list[NDArray[np.float64]]:
    """The last ``most`` rows of a series, by segment."""
    kept: list[NDArray[np.float64]] = []
    for start, stop in reversed(series.segments):
        if most <= 0:
            break
        kept.append(series.values[max(start, stop - most) : stop])
        most -= stop - start
    return kept[::-1]


def worth_spreading(series: Sequence[TrainSeries]) -> bool:
    """Whether fitting takes longer than starting processes."""
    values = sum(one_series.values.size for one_series in series)
    return len(series) >= MANY_ENTITIES or (len(series) > 1 and values >= MANY_VALUES)


def _warn_of_no_views(series: Sequence[TrainSeries], fits: Sequence[EntityFit]) -> None:
    """Warn of entities that none of the chosen views can assess."""
    for one_series, fit in zip(series, fits, strict=False):
        if not fit.views.entity.forecasting and not fit.views.entity.novelty:
            log.warning(
                "none of the chosen views can assess %s, of %d rows and %d channels: its scores "
                "are 0; views='all' has views for any rows",
                one_series.entity or "the series",
                *one_series.values.shape,
            )


def _warn_of_few_rows(series: Sequence[TrainSeries], fits: Sequence[EntityFit]) -> None:
    """Warn of entities with too few independent rows for a reliable rate of alarms."""
    few = [
        (fit.views.independent, one_series)
        for one_series, fit in zip(series, fits, strict=False)
        if fit.views.independent < MIN_INDEPENDENT_ROWS
    ]
    if few:
        independent, scarcest = min(few, key=lambda pair: pair[0])
        among = f"{len(few)} of {len(series)} series have too few: " if len(series) > 1 else ""
        log.warning(
            "%s%s has only %d effectively independent rows (%d rows, strongly autocorrelated); at "
            "least %d are needed for a reliable false-alarm rate. Expect several times more or "
            "fewer alarms than requested",
            *(among, scarcest.entity or "the series", int(independent)),
            *(len(scarcest), MIN_INDEPENDENT_ROWS),
        )


def _check_channels(series: Sequence[TrainSeries]) -> None:
    channels = series[0].values.shape[1]
    if channels > MAX_CHANNELS:
        raise InputError.of(
            "X",
            f"must have at most {MAX_CHANNELS:,} channels, as each is regressed on all others",
            f"got {channels:,}",
            "fit groups of them that belong together, each by itself",
        )


def _check_rows(series: Sequence[TrainSeries], far: int) -> None:
    longest = max(map(len, series))
    if longest < MIN_ROWS:
        raise InputError.of(
            "X",
            f"must have at least {MIN_ROWS} rows",
            f"the longest series has n_samples={longest}",
        )
    segment = max(stop - start for one_series in series for start, stop in one_series.segments)
    if segment < MIN_ROWS_PER_REACH * far:
        log.warning(
            "the longest unbroken segment has %d rows, few for neighbours up to %d rows away: "
            "expect false alarms",
            segment,
            far,
        )
