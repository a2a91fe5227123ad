"""Fit all views of an entity, and score its training rows by cross-validation.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.view_facts import FACTS, NOVELTIES
from subadjacent.methods.views.entity import EntityViews, NoveltyView
from subadjacent.methods.views.fit_shapes import ShapeFit, fit_shapes
from subadjacent.methods.views.fit_view import UnseenPart, ViewFit, ViewResiduals, fit_view
from subadjacent.methods.views.forecasts import MANY
from subadjacent.methods.views.novelty import novelty_weight
from subadjacent.methods.views.outliers import outlier_free
from subadjacent.methods.views.settings import LEVEL, LOCAL, SLOW, STATE, ViewSettings
from subadjacent.methods.views.smoothing import smoothed, smoothing_lengths
from subadjacent.methods.views.states import StateFit, fit_states
from subadjacent.methods.views.view import Part, parts_of
from subadjacent.methods.views.weights import PartWeights, typical_surprise
from subadjacent.ridge.axes import FoldSums, Rows, cut
from subadjacent.ridge.period import dominant_period
from subadjacent.ridge.sides import SidesFit, fit_sides
from subadjacent.runtime import Progress, Watch, ignore, side_by_side

# the slow rhythm: about every 16th row from 20 to 400 rows away, or as many further between. Half
# the reach is as good (reproduce/log.md, "The default detector")
SLOW_NEAR, SLOW_FAR, SLOW_STEP, SLOW_COUNT = 20, 400, 16, 24
# cycles that it reaches over, which finds broken cycles of more than 400 rows (same entry); and the
# rows are at least this many times its reach
CYCLES, SHARE = 1.2, 10
# rows that a part's typical surprise is measured on, in pieces from all over the training rows
ENOUGH, PIECE = 5_000, 500


class ViewsFit(NamedTuple):
    """The views of an entity, and the cross-validated surprise of its training rows.

    The surprise is one number a row, (T,) a segment: ``unseen`` of all views, ``forecasting``
    of those that forecast values, or of all if there are none. ``values`` is the surprise of every
    value to the forecasting views, (N, C), in the rows of the ``sample``, (T,) a segment.
    ``independent`` is the effective number of independent rows, estimated from residuals.
    """

    entity: EntityViews
    unseen: list[NDArray[np.float64]]
    forecasting: list[NDArray[np.float64]]
    values: NDArray[np.float64]
    sample: list[NDArray[np.bool_]]
    independent: float = math.inf


class Common:
    """What several views need to know of an entity's segments.

    Parameters
    ----------
    segments
        An entity's unbroken segments of standardised rows.
    """

    def __init__(self, segments: Sequence[Rows]) -> None:
        self.sums = FoldSums(segments)
        self.cycle = dominant_period(cut(max(segments, key=len)), self.sums.axes)
        self._segments = segments

    def novelty(self, name: str, settings: ViewSettings) -> StateFit | ShapeFit | None:
        """The novelty view with this name."""
        if name == STATE:
            return fit_states(self._segments, self.sums, settings.related_floor)
        return fit_shapes(self._segments, self.cycle, settings.window_ahead)


def fit_views(
    entities: Sequence[Sequence[Rows]],
    settings: ViewSettings,
    watch: Watch = ignore,
) -> list[ViewsFit]:
    """Fit all views to the unbroken segments of standardised rows of each of several entities.

    Their segments have the same lengths: the scales of all entities are fitted at once. ``watch``
    gets the progress in rows.
    """
    names, rows = settings.names[::-1], sum(map(len, entities[0]))

    def tell(done: int) -> None:
        watch(Progress("fitting", rows * done // len(names), rows, "rows"))

    tell(0)
    known = [Common(segments) for segments in entities]
    sample = _sample([len(segment) for segment in entities[0]])
    views: dict[str, list[ViewFit]] = {}
    novelties: dict[str, list[StateFit | ShapeFit | None]] = {}

    def fit(name: str) -> None:
        if name in NOVELTIES:
            novelties[name] = [about.novelty(name, settings) for about in known]
        else:
            residuals = [
                _view_residuals(name, segments, about, settings)
                for segments, about in zip(entities, known, strict=True)
            ]
            views[name] = fit_view(name, residuals, settings, sample)

    # the slowest views first
    worth_it = sum(segment.size for segments in entities for segment in segments) >= MANY
    side_by_side(fit, names, worth_it=worth_it, tell=tell)
    return [
        _combined(
            {name: views[name][number] for name in settings.names if name in views},
            {name: fits[number] for name, fits in novelties.items()},
            segments,
            sample,
            settings,
        )
        for number, segments in enumerate(entities)
    ]


def _combined(
    views: Mapping[str, ViewFit],
    novelties: Mapping[str, StateFit | ShapeFit | None],
    segments: Sequence[Rows],
    sample: list[NDArray[np.bool_]],
    settings: ViewSettings,
) -> ViewsFit:
    """Combine the views of an entity, with their weights."""
    weights, combined, values = _combine_forecasting(views, segments, sample)
    entity = EntityViews({name: fit.view for name, fit in views.items()}, weights, {})
    entity, total = _add_novelty(entity, combined, novelties, settings)
    return ViewsFit(
        entity,
        total,
        combined if entity.forecasting else total,
        values,
        sample,
        min((fit.independent for fit in views.values()), default=math.inf),
    )


def _combine_forecasting(
    views: Mapping[str, ViewFit], segments: Sequence[Rows], sample: list[NDArray[np.bool_]]
) -> tuple[PartWeights, list[NDArray[np.float64]], NDArray[np.float64]]:
    """Weights of the parts of all forecasting views, and the mean over the parts.

    The mean is over channels in all rows, (T,) a segment, and of every value in sampled rows.
    """
    kinds = [part for name in views for part in parts_of(name)]
    unseen = [unseen_part for fit in views.values() for unseen_part in fit.parts]
    weights = _weights(kinds, unseen, segments)
    factors = weights.factors()
    combined, at = [], 0
    values = np.zeros((sum(int(mask.sum()) for mask in sample), segments[0].shape[1]))
    for number, (rows, mask) in enumerate(zip(segments, sample, strict=True)):
        weight, total = np.zeros(len(rows)), np.zeros(len(rows))
        here = slice(at, at + int(mask.sum()))
        at = here.stop
        for part, unseen_part in zip(kinds, unseen, strict=True):
            weight += part.weight * unseen_part.assessed[number]
        for part, unseen_part, factor in zip(kinds, unseen, factors, strict=True):
            share, assessed = np.zeros(len(rows)), unseen_part.assessed[number]
            np.divide(part.weight * factor, weight, out=share, where=assessed)
            total += share * unseen_part.rows[number]
            values[here] += share[mask, None] * unseen_part.values[here]
        combined.append(total)
    return weights, combined, values


def _add_novelty(
    entity: EntityViews,
    forecasting: list[NDArray[np.float64]],
    fits: Mapping[str, StateFit | ShapeFit | None],
    settings: ViewSettings,
) -> tuple[EntityViews, list[NDArray[np.float64]]]:
    """Add the novelty views, each with a weight that depends on the forecasting views.

    Training rows that are outliers to the forecasting views do not count for the weight.
    """

    def scores(rows: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate(
            [smoothed(segment, settings.smoothing, settings.ahead.score) for segment in rows]
        )

    forecasting_scores = scores(forecasting)
    normal = outlier_free(forecasting_scores, max(smoothing_lengths(settings.smoothing)))
    total, novelty = list(forecasting), {}
    for name in NOVELTIES:
        fit = fits.get(name)
        if fit is None:
            continue
        weight = 1.0
        # with no other view there is nothing to compare it with
        if entity.forecasting:
            weight = novelty_weight(scores(fit.unseen)[normal], forecasting_scores[normal])
        novelty[name] = NoveltyView(fit.view, weight)
        total = [
            rows + FACTS[name].weight * weight * surprise
            for rows, surprise in zip(total, fit.unseen, strict=True)
        ]
    return replace(entity, novelty=novelty), total


def _view_residuals(
    name: str, segments: Sequence[Rows], known: Common, settings: ViewSettings
) -> ViewResiduals:
    """A view's cross-validated residuals of an entity's segments."""
    axes = known.sums.axes
    if name == LEVEL:
        everywhere = [np.ones(len(segment), dtype=bool) for segment in segments]
        return ViewResiduals(None, known.sums.centred(segments), everywhere, axes)
    looks_ahead = settings.ahead.neighbours is None
    if name == SLOW:
        sides = _fit_slow(segments, axes, known.cycle, settings)
    else:
        band = settings.neighbours(settings.near, settings.far)
        sides = fit_sides(segments, band, axes, local=name == LOCAL, looks_ahead=looks_ahead)
    return ViewResiduals(
        sides.ridge,
        sides.unseen,
        [sides.ridge.assessed(len(segment)) for segment in segments],
        axes,
    )


def _fit_slow(
    segments: Sequence[Rows], axes: NDArray[np.float32], cycle: int | None, settings: ViewSettings
) -> SidesFit:
    """Fit the slow rhythm, which reaches as far as the rows allow; no model if they are too few."""
    far = min(max(SLOW_FAR, round(CYCLES * (cycle or 0))), max(map(len, segments)) // SHARE)
    if far < SLOW_NEAR + SLOW_STEP:
        return SidesFit.of_nothing(segments)
    step = max(SLOW_STEP, (far - SLOW_NEAR) // SLOW_COUNT)
    neighbours = settings.neighbours(SLOW_NEAR, far, step)
    looks_ahead = settings.ahead.neighbours is None
    return fit_sides(segments, neighbours, axes, local=False, looks_ahead=looks_ahead)


def _weights(
    kinds: Sequence[Part], unseen: Sequence[UnseenPart], segments: Sequence[Rows]
) -> PartWeights:
    """Weights of the parts, from their surprise on typical rows."""
    pieces = list(_pieces([len(segment) for segment in segments]))
    typical = [
        typical_surprise(
            np.concatenate(
                [
                    unseen_part.rows[number][first:last][unseen_part.assessed[number][first:last]]
                    for number, first, last in pieces
                ]
            ),
            part.softness,
        )
        for part, unseen_part in zip(kinds, unseen, strict=True)
    ]
    everywhere = [
        all(assessed.all() for assessed in unseen_part.assessed) for unseen_part in unseen
    ]
    return PartWeights(np.array(typical), np.array(everywhere, dtype=bool))


def _sample(lengths: Sequence[int]) -> list[NDArray[np.bool_]]:
    """The rows of the pieces, as a mask of each segment."""
    masks = [np.zeros(length, dtype=bool) for length in lengths]
    for number, first, last in _pieces(lengths):
        masks[number][first:last] = True
    return masks


def _pieces(lengths: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Pieces from all over the rows, or all rows if they are few: segment, first and last row."""
    total = sum(lengths)
    step = 1 if total < 2 * ENOUGH else total // ENOUGH
    left = 0
    for number, length in enumerate(lengths):
        for first in range(0, length, PIECE):
            last = min(first + PIECE, length)
            if left <= 0:
                yield number, first, last
                # rows, not pieces: segments may be as short as a row
                left += step * (last - first)
            left -= last - first
