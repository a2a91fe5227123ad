"""Rows to fit one predictor to, on a scale that leaves them as they are."""

from __future__ import annotations

import numpy as np

from subadjacent.data.scaling import Scaler
from subadjacent.data.series import TrainSeries
from subadjacent.methods.per_entity import Task


def task(rows: np.ndarray, starts: tuple[int, ...] = (0,), seed: int = 0) -> Task:
    plain = Scaler(np.zeros(rows.shape[1]), np.ones(rows.shape[1]), clip=1e9)
    return Task([TrainSeries(rows, starts=starts)], plain, seed)


def noise(n: int = 300, channels: int = 3, seed: int = 0) -> np.ndarray:
    """White noise, rounded as standardised rows are."""
    return np.random.default_rng(seed).normal(size=(n, channels)).astype(np.float32).astype(float)
