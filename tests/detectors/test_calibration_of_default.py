"""Asked for one false alarm in a hundred normal rows, how many come?

A factor of two either way is what a user may be promised where rows to come are like those fitted
on. On the benchmark sets every tenth entity is taken, to be quick. That says little of a whole
set: rows of a few entities change for good, and of all last parts together 6.9 % of MSL, 1.0 % of
SMAP and 7.0 % of SMD (19 machines) are alarms.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from detectors.test_benchmark_data import DATA
from subadjacent import BandRidgeDetector, DataNotFound, multivariate
from subadjacent.data.benchmarks import load_benchmark
from subadjacent.data.synthetic import neurips_ts

ASKED = 0.01
FEWEST, MOST = ASKED / 2, ASKED * 2

ROWS = 3000
KINDS = ("seasonal", "autoregressive", "both", "counts", "plant", "sine")
SEEDS = (0, 1)
TOO_QUIET = "one false alarm in five hundred: the margin of a threshold is wide for rows as steady"


def drawn(kind: str, seed: int) -> NDArray[np.float64]:
    """Normal rows; the first half is to be fitted on."""
    rng, rows = np.random.default_rng(seed), 2 * ROWS
    time = np.arange(rows)[:, None]
    if kind == "plant":
        plant = multivariate(n=ROWS, channels=5, seed=seed, kinds=())
        return np.concatenate([plant.train, plant.test])
    if kind == "sine":
        return neurips_ts(rows, seed, kinds=()).base
    if kind == "counts":
        rates = 5 + 4 * np.sin(2 * np.pi * time / rng.uniform(30, 120, 2))
        return rng.poisson(rates).astype(np.float64)
    waves = np.sin(2 * np.pi * time / rng.uniform(20, 200, 3) + rng.uniform(0, 6, 3))
    noise = rng.normal(size=(rows, 3))
    # channels that go together, each row much like the one before
    wander = lfilter([1.0], [1.0, -0.8], noise, axis=0) @ rng.normal(size=(3, 3))
    return {
        "seasonal": waves + 0.1 * noise,
        "autoregressive": wander,
        "both": waves + 0.1 * wander,
    }[kind]


def spoiled(rows: NDArray[np.float64], share: float, seed: int) -> NDArray[np.float64]:
    """A share of rows put out, in bursts of 5 to 40 and one channel each, by 3 to 8 deviations."""
    rng, found, left = np.random.default_rng(seed), rows.copy(), int(share * len(rows))
    deviations = rows.std(axis=0)
    while left > 0:
        length = min(int(rng.integers(5, 40)), left)
        at, channel = int(rng.integers(len(rows) - length)), int(rng.integers(rows.shape[1]))
        size = rng.choice([-1, 1]) * rng.uniform(3, 8)
        found[at : at + length, channel] += size * deviations[channel]
        left -= length
    return found


@cache
def share_of_alarms(share: float) -> float:
    """Among normal rows that follow, over all kinds and seeds."""
    alarms = []
    for kind in KINDS:
        for seed in SEEDS:
            rows = drawn(kind, seed)
            fitted = BandRidgeDetector(contamination=ASKED).fit(spoiled(rows[:ROWS], share, seed))
            alarms.append(fitted.predict(rows[ROWS:]))
    return float(np.concatenate(alarms).mean())


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.05])
def test_normal_rows_are_alarms_at_most_twice_as_often_as_asked_for(share: float) -> None:
    assert share_of_alarms(share) <= MOST


@pytest.mark.xfail(reason=TOO_QUIET, strict=True)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.03])
def test_and_at_least_half_as_often(share: float) -> None:
    assert share_of_alarms(share) >= FEWEST


def test_spoiled_rows_are_as_many_as_said_and_far_out() -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    away = np.abs(spoiled(rows, 0.03, 1) - rows)
    # bursts may fall on each other
    assert 60 <= (away > 0).any(axis=1).sum() <= 90
    assert away[away > 0].min() > 2.8
    np.testing.assert_array_equal(spoiled(rows, 0.0, 1), rows)


@cache
def benchmark_share(name: str) -> float:
    """Of every tenth entity: fitted on the first 70 % of its training rows, held to the rest."""
    try:
        entities = load_benchmark(name, DATA).train[::10]
    except DataNotFound as error:
        pytest.skip(f"benchmark data is not there: {error}")
    cuts = {one.entity: int(0.7 * len(one)) for one in entities}
    detector = BandRidgeDetector(contamination=ASKED)
    detector.fit({one.entity: one.values[: cuts[one.entity]] for one in entities})
    alarms = detector.predict({one.entity: one.values[cuts[one.entity] :] for one in entities})
    return float(np.concatenate(list(alarms.values())).mean())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["msl", "smap", "smd"])
def test_the_last_rows_of_every_tenth_entity_are_alarms_at_most_twice_as_often(name: str) -> None:
    assert benchmark_share(name) <= MOST


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "msl",
            marks=pytest.mark.xfail(
                reason="alarms of MSL are of few entities, and every tenth misses them",
                strict=True,
            ),
        ),
        "smap",
        "smd",
    ],
)
def test_and_those_of_every_tenth_entity_at_least_half_as_often(name: str) -> None:
    assert benchmark_share(name) >= FEWEST
