"""Scoring in parts equals scoring all rows at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from subadjacent import (
    BaseDetector,
    InputError,
    MagnitudeDetector,
    PCADetector,
    RandomDetector,
    SubAdjacentDetector,
    SubPCADetector,
)
from subadjacent.data.entities import PerEntity
from subadjacent.data.plant import Plant
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Array, Evidence, Reach
from subadjacent.decision.kinds import MIN_STUCK_ROWS
from subadjacent.detectors.piecewise import PiecewiseScorer, can_score_in_parts, joined_scores
from subadjacent.methods.method import Fitted, Method, Model, State
from subadjacent.runtime import Runtime

COLUMNS = ["a", "b", "c", "d"]


def frame(values: np.ndarray, gap_at: int | None = None) -> pl.DataFrame:
    start = datetime(2026, 1, 1)
    times = [start + timedelta(minutes=row) for row in range(len(values))]
    if gap_at is not None:
        times[gap_at:] = [time + timedelta(hours=5) for time in times[gap_at:]]
    return pl.DataFrame(values, schema=COLUMNS).with_columns(timestamp=pl.Series(times))


@dataclass(frozen=True)
class Blocks(Model):
    """Every block of so many rows scores the sum of it and of the block before it."""

    size: int
    after: int | None

    @property
    def reach(self) -> Reach:
        return Reach(2 * self.size - 1, self.after, self.size)

    @property
    def typical_values(self) -> Array:
        return np.array([1.0, 20.0, 300.0, 4000.0])

    def assess(self, rows: Array) -> Evidence:
        block = np.arange(len(rows)) // self.size
        sums = np.bincount(block, rows.sum(axis=1))
        score = sums[block] + np.where(block > 0, sums[block - 1], 0.0)
        return Evidence(score, rows, None, {})

    def state(self) -> State:
        raise NotImplementedError


@dataclass(frozen=True)
class BlocksMethod(Method):
    size: int
    after: int | None

    def fit(
        self,
        series: Sequence[TrainSeries],
        run: Runtime,  # noqa: ARG002 — nothing to spread
    ) -> Fitted:
        model = Blocks(self.size, self.after)
        scores = [model.assess(one.values).score for one in series]
        return Fitted(PerEntity(model, {}), scores, scores)

    def restore(self, state: State, channels: int) -> Model:
        raise NotImplementedError


class BlocksDetector(BaseDetector):
    """Its scores depend on where blocks begin, as those of windows do."""

    def __init__(
        self,
        *,
        size: int = 7,
        whole: bool = False,
        contamination: Any = 0.1,
        adapt_after: int | None = 400,
        fill_limit: int = 10,
    ) -> None:
        self.size = size
        self.whole = whole
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> Method:
        return BlocksMethod(self.size, None if self.whole else self.size - 1)


def in_parts(detector: BaseDetector, rows: pl.DataFrame, part: int, least: int = 1) -> np.ndarray:
    scorer = PiecewiseScorer(detector, least=least)
    parts = [scorer.push(rows[at : at + part]) for at in range(0, len(rows), part)]
    return joined_scores([*parts, scorer.finish()]).score


@pytest.mark.parametrize(
    "detector",
    [
        SubAdjacentDetector(),
        SubAdjacentDetector(near=2, far=9, smoothing=5, lookahead=0),
        SubAdjacentDetector(lookahead=40),
        BlocksDetector(),
        BlocksDetector(size=40),
        MagnitudeDetector(),
        MagnitudeDetector(smoothing=7),
        PCADetector(smoothing=3),
        SubPCADetector(window=20, smoothing=6),
    ],
    ids=str,
)
@pytest.mark.parametrize("part", [19, 250])
def test_parts_give_the_scores_of_the_whole_and_missing_values_change_nothing(
    plant: Plant, detector: BaseDetector, part: int
) -> None:
    detector.fit(frame(plant.train))
    # long enough for many parts, short enough for parts of one row
    values = plant.test[: 120 if part == 1 else 1000].copy()
    # across the ends of parts, at the very end, and in all channels at once
    values[15:25, 0] = values[-4:, 1] = values[55:60] = np.nan
    rows = frame(values, gap_at=73)
    # what is worked out in float32 may differ in its last digits from one cut to another
    wanted = detector.decision_function(rows)
    np.testing.assert_allclose(in_parts(detector, rows, part), wanted, rtol=1e-4, atol=1e-5)


HOLES = {
    "across parts": [(40, 95, 0)],
    "from the first row": [(0, 60, 1)],
    "to the last row": [(950, 1000, 2)],
    "longer than what is kept": [(100, 900, 3)],
    "all of a channel": [(0, 1000, 0)],
    "one after the other": [(30, 75, 0), (75, 130, 1), (120, 160, 2)],
    "a short one as a long one ends": [(30, 80, 0), (77, 83, 1)],
    "around a break of the clock": [(433 - 5, 433 + 4, 0), (433 - 20, 433 + 30, 1)],
}


@pytest.fixture(
    scope="module",
    params=[
        SubAdjacentDetector(near=2, far=9, smoothing=5, lookahead=0),
        BlocksDetector(),
        SubPCADetector(window=20, smoothing=6),
    ],
    ids=lambda one: type(one).__name__,
)
def fitted(request: pytest.FixtureRequest, plant: Plant) -> BaseDetector:
    detector: BaseDetector = request.param
    return detector.fit(frame(plant.train))


@pytest.mark.parametrize("holes", HOLES.values(), ids=HOLES)
@pytest.mark.parametrize("part", [61])
def test_parts_tell_what_is_missing_for_long_and_score_it_as_the_whole(
    plant: Plant, fitted: BaseDetector, part: int, holes: list[tuple[int, int, int]]
) -> None:
    detector, values = fitted, plant.test.copy()
    missing = np.zeros(1000, dtype=bool)
    for start, stop, channel in holes:
        values[start:stop, channel] = np.nan
        # the clock breaks at row 433: of the gap around it only a part is long on either side
        for first, last in ((start, min(stop, 433)), (max(start, 433), stop)):
            missing[first:last] |= last - first > detector.fill_limit
    rows = frame(values, gap_at=433)
    scorer = PiecewiseScorer(detector)
    parts = [scorer.push(rows[at : at + part]) for at in range(0, 1000, part)]
    found = joined_scores([*parts, scorer.finish()])
    np.testing.assert_allclose(found.score, detector.decision_function(rows), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(scorer.silent, missing)
    assessed = detector.decide(found, None, list(pairwise([*scorer.starts, 1000])), scorer.silent)
    (whole,) = detector.assess(rows).decisions
    np.testing.assert_array_equal(assessed.anomalous, whole.anomalous)
    assert whole.anomalous[missing].all()


@given(
    gaps=st.lists(st.tuples(st.integers(0, 79), st.integers(1, 25), st.integers(0, 3)), max_size=6),
    break_at=st.none() | st.integers(1, 79),
    size=st.integers(1, 6),
    fill_limit=st.integers(0, 4),
    part=st.integers(1, 40),
)
# what is kept after 60 rows begins with the last 4 rows of the first gap, which by themselves would
# be a short one: blocks would then begin with the second
@example(gaps=[(11, 29, 0), (40, 40, 1)], break_at=None, size=5, fill_limit=4, part=60)
# a short gap across the end of a long one takes a value from within the long one
@example(gaps=[(10, 30, 0), (37, 4, 1)], break_at=None, size=1, fill_limit=4, part=45)
# a short gap takes the first value that is kept
@example(gaps=[(16, 4, 1)], break_at=None, size=1, fill_limit=4, part=24)
# after 40 rows a gap seems to end, and goes on in another channel
@example(gaps=[(10, 27, 0), (37, 24, 1)], break_at=None, size=4, fill_limit=3, part=40)
def test_any_gaps_in_any_parts_are_scored_as_the_whole(
    gaps: list[tuple[int, int, int]], break_at: int | None, size: int, fill_limit: int, part: int
) -> None:
    detector = BlocksDetector(size=size, fill_limit=fill_limit).fit(frame(np.eye(60, 4)))
    values = np.random.default_rng(0).normal(size=(80, 4))
    for start, length, channel in gaps:
        values[start : start + length, channel] = np.nan
    rows, least = pl.DataFrame(values, schema=COLUMNS), 1
    if break_at is not None:
        # enough rows at a time to tell how fast the clock ticks
        rows, least = frame(values, gap_at=break_at), 5
    scorer = PiecewiseScorer(detector, least=least)
    parts = [scorer.push(rows[at : at + part]) for at in range(0, 80, part)]
    scores = joined_scores([*parts, scorer.finish()]).score
    (series,) = detector._read(rows).series
    np.testing.assert_allclose(scores, detector.decision_function(rows), rtol=1e-9, atol=1e-9)
    assert scorer.starts == list(series.starts)
    missing = np.zeros(80, bool) if series.missing_rows is None else series.missing_rows
    np.testing.assert_array_equal(scorer.silent, missing)


@pytest.mark.parametrize("lookahead", [0, 40])
def test_scores_come_once_no_row_to_come_can_change_them(plant: Plant, lookahead: int) -> None:
    detector = SubAdjacentDetector(lookahead=lookahead).fit(frame(plant.train))
    ahead = detector.models_.pooled.reach.after
    assert ahead is not None
    assert ahead <= lookahead
    scorer, rows = PiecewiseScorer(detector), frame(plant.test)
    # what is missing in the last ten rows may yet be so for long
    assert len(scorer.push(rows[:300]).score) == 300 - ahead - detector.fill_limit
    assert len(scorer.push(rows[300:310]).score) == 10
    assert len(scorer.finish().score) == ahead + detector.fill_limit


def test_few_rows_wait_until_they_tell_how_fast_the_clock_ticks(plant: Plant) -> None:
    detector = SubAdjacentDetector(lookahead=0).fit(frame(plant.train))
    rows = frame(plant.test, gap_at=1)
    scorer = PiecewiseScorer(detector, least=50)
    # one step, of five hours: by itself it would be the interval
    parts = [scorer.push(rows[:2]), *(scorer.push(rows[at : at + 2]) for at in range(2, 1000, 2))]
    assert not any(len(part.score) for part in parts[:24])
    assert len(parts[24].score)
    scores = joined_scores([*parts, scorer.finish()]).score
    wanted = detector.decision_function(rows)
    np.testing.assert_allclose(scores, wanted, rtol=1e-4, atol=1e-5)


def test_a_bad_value_far_in_is_found_where_it_is(plant: Plant) -> None:
    detector = BlocksDetector().fit(frame(plant.train))
    values = plant.test.copy()
    values[700, 2] = 1e200
    scorer = PiecewiseScorer(detector)
    scorer.push(frame(values)[:500])
    with pytest.raises(InputError, match=r"at row (\d+) \(.*row (\d+)\)") as caught:
        scorer.push(frame(values)[500:])
    found = re.search(r"at row (\d+) \(.*row (\d+)\)", str(caught.value))
    assert found is not None
    assert sum(map(int, found.groups())) == 700


def test_no_more_is_kept_however_long_a_channel_is_missing(plant: Plant) -> None:
    detector = SubAdjacentDetector(near=2, far=9, smoothing=5, lookahead=0).fit(frame(plant.train))
    before, _, every = detector.models_.pooled.reach
    values = plant.test.copy()
    values[50:, 1] = np.nan
    scorer = PiecewiseScorer(detector)
    for at in range(0, 1000, 100):
        scorer.push(frame(values)[at : at + 100])
        assert len(scorer._kept) <= before + detector.fill_limit + MIN_STUCK_ROWS + every
    scorer.finish()
    assert np.flatnonzero(scorer.silent).tolist() == list(range(50, 1000))


@pytest.mark.parametrize("detector", [BlocksDetector(whole=True), RandomDetector()], ids=str)
def test_a_score_that_needs_all_rows_is_refused(detector: BaseDetector, plant: Plant) -> None:
    detector.fit(frame(plant.train))
    assert not can_score_in_parts(detector)
    with pytest.raises(InputError, match="must not need all rows at once to score in parts"):
        PiecewiseScorer(detector)


@pytest.mark.parametrize("part", [7, 64])
def test_what_is_stuck_is_told_by_parts_as_by_the_whole(plant: Plant, part: int) -> None:
    detector = SubAdjacentDetector(near=2, far=9, smoothing=5, lookahead=0).fit(frame(plant.train))
    values = plant.test[:300].copy()
    values[100:140, 1], values[200:219, 2] = values[100, 1], values[200, 2]
    scorer = PiecewiseScorer(detector)
    for at in range(0, 300, part):
        scorer.push(frame(values)[at : at + part])
    scorer.finish()
    assert np.flatnonzero(scorer.silent).tolist() == list(range(99 + MIN_STUCK_ROWS, 140))
