"""A stream of any model gives each row the evidence that batch scoring gives it."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from methods.streams import assert_same, in_parts
from subadjacent import (
    Progress,
    RandomDetector,
    SubAdjacentDetector,
    SubAdjacentTransformerDetector,
    SubPCADetector,
    TrainSeries,
    multivariate,
)
from subadjacent.decision.evidence import Array, Evidence, Reach
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.methods.method import Model, State
from subadjacent.methods.stream import ReplayStream, assess_series, joined

Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Around(Model):
    """Scores a row by the sum of rows around it; windows begin at multiples of ``every``."""

    before: int
    after: int | None
    every: int = 1
    expects: bool = True

    @property
    def reach(self) -> Reach:
        # the window that a row lies in may begin so much earlier
        return Reach(self.before + self.every - 1, self.after, self.every)

    @property
    def typical_values(self) -> Array:
        return np.zeros(2)

    def assess(self, rows: Array) -> Evidence:
        score = np.empty(len(rows))
        for row in range(len(rows)):
            first = max(row - self.before, 0) // self.every * self.every
            score[row] = rows[first : row + (self.after or 0) + 1].sum()
        return Evidence(score, rows + 1, -rows if self.expects else None, {"twice": 2 * score})

    def state(self) -> State:
        return State({}, {})


ROWS = np.arange(46.0).reshape(23, 2) % 7


def test_a_row_is_final_when_the_next_has_come_by_hand() -> None:
    stream = Around(before=1, after=1).stream()
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0], [8.0, 0.0]])
    assert stream.push(rows[:1]).score.tolist() == []
    assert (stream.taken, stream.given) == (1, 0)
    assert stream.push(rows[1:2]).score.tolist() == [3.0]
    found = stream.push(rows[2:])
    assert found.score.tolist() == [7.0, 14.0]
    assert found.by_channel.tolist() == [[3.0, 1.0], [5.0, 1.0]]
    assert found.traces["twice"].tolist() == [14.0, 28.0]
    assert (stream.taken, stream.given) == (4, 3)
    # as if the segment ended here, twice: nothing has changed
    assert stream.waiting().score.tolist() == [12.0]
    assert stream.finish().score.tolist() == [12.0]
    # a new segment: nothing of the old one is in its first row
    assert (stream.taken, stream.given) == (0, 0)
    stream.push(rows[:1])
    assert stream.finish().score.tolist() == [1.0]


@pytest.mark.parametrize("size", [1, 2, 5, 23])
@pytest.mark.parametrize("length", [0, 1, 4, 23])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize(("before", "after"), [(0, 0), (4, 0), (0, 3), (5, 2)])
def test_in_parts_is_all_at_once(
    before: int, after: int, every: int, length: int, size: int
) -> None:
    model = Around(before, after, every)
    found = in_parts(model.stream(), ROWS[:length], size)
    if length:
        assert_same(found, model.assess(ROWS[:length]), rtol=0)
    assert len(found.score) == length


@pytest.mark.parametrize("stop", [0, 1, 3, 11, 23])
def test_a_stream_goes_on_where_another_stood(stop: int) -> None:
    model = Around(5, 2, every=3)
    first = model.stream()
    before = first.push(ROWS[:stop])
    state = first.state()
    other = model.stream(State({k: v.copy() for k, v in state.arrays.items()}, dict(state.facts)))
    assert (other.taken, other.given) == (first.taken, first.given)
    rest = in_parts(other, ROWS[stop:], 4)
    assert_same(joined([before, rest]), model.assess(ROWS), rtol=0)


def test_what_is_kept_does_not_grow() -> None:
    stream, sizes = Around(4, 2, every=3).stream(), []
    for _ in range(20):
        stream.push(ROWS)
        sizes.append(len(stream.state().arrays["kept"]))
    assert max(sizes) <= 4 + 2 + 2 * 3


@pytest.mark.parametrize(
    ("arrays", "taken", "said"),
    [
        ({"kept": np.zeros((7, 3))}, 23, "kept must have shape"),
        ({"kept": np.zeros((6, 2))}, 23, "kept must have shape"),
        ({"kept": np.full((7, 2), np.nan)}, 23, "kept must be finite"),
        ({"kept": np.zeros((7, 2))}, -1, "taken must be a whole number"),
        ({"kept": np.zeros((7, 2))}, 2.5, "taken must be a whole number"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(
    arrays: dict[str, Rows], taken: object, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        Around(5, 2).stream(State(arrays, {"taken": taken}))


@pytest.mark.parametrize("rows", [np.zeros(2), np.zeros((4, 1)), np.zeros((4, 3))])
def test_rows_of_another_shape_are_refused(rows: Rows) -> None:
    stream = Around(5, 2).stream()
    with pytest.raises(InputError, match=r"rows must have shape \(rows, 2\)"):
        stream.push(rows)
    assert stream.taken == 0


def test_a_model_that_needs_all_rows_is_refused() -> None:
    with pytest.raises(InputError, match="must not need all rows of a segment at once"):
        ReplayStream(Around(0, None))
    detector = RandomDetector().fit(np.random.default_rng(0).normal(size=(50, 2)))
    with pytest.raises(InputError, match="must not need all rows"):
        detector.models_.of(None).stream()


@pytest.mark.parametrize(
    ("dynamic", "stride"), [("none", 4), ("none", None), ("trailing", None), ("printed", 4)]
)
def test_networks_stream_as_they_score(dynamic: str, stride: int | None) -> None:
    rng = np.random.default_rng(5)
    detector = SubAdjacentTransformerDetector(
        size="tiny",
        window=12,
        epochs=0,
        dynamic=dynamic,
        scoring_stride=stride,
        smoothing=3,
        device="cpu",
    ).fit(rng.normal(size=(200, 2)))
    model, rows = detector.models_.of(None), rng.normal(size=(150, 2))
    found = in_parts(model.stream(), rows, 31)
    # float32, and as many windows at a time as there are
    assert_same(found, model.assess(rows), rtol=1e-3, atol=1e-4)


# ---- a series in blocks

BLOCK_VALUES = "subadjacent.methods.stream.BLOCK_VALUES"


@pytest.mark.parametrize(
    "detector",
    [SubAdjacentDetector(), SubAdjacentDetector(lookahead=0), SubPCADetector(window=5)],
    ids=["default", "causal", "windows"],
)
def test_a_series_in_blocks_is_assessed_as_at_once(
    detector: BaseDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant = multivariate(n=6000, channels=3, seed=2)
    fresh = plant.test.copy()
    fresh[5200:5260, 1] = np.nan
    detector.fit(plant.train[:2000])
    whole = detector.assess(fresh)
    monkeypatch.setattr(BLOCK_VALUES, 3)
    told: list[Progress] = []
    found = detector.assess(fresh, watch=told.append)
    assert len(told) > 4
    assert told[-1] == Progress("scoring", 6000, 6000, "rows")
    np.testing.assert_allclose(found.scores, whole.scores, rtol=1e-6)
    assert_same(found.evidence[0], whole.evidence[0], rtol=1e-4, atol=1e-6)
    assert found.anomalous.tolist() == whole.anomalous.tolist()


def test_a_model_that_needs_all_rows_gets_them_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BLOCK_VALUES, 1)
    model, told = Around(before=1, after=None), list[int]()
    found = assess_series(model, TrainSeries(ROWS), told.append)
    np.testing.assert_array_equal(found.score, model.assess(ROWS).score)
    assert told == [23]


def test_blocks_of_a_model_without_expected_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BLOCK_VALUES, 1)
    model, told = Around(before=1, after=1, every=2, expects=False), list[int]()
    series = TrainSeries(ROWS, starts=(0, 3))
    found = assess_series(model, series, told.append)
    parts = [model.assess(ROWS[:3]), model.assess(ROWS[3:])]
    assert_same(found, joined(parts))
    assert sum(told) == 23


def peak_of(detector: BaseDetector, rows: NDArray[np.float32]) -> int:
    """Bytes that are in use at once, at most, beside the rows themselves."""
    tracemalloc.start()
    try:
        detector.assess(rows)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_by_what_is_kept_of_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """As multiples of the rows in float32; it would be 20 if they were assessed at once."""
    rows = multivariate(n=16_000, channels=18, seed=1).test.astype(np.float32)
    detector = SubAdjacentDetector().fit(rows[:2000])
    monkeypatch.setattr(BLOCK_VALUES, 18 * 2000)
    # what is prepared once is not counted
    detector.assess(rows[:8_000])
    growth = peak_of(detector, rows) - peak_of(detector, rows[:8_000])
    assert growth < 6 * 8_000 * 18 * 4
