"""Rows assessed piece by piece: the same findings, in less memory, and told as they go."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

from subadjacent import BaseDetector, SubAdjacentDetector, SubPCADetector
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.pieces import Piece, assess, pieces
from subadjacent.methods.method import Model, State
from subadjacent.runtime import Progress
from subadjacent.scoring.evidence import Array, Evidence, Reach

VALUES = "subadjacent.detectors.pieces.VALUES"


def test_pieces_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VALUES, 40)
    # ten rows of four channels each, with one row before and two after them
    assert list(pieces(100, 125, 4, Reach(1, 0))) == [
        Piece(100, 110, 100, 110),
        Piece(110, 120, 109, 120),
        Piece(120, 125, 119, 125),
    ]
    # four times the rows around it at least; begins where windows of five rows do
    assert list(pieces(0, 40, 40, Reach(3, 2, 5))) == [Piece(0, 20, 0, 22), Piece(20, 40, 15, 40)]
    # all at once where all are needed
    assert list(pieces(7, 400, 40, Reach(0, None))) == [Piece(7, 400, 7, 400)]
    assert list(pieces(0, 0, 4, Reach(1, 1))) == [Piece(0, 0, 0, 0)]


@dataclass(frozen=True)
class Around(Model):
    """A row scores the sum of the row before it, itself and the two after it."""

    expects: bool

    @property
    def reach(self) -> Reach:
        return Reach(1, 2)

    @property
    def typical_values(self) -> Array:
        return np.zeros(2)

    def assess(self, rows: Array) -> Evidence:
        padded = np.pad(rows.sum(axis=1), (1, 2))
        score = sum(padded[at : at + len(rows)] for at in range(4))
        assert isinstance(score, np.ndarray)
        expected = -rows if self.expects else None
        return Evidence(score, 2 * rows, expected, {"half": score / 2}, ("half",))

    def state(self) -> State:
        raise NotImplementedError


@pytest.mark.parametrize("expects", [True, False])
@pytest.mark.parametrize("starts", [(0,), (0, 3, 4, 50)])
def test_pieces_make_the_whole(
    starts: tuple[int, ...], expects: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = TrainSeries(np.random.default_rng(0).normal(size=(90, 2)), starts=starts)
    model, told = Around(expects), list[int]()
    by_segment = [model.assess(series.values[start:stop]) for start, stop in series.segments]
    monkeypatch.setattr(VALUES, 1)
    found = assess(model, series, told.append)
    score = np.concatenate([one.score for one in by_segment])
    np.testing.assert_allclose(found.score, score)
    np.testing.assert_allclose(found.traces["half"], score / 2)
    np.testing.assert_array_equal(found.by_channel, 2 * series.values)
    assert found.views == ("half",)
    if expects:
        np.testing.assert_array_equal(found.expected, -series.values)
    else:
        assert found.expected is None
    assert sum(told) == 90
    assert max(told) == 12


def rows_of(count: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    waves = np.sin(np.arange(count)[:, None] / [8, 11, 14])
    return (waves + 0.1 * rng.normal(size=(count, 3))).astype(np.float32)


@pytest.mark.parametrize(
    "detector",
    [SubAdjacentDetector(), SubAdjacentDetector(lookahead=0), SubPCADetector(window=5)],
    ids=["default", "causal", "windows"],
)
def test_what_is_found_does_not_depend_on_the_pieces(
    detector: BaseDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector.fit(rows_of(3000, 0))
    fresh = rows_of(6000, 1)
    fresh[4000:4010, 1] += 3
    whole = detector.assess(fresh)
    monkeypatch.setattr(VALUES, 3)
    told: list[Progress] = []
    found = detector.assess(fresh, watch=told.append)
    assert len(told) > 1
    assert told[-1] == Progress("scoring", 6000, 6000, "rows")
    np.testing.assert_allclose(found.scores, whole.scores, rtol=1e-3, atol=2e-4)
    np.testing.assert_allclose(found.by_channel, whole.by_channel, rtol=1e-2, atol=5e-3)
    for name, trace in whole.traces[0].items():
        np.testing.assert_allclose(found.traces[0][name], trace, rtol=1e-3, atol=2e-4)
    assert found.anomalous.tolist() == whole.anomalous.tolist()


def peak_of(detector: BaseDetector, rows: int) -> int:
    """Bytes that are in use at once, at most, beside the rows themselves."""
    values = rows_of(rows, 2).repeat(6, axis=1)
    tracemalloc.start()
    try:
        detector.assess(values)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_by_what_is_kept_of_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """As multiples of the rows in float32; it would be 20 if they were assessed at once."""
    detector = SubAdjacentDetector().fit(rows_of(2000, 0).repeat(6, axis=1))
    monkeypatch.setattr(VALUES, 18 * 2000)
    growth = peak_of(detector, 16_000) - peak_of(detector, 8_000)
    assert growth < 6 * 8_000 * 18 * 4
