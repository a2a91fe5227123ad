"""All forecasting views of an entity side by side: from rows to residuals, from these to a mean.

The residuals of all views stand in the columns of one table, which is assessed at once: few rows
cost NumPy as much as many, so that the number of calls counts. The same functions serve a whole
segment and the last row of one that grows.

Shapes: B rows that are assessed, C channels, V views, P parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.residual_scale import ChannelScale, JointSquares, Squares, chunks
from subadjacent.methods.views.settings import LOCAL
from subadjacent.methods.views.view import ACROSS, WHOLE, ForecastingView, parts_of
from subadjacent.methods.views.weights import PartWeights
from subadjacent.ridge.axes import Rows, cut
from subadjacent.ridge.companions import CLIP
from subadjacent.ridge.few import MAX_GATHERED_ROWS, FewRows
from subadjacent.runtime import side_by_side

# residuals that are assessed at a time, in at least this many rows: averages need the rows around
# them, and some fifteen tables of them are in memory at once
CHUNK_VALUES, MIN_CHUNK_ROWS = 200_000, 256
# values that are worth several threads, and too few for any preparation
MANY, FEW_VALUES = 200_000, 2_000

Item = TypeVar("Item")
Result = TypeVar("Result")


class Residuals(NamedTuple):
    """The residuals of some rows in all views."""

    table: NDArray[np.float32]  # (B, 2 V C): by themselves, then given other channels
    assessed: NDArray[np.bool_]  # (B, V), whether a view has a forecast of the row
    expected: Rows | None  # (B, C)


class Combined(NamedTuple):
    """The surprise of some rows to all parts together."""

    values: NDArray[np.float64]  # (B, C), the mean over parts
    by_part: NDArray[np.float64]  # (B, P), what each part adds to the mean over channels


class Forecasts:
    """All forecasting views of an entity.

    Parameters
    ----------
    views
        By name, in the order of ``FORECASTING``.
    weights
        Of their parts, in the same order.
    channels
        Number of channels.

    Attributes
    ----------
    parts
        Residuals by themselves first, then those given the other channels, then whole rows.
    expects
        The number of the view whose forecast is shown: the local rhythm follows a level that has
        moved; without it another rhythm. None without any.
    """

    def __init__(
        self, views: Mapping[str, ForecastingView], weights: PartWeights, channels: int
    ) -> None:
        self.channels = channels
        names, self._views = list(views), list(views.values())
        parts = [part for name in names for part in parts_of(name)]
        order = sorted(range(len(parts)), key=lambda n: _rank(parts[n].form))
        self.parts = [parts[n] for n in order]
        factors = weights.factors()
        self._weights = np.array([part.weight for part in self.parts])
        self._shares = self._weights * factors[np.array(order, dtype=np.intp)]
        self._view_of = np.array([names.index(part.view) for part in self.parts], dtype=np.intp)
        with_ridge = [n for n, view in enumerate(self._views) if view.ridge is not None]
        with_ridge.sort(key=lambda n: names[n] != LOCAL)
        self.expects = with_ridge[0] if with_ridge else None
        self._few = [_few_rows(view) for view in self._views]
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

    @property
    def count(self) -> int:
        """Number of views."""
        return len(self._views)

    @property
    def width(self) -> int:
        """Columns of the table of residuals."""
        return 2 * self.count * self.channels

    def residuals(self, rows: Rows, first: int, last: int, *, expected: bool) -> Residuals:
        """Residuals of rows ``first`` to ``last`` of a segment of standardised rows.

        The rows before them must be there as far as views look, or as the segment goes. With
        ``expected``, the forecasts are there as well.
        """
        count = last - first
        table = np.empty((count, 2, self.count, self.channels), dtype=np.float32)
        assessed = np.ones((count, self.count), dtype=bool)

        def fill(number: int) -> None:
            view, few = self._views[number], self._few[number]
            if view.ridge is None:
                own = cut(rows[first:last])
            elif (
                few is not None
                and count <= MAX_GATHERED_ROWS
                and _has_neighbours(view, rows, first, last)
            ):
                own = few.residuals(rows, first, last)
            else:
                own = view.ridge.residuals(rows, first, last)
                assessed[:, number] = view.ridge.assessed(len(rows))[first:last]
            table[:, 0, number] = own
            for start, stop in chunks(count):
                within = np.minimum(np.maximum(own[start:stop], -CLIP), CLIP, dtype=np.float64)
                table[start:stop, 1, number] = within @ self._companions[number]

        numbers = list(range(self.count))[::-1]  # the slowest views first
        in_threads(fill, numbers, count * self.channels)
        forecast = None
        if expected and self.expects is not None:
            ridge = self._views[self.expects].ridge
            assert ridge is not None
            forecast = ridge.expected(rows, table[:, 0, self.expects], first)
        return Residuals(table.reshape(count, -1), assessed, forecast)

    def combine(
        self,
        residuals: NDArray[np.float32],
        assessed: NDArray[np.bool_],
        first: int,
        last: int,
        lookahead: int | None,
    ) -> Combined:
        """The mean over parts of rows ``first`` to ``last``, at each over those that assess it.

        ``residuals`` are those of the segment, as far as averages reach; ``assessed`` is given for
        these rows alone. A row without a forecast has a residual of 0, but averages with those
        next to it: its share is 0.
        """
        values = np.zeros((last - first, self.channels))
        by_part = np.zeros((last - first, len(self.parts)))
        if not self._views:
            return Combined(values, by_part)

        def add_up(bounds: tuple[int, int]) -> None:
            here, (start, stop) = slice(*bounds), (first + bounds[0], first + bounds[1])
            surprise = self._surprise(residuals, start, stop, lookahead)  # (B, P, C)
            there = assessed[here][:, self._view_of]
            share = np.zeros(there.shape)
            np.divide(self._shares, (there @ self._weights)[:, None], out=share, where=there)
            surprise *= share[:, :, None]
            values[here] = surprise.sum(axis=1)
            by_part[here] = surprise.sum(axis=2) / self.channels

        step = max(CHUNK_VALUES // self.width, MIN_CHUNK_ROWS)
        bounds = [(n, min(n + step, last - first)) for n in range(0, last - first, step)]
        in_threads(add_up, bounds, values.size)
        return Combined(values, by_part)

    def _surprise(
        self, residuals: NDArray[np.float32], first: int, last: int, lookahead: int | None
    ) -> NDArray[np.float64]:
        """The surprise of rows to every part, (B, P, C)."""
        measured = Squares.of(residuals, first, last, lookahead)
        surprise = self._scale.surprise(measured).reshape(last - first, -1, self.channels)
        for number in self._joint:
            own = residuals[:, number * self.channels : (number + 1) * self.channels]
            joint = self._views[number].joint
            assert joint is not None
            whole = joint.surprise(JointSquares.of(own, first, last, lookahead))
            surprise = np.concatenate([surprise, whole[:, None]], axis=1)
        return np.asarray(surprise)


def in_threads(
    function: Callable[[Item], Result], items: Sequence[Item], values: int
) -> list[Result]:
    """Apply a function to all items, in threads where there are many values."""
    if values < FEW_VALUES:
        return [function(item) for item in items]
    return side_by_side(function, items, worth_it=values >= MANY)


def _rank(form: str) -> int:
    """Where parts of a form stand: by themselves, given other channels, rows as a whole."""
    return {ACROSS: 1, WHOLE: 2}.get(form, 0)


def _few_rows(view: ForecastingView) -> FewRows | None:
    """The view's two-sided model for a few rows amid a segment; None without one."""
    if view.ridge is None or not view.ridge.models:
        return None
    return FewRows(view.ridge.models[0], view.ridge.gains[0])


def _has_neighbours(view: ForecastingView, rows: Rows, first: int, last: int) -> bool:
    """Whether the first model finds all neighbours of some rows."""
    assert view.ridge is not None
    complete = view.ridge.models[0].neighbours.complete(len(rows))
    return bool(complete.start <= first and last <= complete.stop)
