"""Adapter for Darts: a fittable scorer, from time series to time series of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from subadjacent.adapters.inner import fit_inner, fresh
from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import Alarm
from subadjacent.errors import InputError, needs

with needs("subadjacent.adapters.darts"):
    from darts import TimeSeries, metrics
    from darts.ad.scorers.scorers import FittableAnomalyScorer
    from darts.ad.utils import _check_input


class DartsScorer(FittableAnomalyScorer):  # type: ignore[misc]  # Darts is untyped
    """One of our detectors as a Darts scorer, used alone or on forecast errors.

    Several training series are learned as one series with gaps between them: one model for all, as
    usual in Darts.

    Parameters
    ----------
    detector : BaseDetector, optional
        One of our detectors; ``fit`` fits a copy of it. None: ``SubAdjacentDetector()``.
    component_wise : bool
        One score per component (``detector.explain``), instead of one for all components.
    diff_fn
        How a forecast is compared with the actual values: one of Darts' metrics per time step.
        None: the signed difference, because our detectors distinguish too high from too low.

    Attributes
    ----------
    detector_ : BaseDetector
        The fitted detector.
    """

    def __init__(
        self, detector: Any = None, component_wise: bool = False, diff_fn: Any = None
    ) -> None:
        # refused here, as Darts refuses bad arguments
        fresh(detector)
        # detectors have windows of their own
        super().__init__(
            is_univariate=not component_wise,
            window=1,
            window_agg=False,
            diff_fn=metrics.err if diff_fn is None else diff_fn,
        )
        self.detector = detector

    def alarms(self, series: TimeSeries, **options: Any) -> list[Alarm]:
        """The alarms of one series: when, how bad, which components and why.

        ``options`` are those of ``detector_.alarms``.
        """
        if not self._fit_called:
            raise InputError.of("scorer", "must be fitted before it gives alarms", "", "call fit")
        if not isinstance(series, TimeSeries):
            raise InputError.of("series", "must be one TimeSeries", f"got {type(series).__name__}")
        (checked,) = _check_input(series, "series", width_expected=self.width_trained_on)
        known = self._extract_deterministic_series(checked, "series")
        found: list[Alarm] = self.detector_.alarms(
            _joined([known], self.detector_.channels_), **options
        )
        return found

    def __str__(self) -> str:
        return type(fresh(self.detector)).__name__

    def _fit_core(self, series: Sequence[TimeSeries], *_args: Any, **_options: Any) -> None:
        known = [self._extract_deterministic_series(one, "series") for one in series]
        channels = tuple(map(str, known[0].components))
        self.detector_ = fit_inner(self.detector, _joined(known, channels))

    def _score_core(
        self, series: Sequence[TimeSeries], *_args: Any, **_options: Any
    ) -> list[TimeSeries]:
        _check_input(series, "series", width_expected=self.width_trained_on)
        return [self._score_one(one) for one in series]

    def _score_one(self, series: TimeSeries) -> TimeSeries:
        # by place, as everywhere in Darts: a forecast may have names of its own
        found = self.detector_.assess(_joined([series], self.detector_.channels_))
        values = found.scores[:, None] if self.is_univariate else found.by_channel
        names = ["score"] if self.is_univariate else series.components
        return TimeSeries(times=series.time_index, values=values, components=names)


def _joined(series: Sequence[TimeSeries], channels: tuple[str, ...]) -> TrainSeries:
    """One series of rows, broken where one of Darts' ends and the next begins."""
    starts = np.cumsum([0, *(len(one) for one in series[:-1])])
    return TrainSeries(
        np.concatenate([one.values(copy=False) for one in series]),
        channels,
        index=series[0].time_index.append([one.time_index for one in series[1:]]),
        starts=tuple(starts.tolist()),
        interval=_seconds(series[0]),
    )


def _seconds(series: TimeSeries) -> float | None:
    """Seconds from row to row, for alarm budgets per time; None where rows are numbered."""
    if not series.has_datetime_index or len(series) < 2:
        return None
    return float((series.time_index[1] - series.time_index[0]).total_seconds())
