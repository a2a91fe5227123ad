"""Learn all views of an entity, and what they make of rows they had not seen.

Shapes: T rows of a stretch, C channels.
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
from subadjacent.methods.views.fit_view import Left, UnseenPart, ViewFit, fit_view
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
# the reach is as good (docs/log.md, "The default detector")
SLOW_NEAR, SLOW_FAR, SLOW_STEP, SLOW_COUNT = 20, 400, 16, 24
# it reaches over so many cycles, which finds broken cycles of more than 400 rows (same entry), and
# over one in so many of the rows at most
CYCLES, SHARE = 1.2, 10
# rows that say how large a part typically is, in pieces from all over the training rows
ENOUGH, PIECE = 5_000, 500


class ViewsFit(NamedTuple):
    """The views of an entity, and the surprise of its rows to views that had not seen them.

    Both hold one number a row, (T,) a stretch: ``unseen`` of all views, ``expecting`` of those that
    expect values, or of all if there are none. ``independent`` is about how many rows say something
    of their own, by what is left of them.
    """

    entity: EntityViews
    unseen: list[NDArray[np.float64]]
    expecting: list[NDArray[np.float64]]
    independent: float = math.inf


class Common:
    """What is learned of stretches once, however far ahead views may look.

    Parameters
    ----------
    parts
        An entity's unbroken stretches of standardised rows.
    """

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.sums = FoldSums(parts)
        self.cycle = dominant_period(cut(max(parts, key=len)), self.sums.axes)
        self._parts = parts
        # filled as views ask for it
        self._states: dict[float, StateFit | None] = {}
        self._lengths: list[LengthFit] | None = None

    def novelty(self, name: str, settings: ViewSettings) -> StateFit | ShapeFit | None:
        """A view of what was never seen, by its name."""
        if name == STATE:
            return self.states(settings.related_floor)
        return self.shapes(settings.window_ahead)

    def states(self, floor: float) -> StateFit | None:
        """A view of states."""
        if floor not in self._states:
            self._states[floor] = fit_states(self._parts, self.sums, floor)
        return self._states[floor]

    def shapes(self, lookahead: int | None) -> ShapeFit | None:
        """A view of shapes whose rows look so far ahead."""
        if self._lengths is None:
            self._lengths = fit_lengths(self._parts, self.cycle)
        return shapes_of(self._lengths, list(map(len, self._parts)), lookahead)


def fit_views(
    parts: Sequence[Rows],
    settings: ViewSettings,
    watch: Watch = ignore,
    common: Common | None = None,
) -> ViewsFit:
    """Learn from an entity's unbroken stretches of standardised rows.

    ``watch`` is told of the rows as views have learned from them; ``common`` is what was learned
    of these stretches already.
    """
    names, rows = settings.names[::-1], sum(map(len, parts))

    def tell(done: int) -> None:
        watch(Progress("fitting", rows * done // len(names), rows, "rows"))

    tell(0)
    known = Common(parts) if common is None else common
    views: dict[str, ViewFit] = {}
    novelties: dict[str, StateFit | ShapeFit | None] = {}

    def fit(name: str) -> None:
        if name in SEEKING:
            novelties[name] = known.novelty(name, settings)
        else:
            (views[name],) = fit_view(name, [_left(name, parts, known, settings)], settings)

    # those that take longest first
    worth_it = sum(part.size for part in parts) >= MANY
    side_by_side(fit, names, worth_it=worth_it, tell=tell)
    return _together(views, novelties, parts, settings)


def fit_views_of_many(entities: Sequence[Sequence[Rows]], settings: ViewSettings) -> list[ViewsFit]:
    """What ``fit_views`` learns of each of several entities, whose stretches are as long.

    What is told channel by channel is told of all their channels at once.
    """
    known = [Common(parts) for parts in entities]
    views: list[dict[str, ViewFit]] = [{} for _ in entities]
    for name in settings.names:
        if name not in SEEKING:
            left = [
                _left(name, parts, own, settings)
                for parts, own in zip(entities, known, strict=True)
            ]
            for one, fit in zip(views, fit_view(name, left, settings), strict=True):
                one[name] = fit
    return [
        _together(
            own,
            {name: about.novelty(name, settings) for name in settings.names if name in SEEKING},
            parts,
            settings,
        )
        for own, about, parts in zip(views, known, entities, strict=True)
    ]


def _together(
    views: Mapping[str, ViewFit],
    novelties: Mapping[str, StateFit | ShapeFit | None],
    parts: Sequence[Rows],
    settings: ViewSettings,
) -> ViewsFit:
    """All views of an entity, each as loud as the others let it be."""
    views = {name: views[name] for name in settings.names if name in views}
    weights, combined = _combine_expecting(views, parts)
    entity = EntityViews({name: fit.view for name, fit in views.items()}, weights, {})
    found = _add_seeking(entity, combined, novelties, settings)
    return found._replace(
        independent=min((fit.independent for fit in views.values()), default=math.inf)
    )


def _combine_expecting(
    views: Mapping[str, ViewFit], parts: Sequence[Rows]
) -> tuple[PartWeights, list[NDArray[np.float64]]]:
    """Weights of the parts of all views that expect values, and the mean over the parts."""
    kinds = [part for name in views for part in parts_of(name)]
    unseen = [part for fit in views.values() for part in fit.parts]
    weights = _weights(kinds, unseen, parts)
    factors = weights.factors()
    combined = [
        combine_rows(
            [
                RowsOfPart(own.rows[number], own.judged[number], part.weight, factor)
                for part, own, factor in zip(kinds, unseen, factors, strict=True)
            ],
            len(rows),
        )
        for number, rows in enumerate(parts)
    ]
    return weights, combined


def _add_seeking(
    entity: EntityViews,
    expecting: list[NDArray[np.float64]],
    fits: Mapping[str, StateFit | ShapeFit | None],
    settings: ViewSettings,
) -> ViewsFit:
    """Add views of what was never seen, each as far as the others let it.

    Outliers among the training rows, far above all else to the views that expect values, do not
    make it louder.
    """

    def scores(rows: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate(
            [smoothed(stretch, settings.smoothing, settings.ahead.score) for stretch in rows]
        )

    others = scores(expecting)
    normal = outlier_free(others, max(smoothing_lengths(settings.smoothing)))
    total, seeking = list(expecting), {}
    for name in SEEKING:
        fit = fits.get(name)
        if fit is None:
            continue
        weight = 1.0
        # with no other view there is nothing to compare it with
        if entity.expecting:
            weight = novelty_weight(scores(fit.unseen)[normal], others[normal])
        seeking[name] = Seeking(fit.view, weight)
        total = [
            rows + WEIGHTS[name] * weight * own for rows, own in zip(total, fit.unseen, strict=True)
        ]
    entity = replace(entity, seeking=seeking)
    return ViewsFit(entity, total, expecting if entity.expecting else total)


def _left(name: str, parts: Sequence[Rows], known: Common, settings: ViewSettings) -> Left:
    """What a view leaves of an entity's stretches, which it had not seen."""
    axes = known.sums.axes
    if name == LEVEL:
        everywhere = [np.ones(len(part), dtype=bool) for part in parts]
        return Left(None, known.sums.centred(parts), everywhere, axes)
    looks_ahead = settings.ahead.neighbours is None
    if name == SLOW:
        sides = _fit_slow(parts, axes, known.cycle, settings)
    else:
        band = settings.neighbours(settings.near, settings.far)
        sides = fit_sides(parts, band, axes, local=name == LOCAL, looks_ahead=looks_ahead)
    return Left(sides.ridge, sides.unseen, [sides.ridge.judged(len(part)) for part in parts], axes)


