"""Fit the scales of a view's residuals, on cross-validated residuals.

Residuals of many entities of one shape stand side by side, as columns of one table: scales are
fitted column by column, and with few rows the time is that of the calls, not of the rows.

Shapes: T rows of a segment, C channels, E entities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.view import JOINT_VIEW, View, parts_of
from subadjacent.ridge.axes import Rows
from subadjacent.ridge.companions import Companions, CompanionsFit, fit_companions
from subadjacent.ridge.period import independent_rows
from subadjacent.ridge.sides import SegmentRidge
from subadjacent.scoring.usual import NEVER_UNUSUAL, SCALES, ChannelScale, JointScale, chunks
from subadjacent.scoring.usual_fit import (
    Judged,
    JudgedRows,
    ScaleFit,
    fit_channel_scale,
    fit_joint_scale,
)


class ViewResiduals(NamedTuple):
    """The cross-validated residuals of an entity's training rows in one view.

    Parameters
    ----------
    ridge
        The view's ridge; None for a view that expects the mean.
    residuals
        One table a segment, (T, C).
    judged
        Which rows have a residual, (T,) a segment.
    axes
        The main axes of the entity's rows.
    """

    ridge: SegmentRidge | None
    residuals: Sequence[Rows]
    judged: Judged
    axes: NDArray[np.float32]


class UnseenPart(NamedTuple):
    """The cross-validated surprise of training rows in one part, (T,) a segment.

    Only one number a row is kept: the surprise of every value in all views would take several
    times the memory of the training rows.
    """

    rows: list[NDArray[np.float64]]
    judged: Judged


class ViewFit(NamedTuple):
    """A fitted view; the one that judges rows as a whole counts ``independent`` rows."""

    view: View
    parts: list[UnseenPart]
    independent: float = math.inf


def fit_view(name: str, entities: Sequence[ViewResiduals], settings: ViewSettings) -> list[ViewFit]:
    """Fit the scales of the residuals of each entity.

    All have one shape: as many rows in each segment, of which the same are judged.
    """
    judged = entities[0].judged
    if not any(rows_judged.any() for rows_judged in judged):
        return [_of_nothing(name, left, settings) for left in entities]
    companions = [fit_companions(left.residuals, judged) for left in entities]
    rows = JudgedRows(judged)
    fits = _fit_scales(entities, companions, rows, settings)
    return [
        _with_joint(
            name, left, View(left.ridge, fit.companions, *scales, None), parts, rows, settings
        )
        for left, fit, (scales, parts) in zip(entities, companions, fits, strict=True)
    ]


_Scales = tuple[ChannelScale, ChannelScale]


def _fit_scales(
    entities: Sequence[ViewResiduals],
    companions: Sequence[CompanionsFit],
    rows: JudgedRows,
    settings: ViewSettings,
) -> list[tuple[_Scales, list[UnseenPart]]]:
    """Scales of residuals by themselves and given the other channels, entity by entity."""
    if len(entities) == 1:
        # one scale after the other: side by side, long series would be in memory twice
        return [_fit_scales_in_turn(entities[0], companions[0], rows, settings)]
    return _fit_scales_side_by_side(entities, companions, rows, settings)


def _fit_scales_in_turn(
    left: ViewResiduals, companions: CompanionsFit, rows: JudgedRows, settings: ViewSettings
) -> tuple[_Scales, list[UnseenPart]]:
    floors = settings.own_floor, settings.related_floor
    alone, across = (
        fit_channel_scale(residuals, rows, settings.ahead.residuals, floor)
        for residuals, floor in zip((left.residuals, companions.unseen), floors, strict=True)
    )
    unseen = [UnseenPart(_means(fit, left.judged), left.judged) for fit in (alone, across)]
    return (alone.scale, across.scale), unseen


def _fit_scales_side_by_side(
    entities: Sequence[ViewResiduals],
    companions: Sequence[CompanionsFit],
    rows: JudgedRows,
    settings: ViewSettings,
) -> list[tuple[_Scales, list[UnseenPart]]]:
    floors = settings.own_floor, settings.related_floor
    judged = entities[0].judged
    channels = entities[0].residuals[0].shape[1]
    # the residuals of an entity by themselves, those given other channels, those of the next one
    side_by_side = [
        np.concatenate(
            [
                residuals[number]
                for left, fit in zip(entities, companions, strict=True)
                for residuals in (left.residuals, fit.unseen)
            ],
            axis=1,
        )
        for number in range(len(judged))
    ]
    floor = np.tile(np.repeat(floors, channels), len(entities))
    fit = fit_channel_scale(side_by_side, rows, settings.ahead.residuals, floor)
    means = _means(fit, judged, channels)
    fitted = []
    for number in range(0, 2 * len(entities), 2):
        alone, across = (
            ChannelScale(
                fit.scale.squares[:, place * channels : (place + 1) * channels].copy(),
                fit.scale.spread[place * channels : (place + 1) * channels].copy(),
                own_floor,
            )
            for place, own_floor in zip((number, number + 1), floors, strict=True)
        )
        parts = [
            UnseenPart([segment[:, place].copy() for segment in means], judged)
            for place in (number, number + 1)
        ]
        fitted.append(((alone, across), parts))
    return fitted


def _with_joint(
    name: str,
    left: ViewResiduals,
    view: View,
    parts: list[UnseenPart],
    rows: JudgedRows,
    settings: ViewSettings,
) -> ViewFit:
    """Add the scale of rows as a whole, in the view that judges them."""
    if name != JOINT_VIEW:
        return ViewFit(view, parts)
    fit = fit_joint_scale(left.residuals, rows, settings.ahead.residuals, settings.own_floor)
    unseen = UnseenPart(_means(fit, left.judged), left.judged)
    return ViewFit(
        View(view.ridge, view.companions, view.alone, view.across, fit.scale),
        [*parts, unseen],
        independent_rows(left.residuals, left.axes),
    )


def _means(
    fit: ScaleFit[Any], judged: Judged, channels: int | None = None
) -> list[NDArray[np.float64]]:
    """Mean surprise over all channels, (T,) a segment, or over groups of ``channels``, (T, …)."""
    means = []
    for number, rows_judged in enumerate(judged):
        pieces = []
        for first, last in chunks(len(rows_judged)):
            surprise = fit.surprise(number, first, last)
            if channels is not None:
                surprise = surprise.reshape(len(surprise), -1, channels)
            pieces.append(surprise.mean(axis=-1))
        means.append(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
    return means


def _of_nothing(name: str, left: ViewResiduals, settings: ViewSettings) -> ViewFit:
    """A view without any residuals: no channel depends on another, no value is ever unusual."""
    channels = left.residuals[0].shape[1]
    never = np.full((len(SCALES), channels), NEVER_UNUSUAL)
    alone, across = (
        ChannelScale(never, never[0], floor)
        for floor in (settings.own_floor, settings.related_floor)
    )
    joint = None
    if name == JOINT_VIEW:
        joint = JointScale(np.full(2 * len(SCALES), NEVER_UNUSUAL), settings.own_floor)
    nothing = UnseenPart([np.zeros(len(residuals)) for residuals in left.residuals], left.judged)
    view = View(left.ridge, Companions(np.eye(channels, dtype=np.float32)), alone, across, joint)
    independent = float(sum(map(len, left.judged))) if name == JOINT_VIEW else math.inf
    return ViewFit(view, [nothing] * len(parts_of(name)), independent)
