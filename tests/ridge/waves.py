"""Rows that the tests of ridges share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]


def noise(rows: int, channels: int = 2, seed: int | None = None) -> Rows:
    rng = np.random.default_rng(rows if seed is None else seed)
    return rng.normal(size=(rows, channels)).astype(np.float32)


def wave(rows: int, channels: int = 2, noise: float = 0.1, seed: int = 0) -> Rows:
    """Sines of different periods with noise."""
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None] / (3 + np.arange(channels))
    return (np.sin(time) + noise * rng.normal(size=(rows, channels))).astype(np.float32)
