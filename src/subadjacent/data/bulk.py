"""The bulk of each channel: the values that nearly all of its rows keep between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# the share of rows below the bulk, and as many above it: a hundredth of bad values does not reach
# into it. A half leaves them no room, twice as much says less of rows that are rarely far out
OUTSIDE = 0.02
# values sorted at a time, so that a long series is never copied whole in float64
AT_A_TIME = 4_000_000


class Bulk(NamedTuple):
    """Lowest and highest value of each channel's bulk, (C,) each."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def wider_by(self, times: float) -> Bulk:
        """Bounds beyond the bulk, on either side, by ``times`` its width.

        None for a channel whose bulk is a single value, which tells nothing of a usual range.
        """
        width = self.high - self.low
        beyond = np.where(width > 0, times * width, np.inf)
        return Bulk(self.low - beyond, self.high + beyond)


def bulk(tables: Sequence[NDArray[Any]]) -> Bulk:
    """The bulk of all rows of some tables together; they have at least one row in all."""
    rows, channels = sum(map(len, tables)), tables[0].shape[1]
    bounds = np.empty((2, channels))
    for some in _groups(channels, max(AT_A_TIME // rows, 1)):
        values = np.concatenate([table[:, some].T for table in tables], axis=1).astype(np.float64)
        bounds[:, some] = np.quantile(values, [OUTSIDE, 1 - OUTSIDE], axis=1)
    return Bulk(*bounds)


def _groups(channels: int, size: int) -> Iterator[slice]:
    for start in range(0, channels, size):
        yield slice(start, start + size)
