"""A two-sided ridge for the middle of a segment, one-sided ridges for its ends.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import Rows
from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.fit import PENALTIES, RidgeFit, fit_ridge
from subadjacent.ridge.neighbours import Neighbours

# added to mean squares before they are compared, in squared standard deviations
VARIANCE_FLOOR = 1e-3
# with a smaller assessed share, the averages say nothing about other rows
MIN_ASSESSED_SHARE = 0.5
# rows that a one-sided ridge is learned from: it serves a few rows only. A fifth of it changed the
# unit of a machine that drifts (reproduce/log.md, "The linear default rebuilt")
MAX_SIDE_ROWS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class SegmentRidge:
    """Judges every row by the first model that finds all its neighbours there.

    Parameters
    ----------
    models
        The one of most neighbours first.
    gains
        One a model and channel: brings its residuals to the scale of the first one's.
    """

    models: tuple[BandRidge, ...]
    gains: NDArray[np.float64]

    def residuals(self, rows: Rows, first: int = 0, last: int | None = None) -> Rows:
        """The residuals of a segment, (T, C), on one scale; 0 where no model applies.

        Of all rows, or of those from ``first`` to ``last``.
        """
        last = len(rows) if last is None else last
        residuals = np.zeros((last - first, rows.shape[1]), dtype=rows.dtype)
        for model, gain, mine in zip(self.models, self.gains, self.shares(len(rows)), strict=True):
            start, stop = max(mine.start, first), min(mine.stop, last)
            if start < stop:
                left = model.residuals(rows, start, stop)
                residuals[start - first : stop - first] = left * gain
        return residuals

    def expected(self, rows: Rows, residuals: Rows, first: int = 0) -> Rows:
        """The expected values of rows, from their residuals; a row itself where it has no model.

        ``residuals`` are those of the rows from ``first`` on.
        """
        last = first + len(residuals)
        expected = rows[first:last].copy()
        for gain, mine in zip(self.gains, self.shares(len(rows)), strict=True):
            start, stop = max(mine.start, first), min(mine.stop, last)
            if start < stop:
                assessed = slice(start - first, stop - first)
                expected[assessed] -= residuals[assessed] / gain.astype(np.float32)
        return expected

    def shares(self, rows: int) -> list[slice]:
        """Which rows of a segment each model is the first to find all neighbours of."""
        return shares([model.neighbours for model in self.models], rows)

    def assessed(self, rows: int) -> NDArray[np.bool_]:
        """Which rows of a segment any model judges."""
        assessed = np.zeros(rows, dtype=bool)
        for model in self.models:
            assessed[model.neighbours.complete(rows)] = True
        return assessed

    @property
    def reach(self) -> tuple[int, int]:
        """How far the farthest neighbours stand, before and after a row."""
        return (
            max((model.neighbours.behind for model in self.models), default=0),
            max((model.neighbours.ahead for model in self.models), default=0),
        )


class SidesFit(NamedTuple):
    """Fitted ridges, and their cross-validated residuals."""

    ridge: SegmentRidge
    unseen: list[Rows]

    @classmethod
    def of_nothing(cls, segments: Sequence[Rows]) -> SidesFit:
        """No model, and no row assessed."""
        ridge = SegmentRidge((), np.zeros((0, segments[0].shape[1])))
        return cls(ridge, [np.zeros_like(segment) for segment in segments])


def fit_sides(
    segments: Sequence[Rows],
    neighbours: Neighbours,
    axes: NDArray[np.float32],
    *,
    local: bool,
    looks_ahead: bool,
) -> SidesFit:
    """Fit ridges to segments of one entity; none where too few rows have all their neighbours.

    Where rows after a row are missing, those before it must do. Where rows before it are missing,
    those after it, but only for a model that may look as far ahead as behind.
    """
    layouts = [neighbours]
    if neighbours.ahead:
        layouts.append(_sided(neighbours, ahead=0))
    if looks_ahead:
        layouts.append(_sided(neighbours, behind=0))
    fits: list[RidgeFit] = []
    for number, layout in enumerate(layouts):
        if number == 0:
            fit = fit_ridge(segments, layout, axes, local=local)
        else:
            # the penalty chosen for the first will do
            fit = fit_ridge(
                segments,
                layout,
                axes,
                local=local,
                penalties=(fits[0].penalty,) if fits else PENALTIES,
                wanted=[
                    shares([*_layouts(fits), layout], len(segment))[-1] for segment in segments
                ],
                most=MAX_SIDE_ROWS,
            )
        if fit is not None:
            fits.append(fit)
    if _assessed_share(_layouts(fits), segments) < MIN_ASSESSED_SHARE:
        return SidesFit.of_nothing(segments)
    squares = np.array([fit.mean_squares for fit in fits])
    gains = np.sqrt((squares[:1] + VARIANCE_FLOOR) / (squares + VARIANCE_FLOOR))
    ridge = SegmentRidge(tuple(fit.model for fit in fits), gains)
    # into the residuals of the first model, whose gain is 1
    unseen = fits[0].unseen
    for number, residuals in enumerate(unseen):
        further = list(zip(fits, gains, ridge.shares(len(residuals)), strict=True))[1:]
        for fit, gain, mine in further:
            residuals[mine] = fit.unseen[number][mine] * gain
    return SidesFit(ridge, unseen)


def shares(layouts: Sequence[Neighbours], rows: int) -> list[slice]:
    """Which rows of a segment each layout is the first to have all neighbours of."""
    spans: list[slice] = []
    for layout in layouts:
        complete = layout.complete(rows)
        start, stop = complete.start, complete.stop
        # rows that earlier layouts assess lie at one end of it
        for other in spans:
            if other.start <= start < other.stop:
                start = other.stop
            if other.start < stop <= other.stop:
                stop = other.start
        spans.append(slice(start, stop) if start < stop else slice(0, 0))
    return spans


def _sided(
    neighbours: Neighbours, *, behind: int | None = None, ahead: int | None = None
) -> Neighbours:
    return Neighbours(
        neighbours.near,
        neighbours.behind if behind is None else behind,
        neighbours.ahead if ahead is None else ahead,
        neighbours.step,
    )


def _layouts(fits: Sequence[RidgeFit]) -> list[Neighbours]:
    return [fit.model.neighbours for fit in fits]


def _assessed_share(layouts: Sequence[Neighbours], segments: Sequence[Rows]) -> float:
    """The share of rows that any of the models judges."""
    assessed = [
        rows.stop - rows.start for segment in segments for rows in shares(layouts, len(segment))
    ]
    return float(sum(assessed) / sum(map(len, segments)))
