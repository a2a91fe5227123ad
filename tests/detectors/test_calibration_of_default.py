"""Asked for one false alarm in a hundred normal rows, how many come?

A factor of two either way is what a user may be promised where rows to come are like those fitted
on. Where they are not, nobody can: of the last 30 % of training rows of SMD, some of whose machines
change for good there, about 6 % are alarms.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from detectors.test_benchmark_data import DATA
from reproduce.benchmarks import load_benchmark
from reproduce.benchmarks.neurips_ts import neurips_ts
from subadjacent import DataNotFound, SubAdjacentDetector, multivariate

ASKED = 0.01
FEWEST, MOST = ASKED / 2, ASKED * 2

ROWS = 3000
KINDS = ("seasonal", "autoregressive", "both", "counts", "plant", "sine")
# single series have 0 to 20 %: the mean over fewer of them says little
SEEDS = range(8)


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
        return np.asarray(rng.poisson(rates), dtype=np.float64)
    waves = np.sin(2 * np.pi * time / rng.uniform(20, 200, 3) + rng.uniform(0, 6, 3))
    noise = rng.normal(size=(rows, 3))
    # channels that go together, each row much like the one before
    followed = np.asarray(lfilter([1.0], [1.0, -0.8], noise, axis=0), dtype=np.float64)
    wander = followed @ rng.normal(size=(3, 3))
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


def share_of_alarms(share: float) -> float:
    """Among normal rows that follow, over all kinds and seeds."""
    alarms = []
    for kind in KINDS:
        for seed in SEEDS:
            rows = drawn(kind, seed)
            fitted = SubAdjacentDetector(contamination=ASKED).fit(spoiled(rows[:ROWS], share, seed))
            alarms.append(fitted.predict(rows[ROWS:]))
    return float(np.concatenate(alarms).mean())


@pytest.mark.parametrize(
    "share", [0.01, *(pytest.param(share, marks=pytest.mark.sweep) for share in (0.0, 0.03, 0.05))]
)
def test_normal_rows_are_alarms_about_as_often_as_asked_for(share: float) -> None:
    assert FEWEST <= share_of_alarms(share) <= MOST


def bursty(rows: int, seed: int) -> NDArray[np.float64]:
    """Noise that is four times as large now and then, some 40 rows in 400."""
    rng = np.random.default_rng(seed)
    size = np.ones(rows)
    for at in range(0, rows, 400):
        first = at + int(rng.integers(300))
        size[first : first + int(rng.integers(20, 60))] = 4.0
    return np.asarray(rng.normal(size=(rows, 2)) * size[:, None])


def test_bursts_that_come_again_and_again_are_hardly_alarmed() -> None:
    rows = bursty(20_000, seed=0)
    fitted = SubAdjacentDetector(contamination=ASKED).fit(rows[:10_000])
    # a tenth of the rows are in bursts
    assert FEWEST <= fitted.predict(rows[10_000:]).mean() <= MOST


@pytest.mark.parametrize("events", [8])
def test_anomalies_in_the_training_rows_do_not_hide_others_of_their_kind(events: int) -> None:
    rng = np.random.default_rng(0)
    time = np.arange(15_000)[:, None]
    rows = np.sin(time / [5.0, 8.0, 13.0]) + 0.1 * rng.normal(size=(15_000, 3))
    anomalous = np.zeros(15_000, dtype=bool)
    for first in [*np.linspace(300, 9600, events).astype(int), 10_700, 12_500, 14_000]:
        anomalous[first : first + 20] = True
    rows[anomalous, 1] += 3.0
    fitted = SubAdjacentDetector().fit(rows[:10_000])
    assert fitted.predict(rows[10_000:])[anomalous[10_000:]].mean() > 0.9


@pytest.mark.shared
@pytest.mark.xfail(
    reason="3.6 to 3.9 % of the rows for 1 %: the strongest channel of real rows held back stands "
    "out more often than in those that its level was learned from",
    raises=AssertionError,
    strict=True,
)
@pytest.mark.parametrize("name", ["msl", "smap", "smd"])
def test_held_back_rows_of_a_benchmark_are_alarms_about_as_often_as_asked_for(name: str) -> None:
    """The middle of the training rows is held back, of every third entity; the rest has a gap."""
    try:
        entities = load_benchmark(name, DATA).train[::3]
    except DataNotFound as error:
        pytest.skip(f"benchmark data is not there: {error}")
    fitted_on, held_back = {}, {}
    for one in entities:
        times = pd.to_datetime(np.arange(len(one)) * 60, unit="s")
        frame = pd.DataFrame(one.values, index=times)
        first, last = int(0.35 * len(one)), int(0.65 * len(one))
        fitted_on[one.entity] = pd.concat([frame[:first], frame[last:]])
        held_back[one.entity] = frame[first:last]
    detector = SubAdjacentDetector(contamination=ASKED).fit(fitted_on)
    alarms = np.concatenate([np.ravel(one) for one in detector.predict(held_back).values()])
    assert FEWEST <= alarms.mean() <= MOST


def training_labels(seed: int) -> NDArray[np.int_]:
    """Of waves with an anomaly in rows 900 to 959 and one in 1300 to 1359."""
    rng = np.random.default_rng(seed)
    time = np.arange(4000)[:, None]
    rows = np.sin(time / [5.0, 8.0, 13.0, 21.0, 34.0]) + 0.1 * rng.normal(size=(4000, 5))
    # both in the second fifth
    rows[900:960, 1] += 3.0
    rows[1300:1360, 2] += 3.0
    return SubAdjacentDetector(contamination=ASKED).fit(rows).labels_


@pytest.mark.parametrize("seed", [0])
def test_training_labels_spare_the_normal_rows_beside_an_anomaly(seed: int) -> None:
    labels = training_labels(seed)
    assert labels[900:960].mean() > 0.9
    # the second one is found
    assert labels[1300:1330].all()
    # and rows beside them are spared
    assert labels[860:880].mean() <= 0.1
    assert labels[980:1000].mean() <= 0.1
    assert labels[1060:1200].mean() <= 0.1
    assert labels[:800].mean() <= 0.1


@pytest.mark.xfail(
    reason="60 %: averages spread both over half of 600 rows, so the series counts as moved in the "
    "second, and is followed by the median of 75 rows",
    raises=AssertionError,
    strict=True,
)
@pytest.mark.parametrize("seed", [1])
def test_a_second_anomaly_soon_after_the_first_is_labelled_to_its_end(seed: int) -> None:
    assert training_labels(seed)[1300:1360].mean() > 0.9
