"""What is usual at each time of a channel's cycle: a day, a week, a turn of the machine.

Shapes: B rows, C channels, T rows that are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.period import channel_periods

Array = NDArray[np.float64]

CUT = 1
"""Percent of values at either end that are cut before a cycle is looked for."""

SAME = 0.02
"""A cycle that differs by less than this share, or by two rows, is the one that was found."""

NEWEST = 0.15
"""The least that the latest cycle counts for in the mean of all."""

HALVED = 4.0
"""Cycles after which one counts for half, where a cycle is made of rows that are kept."""

FIRST_LOOK, LATER_LOOKS, LOOK_EVERY = 200, 1.5, 2_000
"""Rows before cycles are looked for, then after so many times as many, at last every so many."""

AGO = np.arange(5, 9)
"""Rows ago at which the season is told as well: those of the nearest sub-adjacent mean."""


class Seasons:
    """The cycle of each channel, where it has one, and what is usual at each of its times."""

    def __init__(self, channels: int) -> None:
        self.periods: NDArray[np.int64] = np.zeros(channels, dtype=np.int64)
        # as wide as the longest cycle; a channel without one looks at the first place
        self.usual: Array = np.zeros((channels, 1))
        self.seen: Array = np.zeros((channels, 1))
        self.next_look = FIRST_LOOK

    def at(self, numbers: NDArray[np.int64]) -> Array:
        """What is usual at rows, by their numbers, and some rows before them, (B, C, 2).

        Channels without a cycle have 0.
        """
        found = np.zeros((len(numbers), len(self.periods), 2))
        if self.periods.any():
            found[..., 0] = self._usual_at(numbers)
            before = self._usual_at((numbers[:, None] - AGO).ravel())
            found[..., 1] = before.reshape(len(numbers), len(AGO), -1).mean(axis=1)
        return found

    def _usual_at(self, numbers: NDArray[np.int64]) -> Array:
        phases = numbers[:, None] % np.maximum(self.periods, 1)
        usual: Array = self.usual[np.arange(len(self.periods)), phases]
        return usual

    def learn(self, numbers: NDArray[np.intp], values: Array) -> None:
        """Let rows, (B, C), count for their time of the cycle."""
        for channel in np.flatnonzero(self.periods):
            phases = numbers % self.periods[channel]
            usual, seen = self.usual[channel], self.seen[channel]
            share = np.maximum(1 / (seen[phases] + 1), NEWEST)
            usual[phases] += share * (values[:, channel] - usual[phases])
            seen[phases] += 1

    def look(self, rows: Array, last: int) -> NDArray[np.intp]:
        """Look for cycles in rows that are kept, (T, C), the last of which has a number.

        Returns the channels that have a cycle now which they did not have before.
        """
        later = int(self.next_look * LATER_LOOKS)
        self.next_look = min(later, self.next_look + LOOK_EVERY)
        low, high = np.percentile(rows, [CUT, 100 - CUT], axis=0)
        changed = []
        for channel, period in enumerate(channel_periods(np.clip(rows, low, high))):
            known = int(self.periods[channel])
            if period is None or (known and abs(period - known) <= max(2, SAME * period)):
                continue
            self._begin(channel, period, rows[:, channel], last)
            changed.append(channel)
        return np.array(changed, dtype=np.intp)

    def _begin(self, channel: int, period: int, column: Array, last: int) -> None:
        numbers = np.arange(last + 1 - len(column), last + 1)
        phases = numbers % period
        weights = 0.5 ** ((last + 1 - numbers) / (HALVED * period))
        total = np.bincount(phases, weights, minlength=period)
        sums = np.bincount(phases, weights * column, minlength=period)
        self.periods[channel] = period
        self._widen(period)
        self.usual[channel, :period] = sums / total
        self.seen[channel, :period] = np.bincount(phases, minlength=period)

    def _widen(self, width: int) -> None:
        more = ((0, 0), (0, max(width - self.usual.shape[1], 0)))
        self.usual, self.seen = np.pad(self.usual, more), np.pad(self.seen, more)

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learned, of the length of the longest cycle; ``restore`` is the inverse."""
        longest = int(self.periods.max(initial=0))
        return {
            "periods": self.periods,
            "usual": self.usual[:, :longest],
            "seen": self.seen[:, :longest],
            "next_look": np.array([self.next_look]),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was learned."""
        self.periods = np.array(state["periods"], dtype=np.int64)
        longest = state["usual"].shape[1]
        self._widen(longest)
        self.usual[:, :longest] = state["usual"]
        self.seen[:, :longest] = state["seen"]
        self.next_look = int(state["next_look"][0])
