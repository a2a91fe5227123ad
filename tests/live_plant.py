"""A small plant whose rows come one after the other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

CHANNELS = ("pressure", "flow", "speed")


def plant(rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Three channels: two waves and noise."""
    rng = np.random.default_rng(seed)
    time = np.arange(rows)
    waves = np.column_stack([np.sin(time / 8), 20 + 2 * np.cos(time / 8), np.zeros(rows)])
    return waves + rng.normal(size=waves.shape) * [0.05, 0.1, 1.0]


def broken(rows: int = 1200) -> NDArray[np.float64]:
    """The same with a spike, gaps short and long, a stuck channel and a change for good."""
    values = plant(rows, seed=1)
    values[300:306, 2] += 40
    values[400:404, 1] = np.nan
    values[450:480, 0] = np.nan
    values[560:600, 1] = values[560, 1]
    values[800:, 0] += 30
    values[:3, 1] = np.nan
    return values


def gappy() -> pd.DataFrame:
    """Rows a minute, less 40 of them and, beside that gap, some values."""
    rows = plant(340, seed=3)
    rows[100:104, 1] += 5
    rows[148:150, 0] = rows[190:193, 0] = np.nan
    times = pd.date_range("2026-01-01", periods=340, freq="1min")
    return pd.DataFrame(rows, columns=list(CHANNELS), index=times).drop(times[150:190])


def looked_new() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A slow wave to fit ``views=["level"]`` on, and more of it with two events.

    The first is new, but within the range of training: it is withdrawn. The other is confirmed.
    """
    rows = 10 * np.sin(np.arange(2_200) * np.pi / 100)[:, None]
    rows += 0.3 * np.random.default_rng(0).normal(size=rows.shape)
    train, test = rows[:1_400], rows[1_400:]
    test[250:253] *= -1
    test[500:505] += 60
    return train, test
