"""One channel of a series before a departure is planted into it.

Shapes: T rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from subadjacent.data.plant import Floats

LATEST_CYCLES = 6
"""Cycles that are the recent past of a channel."""


@dataclass(frozen=True, eq=False)
class Column:
    """One channel before its departure."""

    values: Floats
    fitted: int
    cycle: int
    decimals: int
    partner: Floats | None

    @property
    def train(self) -> Floats:
        """The rows to fit on."""
        return self.values[: self.fitted]

    @cached_property
    def regular(self) -> Floats:
        """Its mean at the same time of all cycles, or its level, (T,)."""
        if not self.cycle:
            return local_level(self.values)
        phases = np.arange(len(self.values)) % self.cycle
        means = np.array(
            [self.train[phases[: self.fitted] == one].mean() for one in range(self.cycle)]
        )
        return np.asarray(smooth_ring(means, max(1, self.cycle // 48))[phases])

    @cached_property
    def noise(self) -> float:
        """Deviation from the regular part, without the farthest rows."""
        left = (self.values - self.regular)[: self.fitted]
        low, high = np.quantile(left, [0.16, 0.84])
        return float(max((high - low) / 2, 10.0**-self.decimals))

    def of_latest_cycles(self, span: slice) -> Floats:
        """The median at the same time of the latest cycles before some rows."""
        rows = np.arange(span.start, span.stop)
        away = self.cycle * -(-(rows - span.start + 1) // self.cycle)
        earlier = [
            self.values[rows - away - back * self.cycle] for back in np.arange(LATEST_CYCLES)
        ]
        return np.asarray(np.median(earlier, axis=0))

    @cached_property
    def noise_of_cycles(self) -> float:
        """Deviation of training values from the same time of the latest cycles before them."""
        begins = np.arange(LATEST_CYCLES * self.cycle, self.fitted - self.cycle, self.cycle)
        cycles = [slice(begin, begin + self.cycle) for begin in begins]
        left = [self.values[cycle] - self.of_latest_cycles(cycle) for cycle in cycles]
        low, high = np.quantile(left, [0.16, 0.84]) if left else (0.0, 0.0)
        return float(high - low) / 2

    @property
    def range(self) -> float:
        """Width of nearly all of its values."""
        low, high = np.quantile(self.train, [0.01, 0.99])
        return float(high - low)

    @property
    def limits(self) -> tuple[float, float]:
        """Physical limits, as far as training rows tell: 0, and 100 of what reaches it."""
        low = 0.0 if self.train.min() >= 0 else -np.inf
        return low, 100.0 if self.train.min() >= 0 and 90 <= self.train.max() <= 100 else np.inf


def local_level(values: Floats) -> Floats:
    """The median of the rows around each row."""
    padded = np.pad(values, 10, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, 21), axis=1))


def smooth_ring(values: Floats, rows: int) -> Floats:
    """The mean of rows of a ring."""
    padded = np.concatenate([values[-rows:], values, values[:rows]])
    return np.asarray(np.convolve(padded, np.ones(2 * rows + 1) / (2 * rows + 1), "valid"))
