"""Scoring in parts equals scoring all rows at once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import SMALL
from subadjacent import InputError, SubAdjacentDetector
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
