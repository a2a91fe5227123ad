"""The data that frozen behaviour was recorded on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from subadjacent import multivariate

MSL = Path(__file__).resolve().parents[3] / "shared" / "data" / "msl.npz"
# one that moves for good, one with a channel that is constant in training, two calm ones
ENTITIES = ("M-6", "C-1", "T-9", "P-15")

Pair = tuple[Any, Any]


def generated() -> dict[str, Pair]:
    """Training and test rows, by name."""
    return {
        "plant": _plant(),
        "entities": _entities(),
        "gaps": _gaps(),
        "single": _single(),
        "short": _short(),
    }


def msl() -> Pair:
    """Some entities of MSL."""
    with np.load(MSL) as data:
        names = data["entities"].tolist()
        train, test = (
            dict(
                zip(
                    names,
                    np.split(data[part], np.cumsum(data[f"{part}_lengths"])[:-1]),
                    strict=True,
                )
            )
            for part in ("train", "test")
        )
    return tuple(  # type: ignore[return-value]
        {name: np.ascontiguousarray(part[name]) for name in ENTITIES} for part in (train, test)
    )


def _plant() -> Pair:
    plant = multivariate(n=3_000, channels=5, seed=11)
    return plant.train, plant.test


def _entities() -> Pair:
    plants = {f"unit {n}": multivariate(n=700 + 150 * n, channels=3, seed=20 + n) for n in range(4)}
    train = {name: plant.train for name, plant in plants.items()}
    test = {name: plant.test for name, plant in plants.items()}
    # one that was not there in fitting
    return train, test | {"stranger": test["unit 2"] * 1.5}


def _gaps() -> Pair:
    plant = multivariate(n=2_000, channels=3, seed=31)
    return _with_gaps(plant.train), _with_gaps(plant.test)


def _with_gaps(values: Any) -> pd.DataFrame:
    minutes = np.arange(len(values)) + 500 * (np.arange(len(values)) // 450)
    index = pd.Timestamp("2026-01-01") + pd.to_timedelta(minutes, unit="min")
    return pd.DataFrame(values, index=index, columns=list("abc"))


def _single() -> Pair:
    time = np.arange(6_000)
    noise = np.random.default_rng(5).normal(size=len(time))
    wave = np.sin(2 * np.pi * time / 288) + 0.1 * noise
    broken = wave[3_000:].copy()
    broken[1_000:1_040] += 1.0
    broken[2_000] += 3.0
    return wave[:3_000, None], broken[:, None]


def _short() -> Pair:
    noise = np.random.default_rng(6).normal(size=(420, 2))
    broken = noise[300:].copy()
    broken[50:60] += 4.0
    return noise[:300], broken
