"""Scoring in parts equals scoring all rows at once."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import SMALL
from subadjacent import (
    BandRidgeDetector,
    BaseDetector,
    InputError,
    MagnitudeDetector,
    PCADetector,
    RandomDetector,
    SubAdjacentDetector,
    SubPCADetector,
)
from subadjacent.data.plant import Plant
from subadjacent.detectors.piecewise import PiecewiseScorer

COLUMNS = ["a", "b", "c", "d"]


def frame(values: np.ndarray, gap_at: int | None = None) -> pl.DataFrame:
    start = datetime(2026, 1, 1)
    times = [start + timedelta(minutes=row) for row in range(len(values))]
    if gap_at is not None:
        times[gap_at:] = [time + timedelta(hours=5) for time in times[gap_at:]]
    return pl.DataFrame(values, schema=COLUMNS).with_columns(timestamp=pl.Series(times))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"scoring_stride": 5},
        {"scoring_stride": 7, "smoothing": 30},
        {"dynamic": "trailing", "memory": 50, "temperature": 10.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("part", [1, 13, 20, 97, 1000])
def test_parts_give_the_scores_of_the_whole(
    plant: Plant, parameters: dict[str, Any], part: int
) -> None:
    detector = SubAdjacentDetector(**SMALL | {"epochs": 1} | parameters).fit(frame(plant.train))
    # long enough for many parts, short enough for parts of one row
    rows = frame(plant.test[: 120 if part == 1 else 1000], gap_at=73)
    scorer = PiecewiseScorer(detector)
    parts = [scorer.push(rows[at : at + part]) for at in range(0, len(rows), part)]
    scores = np.concatenate([*parts, scorer.finish()])
    np.testing.assert_allclose(scores, detector.decision_function(rows), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    "detector",
    [
        MagnitudeDetector(),
        MagnitudeDetector(smoothing=7),
        PCADetector(smoothing=3),
        SubPCADetector(window=20, smoothing=6),
        BandRidgeDetector(),
        BandRidgeDetector(near=2, far=9, smoothing=5, causal=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("part", [1, 19, 250])
def test_controls_too_and_missing_values_change_nothing(
    plant: Plant, detector: BaseDetector, part: int
) -> None:
    detector.fit(frame(plant.train))
    values = plant.test[: 120 if part == 1 else 1000].copy()
    # across the ends of parts, at the very end, and in all channels at once
    values[15:25, 0] = values[-4:, 1] = values[55:60] = np.nan
    rows = frame(values, gap_at=73)
    scorer = PiecewiseScorer(detector)
    parts = [scorer.push(rows[at : at + part]) for at in range(0, len(rows), part)]
    scores = np.concatenate([*parts, scorer.finish()])
    # what is worked out in float32 may differ in its last digits from one cut to another
    tolerance = 1e-4 if isinstance(detector, BandRidgeDetector) else 1e-9
    wanted = detector.decision_function(rows)
    np.testing.assert_allclose(scores, wanted, rtol=tolerance, atol=1e-3 * tolerance)


def test_few_rows_wait_until_they_tell_how_fast_the_clock_ticks(plant: Plant) -> None:
    detector = SubPCADetector().fit(frame(plant.train))
    rows = frame(plant.test, gap_at=1)
    scorer = PiecewiseScorer(detector, least=50)
    # one step, of five hours: by itself it would be the interval
    parts = [scorer.push(rows[:2]), *(scorer.push(rows[at : at + 2]) for at in range(2, 1000, 2))]
    assert not any(len(part) for part in parts[:24])
    assert len(parts[24])
    scores = np.concatenate([*parts, scorer.finish()])
    np.testing.assert_allclose(scores, detector.decision_function(rows), rtol=1e-9)


def test_a_bad_value_far_in_is_found_where_it_is(plant: Plant) -> None:
    detector = MagnitudeDetector().fit(frame(plant.train))
    values = plant.test.copy()
    values[700:720, 2] = np.nan
    scorer = PiecewiseScorer(detector)
    scorer.push(frame(values)[:500])
    with pytest.raises(InputError, match=r"from row (\d+) for 20 rows \(.*row (\d+)\)") as caught:
        scorer.push(frame(values)[500:])
    found = re.search(r"from row (\d+) for 20 rows \(.*row (\d+)\)", str(caught.value))
    assert found is not None
    assert sum(map(int, found.groups())) == 700


def test_only_the_rows_still_needed_are_kept(plant: Plant) -> None:
    detector = SubAdjacentDetector(**SMALL).fit(frame(plant.train))
    scorer = PiecewiseScorer(detector)
    for at in range(0, 1000, 100):
        scorer.push(frame(plant.test)[at : at + 100])
        assert len(scorer._kept) <= 100


def test_nothing_pushed_is_nothing_scored(detector: SubAdjacentDetector) -> None:
    assert PiecewiseScorer(detector).finish().tolist() == []


@pytest.mark.parametrize("parameters", [{"dynamic": "released"}, {"block": 50}])
def test_a_score_that_needs_all_rows_is_refused(parameters: dict[str, Any], plant: Plant) -> None:
    detector = SubAdjacentDetector(**SMALL | {"epochs": 1} | parameters).fit(plant.train)
    with pytest.raises(InputError, match="must score rows from those before them"):
        PiecewiseScorer(detector)


def test_noise_by_place_cannot_be_drawn_in_parts(plant: Plant) -> None:
    with pytest.raises(InputError, match="must score rows from those before them"):
        PiecewiseScorer(RandomDetector().fit(plant.train))
