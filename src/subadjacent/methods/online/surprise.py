"""The surprise of a row: how improbable its departures are, over all views and channels.

Shapes: B rows, C channels, V views.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.online.hill_tails import BINS, HillTails
from subadjacent.methods.online.views import view_count

Array = NDArray[np.float64]

TIME_CONSTANT = 6_000.0
"""Rows after which a row counts for a third in how rare a departure or a surprise is."""

VIEW_WEIGHT = 0.5
"""Weight of the surprise of a view, for views agree in part."""

MAX_VIEW_SURPRISE = 20.0
"""The highest surprise of one view. It takes 18 of one view alone to open an alarm where nothing
else departs; a higher one is beyond what a few thousand rows can tell. 40 costs 1 to 6 points where
there are many channels (reproduce/log.md, "Alarms of many channels")."""

CHANNEL_NORM = 4.0
"""Order of the norm over channels: 16 that depart alike count for twice as much as one of them. The
highest alone costs 4 points on machines of 38 channels (same entry)."""

ALARM_WEIGHT = 0.1
"""Weight of a row of an alarm in how rare a departure is: what recurs becomes usual in the end, but
an event does not while it lasts."""


class RowSurprise(NamedTuple):
    """The surprise of rows, in log-probability units."""

    by_view: Array  # (B, V, C)
    by_channel: Array  # (B, C), the sum over views
    row: Array  # (B,), half the norm over channels


class StreamSurprise:
    """The tails of all views of all channels."""

    def __init__(self, channels: int) -> None:
        self._shape = view_count(channels), channels
        self.tails = HillTails(math.prod(self._shape))

    def of(self, by_view: Array, has_moved: NDArray[np.bool_], rows: int) -> RowSurprise:
        """The surprise of rows, given their departures, (B, V, C).

        ``rows`` is how many the series has. How far a channel may go that never moved is unknown:
        the surprise of its first move is that of one row in all rows before it.
        """
        first_move = math.log(min(rows, TIME_CONSTANT))
        most = np.where(has_moved, MAX_VIEW_SURPRISE, first_move)
        surprise = self.tails.surprise(by_view.reshape(len(by_view), -1))
        of_views = np.minimum(surprise.reshape(by_view.shape), most)
        by_channel = np.add.reduce(of_views, axis=1)
        return RowSurprise(of_views, by_channel, VIEW_WEIGHT * over_channels(by_channel))

    def learn(self, by_view: Array, normal: NDArray[np.bool_], forgetting: float) -> None:
        """Count departures, (B, V, C); those of rows that were not normal count less."""
        weights = np.where(normal, 1.0, ALARM_WEIGHT)
        self.tails.learn(by_view.reshape(len(by_view), -1), weights, forgetting)

    def fit(self) -> None:
        """Fit the tails, if their counts have changed."""
        self.tails.fit()

    def state(self) -> dict[str, NDArray[Any]]:
        """The histograms; ``restore`` is the inverse."""
        return {"counts": self.tails.counts.reshape(*self._shape, BINS)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the histograms by saved ones."""
        self.tails.restore(state["counts"].reshape(-1, BINS))


def over_channels(surprise: Array) -> Array:
    """The norm over channels, which are last in the shape."""
    powers = np.add.reduce(np.power(surprise, CHANNEL_NORM), axis=-1)
    norm: Array = np.power(powers, 1 / CHANNEL_NORM)
    return norm
