"""Fit the scales of a view's residuals, on cross-validated residuals.

Residuals of many entities of one shape stand side by side, as columns of one table: scales are
fitted column by column, and with few rows the time is that of the calls, not of the rows.

Shapes: T rows of a segment, C channels, E entities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.residual_scale import (
    SCALES,
    UNREACHABLE_SQUARE,
    ChannelScale,
    JointScale,
    chunks,
)
from subadjacent.methods.views.residual_scale_fit import (
    AssessedMasks,
    AssessedRows,
    ScaleFit,
    fit_channel_scale,
    fit_joint_scale,
)
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.view import JOINT_VIEW, ForecastingView, parts_of
from subadjacent.ridge.axes import Rows
from subadjacent.ridge.companions import Companions, CompanionsFit, fit_companions
from subadjacent.ridge.period import independent_rows
from subadjacent.ridge.sides import SegmentRidge


class ViewResiduals(NamedTuple):
    """The cross-validated residuals of an entity's training rows in one view.

    Parameters
    ----------
    ridge
        The view's ridge; None for a view that expects the mean.
    residuals
        One table a segment, (T, C).
    assessed
        Which rows have a residual, (T,) a segment.
    axes
        The main axes of the entity's rows.
    """

    ridge: SegmentRidge | None
    residuals: Sequence[Rows]
    assessed: AssessedMasks
    axes: NDArray[np.float32]


class UnseenPart(NamedTuple):
    """The cross-validated surprise of training rows in one part, (T,) a segment.

    The surprise of every value is kept for a sample of the rows, (N, C): for all of them it would
    take several times the memory of the training rows.
    """

    rows: list[NDArray[np.float64]]
    assessed: AssessedMasks
    values: NDArray[np.float32]


class ViewFit(NamedTuple):
    """A fitted view; the one that judges rows as a whole counts ``independent`` rows."""

    view: ForecastingView
    parts: list[UnseenPart]
    independent: float = math.inf


def fit_view(
    name: str,
    entities: Sequence[ViewResiduals],
    settings: ViewSettings,
    sample: AssessedMasks,
) -> list[ViewFit]:
    """Fit the scales of the residuals of each entity.

    All have one shape: as many rows in each segment, of which the same are assessed, and the same
    are in the ``sample`` whose values are kept.
    """
    assessed = entities[0].assessed
    if not any(rows_assessed.any() for rows_assessed in assessed):
        return [_of_nothing(name, left, settings, sample) for left in entities]
    companions = [fit_companions(left.residuals, assessed) for left in entities]
    rows = AssessedRows(assessed)
    fits = _fit_scales(entities, companions, rows, settings, sample)
    fitted = []
    for left, related, alone, across in zip(
        entities, companions, fits[::2], fits[1::2], strict=True
    ):
        view = ForecastingView(left.ridge, related.companions, alone[0], across[0], None)
        fitted.append(_with_joint(name, left, view, [alone[1], across[1]], rows, settings, sample))
    return fitted


def _fit_scales(
    entities: Sequence[ViewResiduals],
    companions: Sequence[CompanionsFit],
    rows: AssessedRows,
    settings: ViewSettings,
    sample: AssessedMasks,
) -> list[tuple[ChannelScale, UnseenPart]]:
    """Scales of each entity's residuals by themselves, then of those given the other channels."""
    tables = [
        table
        for left, fit in zip(entities, companions, strict=True)
        for table in ((left.residuals, settings.own_floor), (fit.unseen, settings.related_floor))
    ]
    # those of a single entity one after the other: at once, long series would be in memory twice
    together = 1 if len(entities) == 1 else len(tables)
    return [
        fitted
        for first in range(0, len(tables), together)
        for fitted in _fit_columns(
            tables[first : first + together], rows, entities[0], settings, sample
        )
    ]


def _fit_columns(
    tables: Sequence[tuple[Sequence[Rows], float]],
    rows: AssessedRows,
    shape: ViewResiduals,
    settings: ViewSettings,
    sample: AssessedMasks,
) -> Iterator[tuple[ChannelScale, UnseenPart]]:
    """Fit the scales of several tables of residuals at once, as columns of one."""
    channels, assessed = shape.residuals[0].shape[1], shape.assessed
    columns = tables[0][0]
    if len(tables) > 1:
        columns = [
            np.concatenate([residuals[number] for residuals, _ in tables], axis=1)
            for number in range(len(assessed))
        ]
    floors = np.repeat([floor for _, floor in tables], channels)
    fit = fit_channel_scale(columns, rows, settings.ahead.residuals, floors)
    means, values = _means(fit, sample, channels)
    for place, (_, floor) in enumerate(tables):
        own = slice(place * channels, (place + 1) * channels)
        scale = ChannelScale(fit.scale.squares[:, own].copy(), fit.scale.spread[own].copy(), floor)
        by_row = [segment[:, place].copy() for segment in means]
        yield scale, UnseenPart(by_row, assessed, values[:, place].copy())


def _with_joint(
    name: str,
    left: ViewResiduals,
    view: ForecastingView,
    parts: list[UnseenPart],
    rows: AssessedRows,
    settings: ViewSettings,
    sample: AssessedMasks,
) -> ViewFit:
    """Add the scale of rows as a whole, in the view that judges them."""
    if name != JOINT_VIEW:
        return ViewFit(view, parts)
    fit = fit_joint_scale(left.residuals, rows, settings.ahead.residuals, settings.own_floor)
    means, values = _means(fit, sample, left.residuals[0].shape[1])
    unseen = UnseenPart([segment[:, 0] for segment in means], left.assessed, values[:, 0])
    return ViewFit(
        replace(view, joint=fit.scale),
        [*parts, unseen],
        independent_rows(left.residuals, left.axes),
    )


def _means(
    fit: ScaleFit[Any], sample: AssessedMasks, channels: int
) -> tuple[list[NDArray[np.float64]], NDArray[np.float32]]:
    """Mean surprise over each group of ``channels`` columns, (T, groups) a segment.

    Also the surprise of every value in the sampled rows, (N, groups, channels).
    """
    means, values = [], []
    for number, in_sample in enumerate(sample):
        pieces = []
        for first, last in chunks(len(in_sample)):
            surprise = fit.surprise(number, first, last).reshape(last - first, -1, channels)
            pieces.append(surprise.mean(axis=-1))
            values.append(surprise[in_sample[first:last]].astype(np.float32))
        means.append(np.concatenate(pieces))
    return means, np.concatenate(values)


def _of_nothing(
    name: str, left: ViewResiduals, settings: ViewSettings, sample: AssessedMasks
) -> ViewFit:
    """A view without any residuals: no channel depends on another, no value is ever unusual."""
    channels = left.residuals[0].shape[1]
    never = np.full((len(SCALES), channels), UNREACHABLE_SQUARE)
    alone, across = (
        ChannelScale(never, never[0], floor)
        for floor in (settings.own_floor, settings.related_floor)
    )
    joint = None
    if name == JOINT_VIEW:
        joint = JointScale(np.full(2 * len(SCALES), UNREACHABLE_SQUARE), settings.own_floor)
    nothing = UnseenPart(
        [np.zeros(len(residuals)) for residuals in left.residuals],
        left.assessed,
        np.zeros((sum(int(in_sample.sum()) for in_sample in sample), channels), np.float32),
    )
    view = ForecastingView(
        left.ridge, Companions(np.eye(channels, dtype=np.float32)), alone, across, joint
    )
    independent = float(sum(map(len, left.assessed))) if name == JOINT_VIEW else math.inf
    return ViewFit(view, [nothing] * len(parts_of(name)), independent)