def _fit_slow(
    parts: Sequence[Rows], axes: NDArray[np.float32], cycle: int | None, settings: ViewSettings
) -> SidesFit:
    """A ridge that reaches as far as there are rows for, or one of no model."""
    far = min(max(SLOW_FAR, round(CYCLES * (cycle or 0))), max(map(len, parts)) // SHARE)
    if far < SLOW_NEAR + SLOW_STEP:
        return SidesFit.of_nothing(parts)
    step = max(SLOW_STEP, (far - SLOW_NEAR) // SLOW_COUNT)
    neighbours = settings.neighbours(SLOW_NEAR, far, step)
    looks_ahead = settings.ahead.neighbours is None
    return fit_sides(parts, neighbours, axes, local=False, looks_ahead=looks_ahead)


def _weights(
    kinds: Sequence[Part], unseen: Sequence[UnseenPart], parts: Sequence[Rows]
) -> PartWeights:
    """From how large each part is on typical rows."""
    pieces = list(_pieces([len(part) for part in parts]))
    typical = [
        typical_surprise(
            np.concatenate(
                [
                    own.rows[number][first:last][own.judged[number][first:last]]
                    for number, first, last in pieces
                ]
            ),
            part.softness,
        )
        for part, own in zip(kinds, unseen, strict=True)
    ]
    everywhere = [all(judged.all() for judged in own.judged) for own in unseen]
    return PartWeights(np.array(typical), np.array(everywhere, dtype=bool))


def _pieces(lengths: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Stretch, first and last row of pieces from all over the rows, or of all if they are few."""
    total = sum(lengths)
    step = 1 if total < 2 * ENOUGH else total // ENOUGH
    left = 0
    for number, length in enumerate(lengths):
        for first in range(0, length, PIECE):
            last = min(first + PIECE, length)
            if left <= 0:
                yield number, first, last
                # rows, not pieces: stretches may be as short as a row
                left += step * (last - first)
            left -= last - first
