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

from subadjacent.methods.views.combine import (
    MANY,
    RowsOfPart,
    combine_rows,
    smoothed,
    smoothing_lengths,
)
from subadjacent.methods.views.entity import EntityViews, Seeking
from subadjacent.methods.views.fit_view import UnseenPart, ViewFit, ViewResiduals, fit_view
from subadjacent.methods.views.novelty import WEIGHTS, novelty_weight
from subadjacent.methods.views.settings import (
    LEVEL,
    LOCAL,
    SEEKING,
    SLOW,
    STATE,
    ViewSettings,
)
from subadjacent.methods.views.shapes import LengthFit, ShapeFit, fit_lengths, shapes_of
from subadjacent.methods.views.states import StateFit, fit_states
from subadjacent.methods.views.view import Part, parts_of
from subadjacent.ridge.axes import FoldSums, Rows, cut
from subadjacent.ridge.period import dominant_period
from subadjacent.ridge.sides import SidesFit, fit_sides
from subadjacent.runtime import Progress, Watch, ignore, side_by_side
from subadjacent.scoring.outliers import outlier_free
from subadjacent.scoring.weights import PartWeights, typical_surprise

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

    The surprise is one number a row, (T,) a segment: ``unseen`` of all views, ``expecting`` of
    those that expect values, or of all if there are none. ``independent`` is the effective number
    of independent rows, estimated from residuals.
    """

    entity: EntityViews
    unseen: list[NDArray[np.float64]]
    expecting: list[NDArray[np.float64]]
    independent: float = math.inf


class Common:
    """What is learned once of an entity's segments, whatever the look-ahead.

    Parameters
    ----------
    segments
        An entity's unbroken segments of standardised rows.
    """

    def __init__(self, segments: Sequence[Rows]) -> None:
        self.sums = FoldSums(segments)
        self.cycle = dominant_period(cut(max(segments, key=len)), self.sums.axes)
        self._segments = segments
        # filled as views ask for it
        self._states: dict[float, StateFit | None] = {}
        self._lengths: list[LengthFit] | None = None

    def novelty(self, name: str, settings: ViewSettings) -> StateFit | ShapeFit | None:
        """The view of novelty with this name."""
        if name == STATE:
            return self.states(settings.related_floor)
        return self.shapes(settings.window_ahead)

    def states(self, floor: float) -> StateFit | None:
        """The view of states."""
        if floor not in self._states:
            self._states[floor] = fit_states(self._segments, self.sums, floor)
        return self._states[floor]

    def shapes(self, lookahead: int | None) -> ShapeFit | None:
        """The view of shapes with this look-ahead."""
        if self._lengths is None:
            self._lengths = fit_lengths(self._segments, self.cycle)
        return shapes_of(self._lengths, list(map(len, self._segments)), lookahead)


def fit_views(
    segments: Sequence[Rows],
    settings: ViewSettings,
    watch: Watch = ignore,
    common: Common | None = None,
) -> ViewsFit:
    """Fit all views to an entity's unbroken segments of standardised rows.

    ``watch`` gets the progress in rows; ``common`` is what was already learned of these segments.
    """
    names, rows = settings.names[::-1], sum(map(len, segments))

    def tell(done: int) -> None:
        watch(Progress("fitting", rows * done // len(names), rows, "rows"))

    tell(0)
    known = Common(segments) if common is None else common
    views: dict[str, ViewFit] = {}
    novelties: dict[str, StateFit | ShapeFit | None] = {}

    def fit(name: str) -> None:
        if name in SEEKING:
            novelties[name] = known.novelty(name, settings)
        else:
            (views[name],) = fit_view(
                name, [_view_residuals(name, segments, known, settings)], settings
            )

    # the slowest views first
    worth_it = sum(segment.size for segment in segments) >= MANY
    side_by_side(fit, names, worth_it=worth_it, tell=tell)
    return _combined(views, novelties, segments, settings)


def fit_views_of_many(entities: Sequence[Sequence[Rows]], settings: ViewSettings) -> list[ViewsFit]:
    """Do as ``fit_views`` for each of several entities whose segments have the same lengths.

    Scales of single channels are fitted to the channels of all entities at once.
    """
    known = [Common(segments) for segments in entities]
    views: list[dict[str, ViewFit]] = [{} for _ in entities]
    for name in settings.names:
        if name not in SEEKING:
            left = [
                _view_residuals(name, segments, common, settings)
                for segments, common in zip(entities, known, strict=True)
            ]
            for entity_views, fit in zip(views, fit_view(name, left, settings), strict=True):
                entity_views[name] = fit
    return [
        _combined(
            entity_views,
            {name: about.novelty(name, settings) for name in settings.names if name in SEEKING},
            segments,
            settings,
        )
        for entity_views, about, segments in zip(views, known, entities, strict=True)
    ]


def _combined(
    views: Mapping[str, ViewFit],
    novelties: Mapping[str, StateFit | ShapeFit | None],
    segments: Sequence[Rows],
    settings: ViewSettings,
) -> ViewsFit:
    """Combine the views of an entity, with their weights."""
    views = {name: views[name] for name in settings.names if name in views}
    weights, combined = _combine_expecting(views, segments)
    entity = EntityViews({name: fit.view for name, fit in views.items()}, weights, {})
    views_fit = _add_seeking(entity, combined, novelties, settings)
    return views_fit._replace(
        independent=min((fit.independent for fit in views.values()), default=math.inf)
    )


def _combine_expecting(
    views: Mapping[str, ViewFit], segments: Sequence[Rows]
) -> tuple[PartWeights, list[NDArray[np.float64]]]:
    """Weights of the parts of all views that expect values, and the mean over the parts."""
    kinds = [part for name in views for part in parts_of(name)]
    unseen = [unseen_part for fit in views.values() for unseen_part in fit.parts]
    weights = _weights(kinds, unseen, segments)
    factors = weights.factors()
    combined = [
        combine_rows(
            [
                RowsOfPart(
                    unseen_part.rows[number], unseen_part.judged[number], part.weight, factor
                )
                for part, unseen_part, factor in zip(kinds, unseen, factors, strict=True)
            ],
            len(rows),
        )
        for number, rows in enumerate(segments)
    ]
    return weights, combined


def _add_seeking(
    entity: EntityViews,
    expecting: list[NDArray[np.float64]],
    fits: Mapping[str, StateFit | ShapeFit | None],
    settings: ViewSettings,
) -> ViewsFit:
    """Add the views of novelty, each with a weight that depends on the views that expect values.

    Training rows that are outliers to the views that expect values do not count for the weight.
    """

    def scores(rows: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate(
            [smoothed(segment, settings.smoothing, settings.ahead.score) for segment in rows]
        )

    expecting_scores = scores(expecting)
    normal = outlier_free(expecting_scores, max(smoothing_lengths(settings.smoothing)))
    total, seeking = list(expecting), {}
    for name in SEEKING:
        fit = fits.get(name)
        if fit is None:
            continue
        weight = 1.0
        # with no other view there is nothing to compare it with
        if entity.expecting:
            weight = novelty_weight(scores(fit.unseen)[normal], expecting_scores[normal])
        seeking[name] = Seeking(fit.view, weight)
        total = [
            rows + WEIGHTS[name] * weight * novelty
            for rows, novelty in zip(total, fit.unseen, strict=True)
        ]
    entity = replace(entity, seeking=seeking)
    return ViewsFit(entity, total, expecting if entity.expecting else total)


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
        sides.ridge, sides.unseen, [sides.ridge.judged(len(segment)) for segment in segments], axes
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
                    unseen_part.rows[number][first:last][unseen_part.judged[number][first:last]]
                    for number, first, last in pieces
                ]
            ),
            part.softness,
        )
        for part, unseen_part in zip(kinds, unseen, strict=True)
    ]
    everywhere = [all(judged.all() for judged in unseen_part.judged) for unseen_part in unseen]
    return PartWeights(np.array(typical), np.array(everywhere, dtype=bool))


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
