"""Views that expect values, side by side: what rows of a growing stretch come to in one go.

A few rows cost NumPy as much as many: it is the number of calls that counts. So the residuals of
all views stand in the columns of one table, which is judged at once, by the same functions that
judge a whole stretch view by view.

Shapes: B rows that are looked at, C channels, V views, P parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.entity import EntityViews
from subadjacent.methods.views.settings import LOCAL
from subadjacent.methods.views.view import JOINT_VIEW, WHOLE, parts_of
from subadjacent.ridge.axes import Rows, cut
from subadjacent.scoring.usual import ChannelScale, JointSquares, Squares


class Left(NamedTuple):
    """What all views leave of some rows."""

    residuals: NDArray[np.float32]  # (B, 2 V C): by themselves and given other channels, in turn
    judged: NDArray[np.bool_]  # (B, V)
    expected: Rows | None  # (B, C)


class Shares(NamedTuple):
    """What parts make of some rows."""

    values: NDArray[np.float64]  # (B, C), the mean over parts
    by_part: NDArray[np.float64]  # (B, P), what each adds to the mean over channels


class StackedViews:
    """All views of an entity that expect values, prepared for few rows at a time.

    Parameters
    ----------
    entity
        Its views.
    channels
        How many there are.
    """

    def __init__(self, entity: EntityViews, channels: int) -> None:
        self.channels = channels
        self._views = list(entity.expecting.values())
        names = list(entity.expecting)
        kinds = [part for name in names for part in parts_of(name)]
        factors = entity.weights.factors()
        self._weights = np.array([part.weight for part in kinds])
        self._shares = self._weights * np.array(factors)
        self._view_of = np.array([names.index(part.view) for part in kinds], dtype=np.intp)
        self._expecting = next((n for n in (LOCAL, *names) if self._has_ridge(names, n)), None)
        self._expects = None if self._expecting is None else names.index(self._expecting)
        self._joint = next((view.joint for view in self._views if view.joint is not None), None)
        if self._joint is not None:
            at = names.index(JOINT_VIEW)
            self._joint_columns = slice(2 * at * channels, (2 * at + 1) * channels)
            self._joint_part = [part.form for part in kinds].index(WHOLE)
        if self._views:
            scales = [scale for view in self._views for scale in (view.alone, view.across)]
            self._scale = ChannelScale(
                np.concatenate([scale.squares for scale in scales], axis=1),
                np.concatenate([scale.spread for scale in scales]),
                np.concatenate([np.broadcast_to(scale.floor, channels) for scale in scales]),
            )

    def _has_ridge(self, names: list[str], name: str) -> bool:
        return name in names and self._views[names.index(name)].ridge is not None

    @property
    def width(self) -> int:
        """Columns of the table of residuals."""
        return 2 * len(self._views) * self.channels

    @property
    def count(self) -> int:
        """How many views there are."""
        return len(self._views)

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self._weights)

    @property
    def expects(self) -> bool:
        """Whether any view says what values are expected."""
        return self._expects is not None

    def look(self, rows: Rows, first: int, last: int) -> Left:
        """What is left of rows ``first`` to ``last`` of a stretch of standardised rows.

        The rows before them must be there as far as views look, or as the stretch goes.
        """
        left = np.empty((last - first, self.width), dtype=np.float32)
        judged = np.ones((last - first, self.count), dtype=bool)
        expected = None
        for number, view in enumerate(self._views):
            own = slice(2 * number * self.channels, (2 * number + 1) * self.channels)
            if view.ridge is None:
                residuals = cut(rows[first:last])
            else:
                residuals = view.ridge.residuals(rows, first, last)
                judged[:, number] = view.ridge.judged(len(rows))[first:last]
            if number == self._expects and view.ridge is not None:
                expected = view.ridge.expected(rows, residuals, first)
            left[:, own] = residuals
            across = slice(own.stop, own.stop + self.channels)
            left[:, across] = view.companions.unexplained(residuals)
        return Left(left, judged, expected)

    def combine(
        self,
        residuals: NDArray[np.float32],
        judged: NDArray[np.bool_],
        first: int,
        last: int,
        lookahead: int | None,
    ) -> Shares:
        """What all parts together make of rows ``first`` to ``last`` of a stretch.

        ``residuals`` are those of the stretch, as far as averages look; ``judged`` those of the
        rows asked for alone.
        """
        if not self._views:
            return Shares(np.zeros((last - first, self.channels)), np.zeros((last - first, 0)))
        measured = Squares.of(residuals, first, last, lookahead)
        surprise = self._scale.surprise(measured).reshape(last - first, -1, self.channels)
        if self._joint is not None:
            own = residuals[:, self._joint_columns]
            whole = self._joint.surprise(JointSquares.of(own, first, last, lookahead))
            at = self._joint_part
            surprise = np.concatenate(
                [surprise[:, :at], whole[:, None], surprise[:, at:]], axis=1
            )  # (B, P, C)
        there = judged[:, self._view_of]
        share = np.zeros(there.shape)
        weight = there @ self._weights
        np.divide(self._shares, weight[:, None], out=share, where=there)
        surprise *= share[:, :, None]
        return Shares(surprise.sum(axis=1), surprise.mean(axis=2))
