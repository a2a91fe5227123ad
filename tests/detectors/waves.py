"""Rows that the tests of the default share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def waves(rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Three sines of different periods with a little noise."""
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    return np.sin(time / [5.0, 8.0, 13.0]) + 0.05 * rng.normal(size=(rows, 3))
