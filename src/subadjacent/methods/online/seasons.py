"""The seasonal profile of each channel: its mean value at each phase of its cycle.

A cycle is a day, a week, a turn of the machine; a channel may have none.

Shapes: B rows, C channels, T rows of history.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.online.history import MINI_BATCH
from subadjacent.ridge.period import channel_periods

Array = NDArray[np.float64]

CLIPPED_PERCENT = 1
"""Percent of values at either end that are clipped before a period is searched for."""

SAME_PERIOD = 0.02
"""A period that differs from the known one by less than this share, or by two rows, is the same."""

MIN_NEWEST_SHARE = 0.15
"""The least share that the newest cycle has in the mean over cycles."""

HALF_LIFE = 4.0
"""Cycles after which a cycle counts for half, in a profile that is made from the history."""

FIRST_SEARCH, SEARCH_GROWTH, SEARCH_EVERY = 200, 1.5, 2_000
"""Rows before the first search for periods. Each next one is after 1.5 times as many rows, at the
latest 2,000 rows after the one before."""

BETTER_SHARE = 0.5
"""A profile is shifted where it leaves less than this share of the squares that it left before."""

LAGS_AGO = np.arange(5, 9)
"""Rows ago whose mean profile is a feature: those of the nearest sub-adjacent mean."""

_NOW_AND_AGO = np.array([0, *LAGS_AGO])


class Seasons:
    """The period of each channel, 0 for none, and its seasonal profile."""

    def __init__(self, channels: int) -> None:
        self.periods: NDArray[np.int64] = np.zeros(channels, dtype=np.int64)
        # as wide as the longest period; a channel without one reads the first column, which is 0
        self.profile: Array = np.zeros((channels, 1))
        self.counts: Array = np.zeros((channels, 1))
        self.next_search = FIRST_SEARCH
        # rows by which the phase of each channel is ahead of the row number
        self.shifts: NDArray[np.int64] = np.zeros(channels, dtype=np.int64)
        # features of the rows of a mini-batch, by the number of the first of them
        self._features: tuple[int, Array] | None = None

    def features(self, first: int, count: int) -> Array:
        """The profile at rows, and its mean over ``LAGS_AGO`` before them, (B, C, 2).

        They are ``count`` rows, from number ``first`` on. It is 0 for channels without a cycle.
        """
        if count > MINI_BATCH:
            return self._look_up(first, count)
        if self._features is None or not 0 <= first - self._features[0] <= MINI_BATCH - count:
            # of a mini-batch at once: the profile is the same for all of its rows
            self._features = first, self._look_up(first, MINI_BATCH)
        start, features = self._features
        return features[first - start : first - start + count]

    def _look_up(self, first: int, count: int) -> Array:
        features = np.zeros((count, len(self.periods), 2))
        if self.periods.any():
            wanted = np.arange(first, first + count)[:, None] - _NOW_AND_AGO
            phases = (wanted[..., None] + self.shifts) % np.maximum(self.periods, 1)
            profile = self.profile[np.arange(len(self.periods)), phases]  # (B, 1 + lags, C)
            features[..., 0] = profile[:, 0]
            features[..., 1] = profile[:, 1:].sum(axis=1) / len(LAGS_AGO)
        return features

    def learn(self, row_numbers: NDArray[np.intp], values: Array) -> None:
        """Move the profile towards rows, (B, C), at their phases."""
        self._features = None
        (channels,) = self.periods.nonzero()
        if not len(channels):
            return
        phases = (row_numbers[:, None] + self.shifts[channels]) % self.periods[channels]
        places = channels, phases
        profile, counts = self.profile[places], self.counts[places]  # (B, channels with a cycle)
        share = np.maximum(1 / (counts + 1), MIN_NEWEST_SHARE)
        self.profile[places] = profile + share * (values[:, channels] - profile)
        self.counts[places] = counts + 1

    def align(self, rows: Array, last: int) -> None:
        """Shift profiles to where the latest rows, (T, C), are best explained by them.

        ``last`` is the number of the last row. A profile stays where it explains them nearly as
        well: rows of noise are not to move it.
        """
        self._features = None
        numbers = np.arange(last + 1 - len(rows), last + 1)
        for channel in self.periods.nonzero()[0].tolist():
            period, values = int(self.periods[channel]), rows[:, channel]
            phases = (numbers[:, None] + np.arange(period)) % period
            squares = np.square(self.profile[channel][phases] - values[:, None]).sum(axis=0)
            best, now = int(squares.argmin()), int(self.shifts[channel]) % period
            if squares[best] < BETTER_SHARE * squares[now]:
                self.shifts[channel] = best

    def search(self, rows: Array, last: int) -> NDArray[np.intp]:
        """Search for periods in the history, (T, C), whose last row has the number ``last``.

        Returns the channels that have a period now which they did not have before.
        """
        later = int(self.next_search * SEARCH_GROWTH)
        self.next_search = min(later, self.next_search + SEARCH_EVERY)
        low, high = np.percentile(rows, [CLIPPED_PERCENT, 100 - CLIPPED_PERCENT], axis=0)
        changed = []
        for channel, period in enumerate(channel_periods(np.clip(rows, low, high))):
            known = int(self.periods[channel])
            if period is None or (known and abs(period - known) <= max(2, SAME_PERIOD * period)):
                continue
            self._fit_profile(channel, period, rows[:, channel], last)
            changed.append(channel)
        return np.array(changed, dtype=np.intp)

    def _fit_profile(self, channel: int, period: int, values: Array, last: int) -> None:
        row_numbers = np.arange(last + 1 - len(values), last + 1)
        phases = row_numbers % period
        weights = 0.5 ** ((last + 1 - row_numbers) / (HALF_LIFE * period))
        total = np.bincount(phases, weights, minlength=period)
        sums = np.bincount(phases, weights * values, minlength=period)
        self._features = None
        self.shifts[channel] = 0
        self.periods[channel] = period
        self._widen(period)
        self.profile[channel, :period] = sums / total
        self.counts[channel, :period] = np.bincount(phases, minlength=period)

    def _widen(self, width: int) -> None:
        added = ((0, 0), (0, max(width - self.profile.shape[1], 0)))
        self.profile, self.counts = np.pad(self.profile, added), np.pad(self.counts, added)

    def state(self) -> dict[str, NDArray[Any]]:
        """Periods and profiles, as wide as the longest period; ``restore`` is the inverse."""
        longest = int(self.periods.max(initial=0))
        return {
            "periods": self.periods,
            "profile": self.profile[:, :longest],
            "counts": self.counts[:, :longest],
            "next_search": np.array([self.next_search]),
            "shifts": self.shifts,
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace periods and profiles by saved ones."""
        self.periods = np.array(state["periods"], dtype=np.int64)
        longest = state["profile"].shape[1]
        self._widen(longest)
        self.profile[:, :longest] = state["profile"]
        self.counts[:, :longest] = state["counts"]
        self.next_search = int(state["next_search"][0])
        # streams that were saved before 0.3 have none
        shifts = state.get("shifts", np.zeros_like(self.periods))
        self.shifts = np.array(shifts, dtype=np.int64)
        self._features = None
