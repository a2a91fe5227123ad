"""Views that expect values, side by side: what rows of a growing segment come to in one go.

A few rows cost NumPy as much as many: it is the number of calls that counts. So the residuals of
all views stand in the columns of one table, which is judged at once, by the same functions that
judge a whole segment view by view.

Shapes: B rows that are looked at, C channels, V views, P parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.entity import EntityViews
from subadjacent.methods.views.settings import LOCAL
from subadjacent.methods.views.view import ACROSS, WHOLE, View, parts_of
from subadjacent.ridge.axes import Rows, cut
from subadjacent.ridge.companions import CLIP
from subadjacent.ridge.few import FEW, FewRows, Gather
from subadjacent.scoring.usual import ChannelScale, JointSquares, Squares
from subadjacent.scoring.usual_row import JointColumns, RowSurprise


class Left(NamedTuple):
    """What all views leave of some rows."""

    residuals: NDArray[np.float32]  # (B, 2 V C): by themselves, then given other channels
    judged: NDArray[np.bool_]  # (B, V)
    expected: Rows | None  # (B, C)


class Shares(NamedTuple):
    """What parts make of some rows."""

    values: NDArray[np.float64]  # (B, C), the mean over parts
    by_part: NDArray[np.float64]  # (B, P), what each adds to the mean over channels


class StackedViews:
    """All views of an entity that expect values, prepared for few rows at a time.

    Attributes
    ----------
    order
        The number that each part has in ``EntityViews.forms``: here residuals by themselves come
        first, then those given the other channels, then rows as a whole.
    expects
        The number of the view that says what values are expected; None without any.
    """

    def __init__(self, entity: EntityViews, channels: int) -> None:
        self.channels = channels
        names, self._views = list(entity.expecting), list(entity.expecting.values())
        kinds = [part for name in names for part in parts_of(name)]
        self.order = sorted(range(len(kinds)), key=lambda n: _rank(kinds[n].form))
        factors = entity.weights.factors()
        self._weights = np.array([kinds[n].weight for n in self.order])
        self._shares = np.array([kinds[n].weight * factors[n] for n in self.order])
        self._view_of = np.array([names.index(kinds[n].view) for n in self.order], dtype=np.intp)
        with_ridge = [n for n, view in enumerate(self._views) if view.ridge is not None]
        with_ridge.sort(key=lambda n: names[n] != LOCAL)
        self.expects = with_ridge[0] if with_ridge else None
        self._few = [_few_rows(view) for view in self._views]
        self._gather = Gather(self._few)
        self._joint = [n for n, view in enumerate(self._views) if view.joint is not None]
        if self._views:
            scales = [view.alone for view in self._views] + [view.across for view in self._views]
            self._scale = ChannelScale(
                np.concatenate([scale.squares for scale in scales], axis=1),
                np.concatenate([scale.spread for scale in scales]),
                np.concatenate([np.broadcast_to(scale.floor, channels) for scale in scales]),
            )
            relations = [view.companions.weights.T for view in self._views]
            self._companions = np.stack(relations).astype(np.float64)  # (V, C, C)
            self._row = self._row_surprise()
        # rows that are in the middle of a segment to all views; none where a view knows nothing
        ridges = [view.ridge for view in self._views if view.ridge is not None]
        layouts = [ridge.models[0].neighbours for ridge in ridges if ridge.models]
        self._reach = (
            max((one.behind for one in layouts), default=0),
            max((one.ahead for one in layouts), default=0),
        )
        self._any_row = bool(self._views) and len(layouts) == len(ridges)
        self._all_judged = np.ones((1, self.count), dtype=bool)

    def _row_surprise(self) -> RowSurprise:
        """Of one row that all views judge."""
        shares = self._shares / self._weights.sum()
        alone = 2 * self.count
        joints = [
            JointColumns(slice(number * self.channels, (number + 1) * self.channels), joint, share)
            for number, share in zip(self._joint, shares[alone:].tolist(), strict=True)
            if (joint := self._views[number].joint) is not None
        ]
        weights = np.repeat(shares[:alone] / self.channels, self.channels)
        return RowSurprise(self._scale, weights, joints)

    @property
    def count(self) -> int:
        """How many views there are."""
        return len(self._views)

    @property
    def width(self) -> int:
        """Columns of the table of residuals."""
        return 2 * len(self._views) * self.channels

    def look(self, rows: Rows, first: int, last: int, *, explained: bool = True) -> Left:
        """What is left of rows ``first`` to ``last`` of a segment of standardised rows.

        The rows before them must be there as far as views look, or as the segment goes. What is
        expected of them is there if they are to be ``explained``.
        """
        if last - first == 1 and not explained and (one := self._look_at(rows, first)) is not None:
            return one
        found = np.empty((self.count, last - first, self.channels), dtype=np.float32)
        judged = np.ones((last - first, self.count), dtype=bool)
        expected = None
        for number, (view, few) in enumerate(zip(self._views, self._few, strict=True)):
            if view.ridge is None:
                found[number] = cut(rows[first:last])
            elif few is not None and last - first <= FEW and _inside(view, rows, first, last):
                found[number] = few.residuals(rows, first, last)
            else:
                found[number] = view.ridge.residuals(rows, first, last)
                judged[:, number] = view.ridge.judged(len(rows))[first:last]
            if explained and number == self.expects and view.ridge is not None:
                expected = view.ridge.expected(rows, found[number], first)
        left = np.empty((last - first, 2, self.count, self.channels), dtype=np.float32)
        left[:, 0] = found.swapaxes(0, 1)
        if self._views:
            within = np.minimum(np.maximum(found, -CLIP), CLIP, dtype=np.float64)
            left[:, 1] = (within @ self._companions).swapaxes(0, 1)
        return Left(left.reshape(last - first, -1), judged, expected)

    def _look_at(self, rows: Rows, row: int) -> Left | None:
        """What is left of one row, in fewer calls; None where a view misses neighbours of it."""
        behind, ahead = self._reach
        if not (self._any_row and behind <= row < len(rows) - ahead):
            return None
        left = np.empty((2, self.count, self.channels), dtype=np.float32)
        found = left[0]
        for own, few, values in zip(found, self._few, self._gather.at(rows, row), strict=True):
            own[:] = values[0] if few is None else few.residual(values)
        within = np.minimum(np.maximum(found, -CLIP), CLIP, dtype=np.float64)
        left[1] = (within[:, None] @ self._companions)[:, 0]
        return Left(left.reshape(1, -1), self._all_judged, None)

    def combine(
        self,
        residuals: NDArray[np.float32],
        judged: NDArray[np.bool_],
        first: int,
        last: int,
        lookahead: int | None,
    ) -> Shares:
        """What all parts together make of rows ``first`` to ``last`` of a segment.

        ``residuals`` are those of the segment, as far as averages look; ``judged`` those of the
        rows asked for alone.
        """
        if not self._views:
            return Shares(np.zeros((last - first, self.channels)), np.zeros((last - first, 0)))
        measured = Squares.of(residuals, first, last, lookahead)
        surprise = self._scale.surprise(measured).reshape(last - first, -1, self.channels)
        for number in self._joint:
            own = residuals[:, number * self.channels : (number + 1) * self.channels]
            joint = self._views[number].joint
            assert joint is not None
            whole = joint.surprise(JointSquares.of(own, first, last, lookahead))
            surprise = np.concatenate([surprise, whole[:, None]], axis=1)  # (B, P, C)
        there = judged[:, self._view_of]
        share = np.zeros(there.shape)
        np.divide(self._shares, (there @ self._weights)[:, None], out=share, where=there)
        surprise *= share[:, :, None]
        return Shares(surprise.sum(axis=1), surprise.sum(axis=2) / self.channels)

    def means(
        self,
        residuals: NDArray[np.float32],
        judged: NDArray[np.bool_],
        first: int,
        last: int,
        lookahead: int | None,
    ) -> NDArray[np.float64]:
        """The means over channels of what ``combine`` makes of rows, (B,); quick for one row."""
        if last - first == 1 and self._views and judged.all():
            found = self._row.of(residuals, first, lookahead)
            if found is not None:
                return np.array([found])
        values = self.combine(residuals, judged, first, last, lookahead).values
        return np.asarray(values.sum(axis=1) / self.channels)


def _rank(form: str) -> int:
    """Where parts of a form stand: by themselves, given other channels, rows as a whole."""
    return {ACROSS: 1, WHOLE: 2}.get(form, 0)


def _few_rows(view: View) -> FewRows | None:
    """For rows in the middle of a segment, all of them by the first model."""
    if view.ridge is None or not view.ridge.models:
        return None
    return FewRows(view.ridge.models[0], view.ridge.gains[0])


def _inside(view: View, rows: Rows, first: int, last: int) -> bool:
    """Whether the first model finds all neighbours of some rows."""
    assert view.ridge is not None
    complete = view.ridge.models[0].neighbours.complete(len(rows))
    return bool(complete.start <= first and last <= complete.stop)
