"""What must not blind the default, nor make it alarm: bad values, exact relations, few rows."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.test_calibration_of_default import ROWS, drawn
from subadjacent import InputError, PCADetector, SubAdjacentDetector
from subadjacent.detectors.base import BaseDetector

Floats = NDArray[np.float64]

# ---- bad values in the training rows


def sines(rows: int, seed: int) -> Floats:
    rng, time = np.random.default_rng(seed), 1000 * seed + np.arange(rows)[:, None]
    return np.sin(2 * np.pi * time / [50, 80, 130]) + 0.1 * rng.normal(size=(rows, 3))


def peak(detector: BaseDetector) -> float:
    """Of a jump by three deviations for 20 rows, in thresholds."""
    rows = sines(1000, seed=9)
    rows[500:520, 0] += 3 * rows[:, 0].std()
    return float(detector.decision_function(rows)[480:540].max() / detector.threshold_)


def spoiled(value: float, at: list[int], channels: int = 1) -> Floats:
    rows = sines(4000, seed=1)
    rows[at, :channels] = value
    return rows


@cache
def clean_peak(kind: type[BaseDetector]) -> float:
    return peak(kind().fit(sines(4000, seed=1)))


@pytest.mark.parametrize(
    ("value", "at", "channels"),
    [
        (9999.0, [2000], 1),
        (-9999.0, [2000], 1),
        (1e6, [3999], 3),
        (9999.0, [300, 1200, 2000, 3100], 1),
        (-99.0, [2000, 2001, 2002, 2003], 1),
        (12.0, [0, 700], 1),
    ],
)
def test_bad_training_values_do_not_blind_a_channel(
    value: float, at: list[int], channels: int
) -> None:
    detector = SubAdjacentDetector().fit(spoiled(value, at, channels))
    assert peak(detector) == pytest.approx(clean_peak(SubAdjacentDetector), rel=0.2)
    # and are anomalies themselves
    assert detector.labels_[at].all()
    # rows that no average or window joins to them are none
    apart = np.abs(np.arange(4000)[:, None] - at).min(axis=1) > 300
    assert not detector.labels_[apart].any()


def test_bad_training_values_do_not_blind_a_subspace() -> None:
    detector = PCADetector().fit(spoiled(9999.0, [300, 1200, 2000, 3100]))
    assert peak(detector) == pytest.approx(clean_peak(PCADetector), rel=0.2)


# ---- a relation that was exact


def plant(rows: int, seed: int, off: float = 0.0) -> Floats:
    """Three pumps, the flow of each by its state, and two levels; flows off by some deviations."""
    rng = np.random.default_rng(seed)
    state = (np.cumsum(rng.random((rows, 3)) < 0.01, axis=0) % 2).astype(float)
    levels = np.sin(2 * np.pi * (np.arange(rows)[:, None] + 37 * seed) / [97, 61])
    levels += 0.1 * rng.normal(size=(rows, 2))
    return np.column_stack([state, 2.5 * state + off * 1.25, levels])


@cache
def of_plant(min_deviation: float, adapt_after: int | None) -> SubAdjacentDetector:
    detector = SubAdjacentDetector(
        contamination=0.01, min_deviation=min_deviation, adapt_after=adapt_after
    )
    return detector.fit(plant(4000, seed=1))


def alarms(off: float, min_deviation: float = 0.1, adapt_after: int | None = 300) -> float:
    detector = of_plant(min_deviation, adapt_after)
    return float(np.mean(detector.predict(plant(3000, seed=2, off=off))))


def test_a_relation_that_was_exact_may_be_off_by_a_trifle() -> None:
    # 0.01 are asked for; where 0.03 deviations mattered, a tenth gave 0.1 and 0.15 gave 0.7
    assert alarms(0.0) < 0.02
    assert alarms(0.05) < 0.02
    assert alarms(0.1) < 0.05


def severe(off: float, min_deviation: float, adapt_after: int | None = 300) -> float:
    """The share of rows above the level."""
    detector = of_plant(min_deviation, adapt_after)
    return float(np.mean(detector.normalized_score(plant(3000, seed=2, off=off)) > 1))


def test_how_much_matters_can_be_told() -> None:
    assert severe(0.2, min_deviation=0.5) < 0.02
    # what is off for good is the new normal after 300 rows of 3000 and a few that it takes to
    # follow, unless told otherwise
    assert severe(0.15, min_deviation=0.02) <= 0.12
    assert severe(0.15, min_deviation=0.02, adapt_after=None) > 0.5
    # what does matter is found all the same
    assert severe(2.0, min_deviation=0.5, adapt_after=None) > 0.9


def test_all_rows_of_what_is_off_for_good_are_anomalous() -> None:
    assert alarms(2.0, min_deviation=0.5, adapt_after=None) > 0.9


@pytest.mark.parametrize("wrong", [0, -0.1, float("nan"), "much"])
def test_a_departure_that_matters_must_be_above_0(wrong: object) -> None:
    with pytest.raises(InputError, match="min_deviation must be"):
        SubAdjacentDetector(min_deviation=wrong).check()  # type: ignore[arg-type]


# ---- a small variation on a large offset


@pytest.mark.parametrize("offset", [0.0, 48.858])
def test_a_latitude_that_moves_is_seen_to_move(offset: float) -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([offset + 1e-5 * rng.normal(size=3000), rng.normal(size=3000)])
    later = rows[-500:].copy()
    later[200:220, 0] += 1e-4
    detector = SubAdjacentDetector().fit(rows[:-500])
    assert detector.predict(later)[200:220].all()
    assert not detector.predict(rows[-500:]).any()


# ---- a few rows


@pytest.mark.parametrize("lookahead", ["full", 0])
@pytest.mark.parametrize("kind", ["sine", "seasonal", "counts"])
def test_normal_series_of_a_few_rows_alarm_as_often_as_is_asked(
    kind: str, lookahead: int | str
) -> None:
    lengths = (1, 2, 3, 5, 8, 10, 13, 20, 31, 45, 60)
    found = np.zeros(len(lengths))
    for seed in range(2):
        rows = drawn(kind, seed)
        detector = SubAdjacentDetector(contamination=0.01, lookahead=lookahead).fit(rows[:ROWS])
        model, begins = detector.models_.pooled, np.linspace(ROWS, 2 * ROWS - 60, 40).astype(int)
        for number, length in enumerate(lengths):
            scores = [model.assess(rows[begin : begin + length]).score for begin in begins]
            found[number] += np.mean(np.concatenate(scores) > detector.threshold_) / 2
    # pieces of a cycle gave up to 0.4 where few rows were assessed as noise
    assert found.max() <= 0.03


@pytest.mark.parametrize("lookahead", ["full", 0])
@pytest.mark.parametrize("length", [1, 10, 40])
def test_a_short_series_that_is_out_is_found(length: int, lookahead: int | str) -> None:
    detector = SubAdjacentDetector(lookahead=lookahead).fit(sines(3000, seed=1))
    rows = sines(length, seed=5)
    rows[:, 0] += 8
    assert detector.predict(rows)[-1]
