"""Quantiles and medians of few numbers, without NumPy's handling of other cases.

For a hundred numbers NumPy takes a hundred microseconds, nearly all of it to inspect its arguments;
a fleet needs some thirty quantiles for each entity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MAX_SORTED = 2_000
"""Numbers that are sorted; of more, NumPy looks for those wanted alone."""


def quantiles(values: NDArray[np.float64], shares: Sequence[float]) -> list[float]:
    """The quantiles of some numbers, (N,), at each share, interpolated linearly.

    NaN where one of the numbers is.
    """
    if not 0 < len(values) <= MAX_SORTED:
        return [float(value) for value in np.quantile(values, shares)]
    ordered = np.sort(values).tolist()
    if ordered[-1] != ordered[-1]:
        return [float("nan")] * len(shares)
    return [_between(ordered, share * (len(ordered) - 1)) for share in shares]


def median(values: NDArray[np.float64]) -> float:
    """The median of some numbers, (N,); NaN without any."""
    if not 0 < len(values) <= MAX_SORTED:
        return float(np.median(values))
    ordered = np.sort(values).tolist()
    if ordered[-1] != ordered[-1]:
        return float("nan")
    middle = len(ordered) // 2
    below = ordered[(len(ordered) - 1) // 2]
    return float((below + ordered[middle]) / 2) if len(ordered) % 2 == 0 else float(below)


def _between(ordered: Sequence[float], place: float) -> float:
    low = int(place)
    before, after = ordered[low], ordered[min(low + 1, len(ordered) - 1)]
    share = place - low
    # from the nearer end, as NumPy does: it loses fewer digits
    if share < 0.5:
        return before + (after - before) * share
    return after - (after - before) * (1 - share)
