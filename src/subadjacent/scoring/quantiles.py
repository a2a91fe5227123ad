"""Quantiles and medians of few numbers, without what NumPy does for all other cases.

Of a hundred numbers it takes NumPy a hundred microseconds, nearly all of it to find out what it was
given; a fleet asks some thirty times for each entity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEW = 2_000
"""Numbers that are sorted; of more, NumPy looks for those wanted alone."""


def quantiles(values: NDArray[np.float64], shares: Sequence[float]) -> list[float]:
    """What each share of some numbers, (N,), is below, between two of them along a line.

    NaN where one of the numbers is.
    """
    if not 0 < len(values) <= FEW:
        return [float(found) for found in np.quantile(values, shares)]
    ordered = np.sort(values).tolist()
    if ordered[-1] != ordered[-1]:
        return [float("nan")] * len(shares)
    return [_between(ordered, share * (len(ordered) - 1)) for share in shares]


def median(values: NDArray[np.float64]) -> float:
    """The middle of some numbers, (N,), or between the two in the middle; NaN without any."""
    if not 0 < len(values) <= FEW:
        return float(np.median(values))
    ordered = np.sort(values).tolist()
    if ordered[-1] != ordered[-1]:
        return float("nan")
    middle = len(ordered) // 2
    other = ordered[(len(ordered) - 1) // 2]
    return float((other + ordered[middle]) / 2) if len(ordered) % 2 == 0 else float(other)


def _between(ordered: Sequence[float], place: float) -> float:
    low = int(place)
    before, after = ordered[low], ordered[min(low + 1, len(ordered) - 1)]
    share = place - low
    # from the nearer end, as NumPy does: it loses fewer digits
    if share < 0.5:
        return before + (after - before) * share
    return after - (after - before) * (1 - share)
