"""The default as an ONNX file scores, explains and alarms in ONNX Runtime as the library does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import pytest

from detectors.onnx.graphs import session
from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.detectors.onnx import pieces, to_onnx

PLANT = multivariate(n=1_300, channels=3, seed=5)
TWENTY = multivariate(n=700, channels=20, seed=6)
TIME = np.arange(1_600.0)


def odd(rows: np.ndarray) -> np.ndarray:
    """With a channel that never moves and one that is a flag."""
    flag = (np.arange(len(rows)) % 50 < 10).astype(float)
    return np.column_stack([rows, np.full(len(rows), 7.0), flag])


def slow(seed: int) -> np.ndarray:
    """A cycle so long that the slow rhythm follows it, far from 0."""
    noise = np.random.default_rng(seed).normal(size=(len(TIME), 2))
    return 1e6 + np.column_stack([np.sin(TIME / 40), np.cos(TIME / 40)]) + 0.1 * noise


def departed(rows: np.ndarray) -> np.ndarray:
    """With a spike, a level that moves for good, and values far beyond all that was seen."""
    rows = rows.copy()
    rows[20:23, 0] += 5
    rows[300:, -1] += 3
    rows[500:505] *= 1e6
    return rows


def spikes() -> np.ndarray:
    """Channels that never move but for single values."""
    rows = np.tile([1.0, 2.0, 3.0], (600, 1))
    rows[[100, 104, 300], [0, 1, 0]] += 3
    return rows


class Case(NamedTuple):
    detector: SubAdjacentDetector
    train: np.ndarray
    rows: np.ndarray


BROKEN = departed(PLANT.test)
CASES = {
    "full": Case(SubAdjacentDetector(), PLANT.train, BROKEN),
    "causal": Case(SubAdjacentDetector(lookahead=0), PLANT.train, BROKEN),
    "5 ahead": Case(SubAdjacentDetector(lookahead=5), PLANT.train, BROKEN),
    "100 ahead": Case(SubAdjacentDetector(lookahead=100), PLANT.train, BROKEN),
    "one channel": Case(SubAdjacentDetector(), PLANT.train[:, :1], BROKEN[:, :1]),
    "two channels": Case(SubAdjacentDetector(), PLANT.train[:, :2], BROKEN[:, :2]),
    "twenty channels": Case(SubAdjacentDetector(), TWENTY.train, departed(TWENTY.test)),
    "odd channels": Case(SubAdjacentDetector(), odd(PLANT.train), odd(BROKEN)),
    "long cycle": Case(SubAdjacentDetector(), slow(1), departed(slow(2))),
    "few training rows": Case(SubAdjacentDetector(), PLANT.train[:40], BROKEN),
    "other settings": Case(
        SubAdjacentDetector(near=1, far=4, smoothing=1, min_deviation=0.5), PLANT.train, BROKEN
    ),
    "level": Case(SubAdjacentDetector(views=("level",)), PLANT.train, BROKEN),
    "rhythm": Case(SubAdjacentDetector(views=("rhythm",), smoothing=7), PLANT.train, BROKEN),
    "slow and local": Case(
        SubAdjacentDetector(views=("slow rhythm", "local rhythm")), PLANT.train, BROKEN
    ),
    "state": Case(SubAdjacentDetector(views=("state",)), PLANT.train, BROKEN),
    "shape": Case(SubAdjacentDetector(views=("shape",), lookahead=20), PLANT.train, BROKEN),
    "still": Case(SubAdjacentDetector(), np.tile([1.0, 2.0, 3.0], (700, 1)), spikes()),
    "nothing": Case(SubAdjacentDetector(views=("state",)), PLANT.train[:, :1], BROKEN[:, :1]),
}
# around the nearest and farthest neighbours, short and long windows, and averages
LENGTHS = [1, 2, 5, 29, 31, 60, 61, 149, 331, 600]


class Exported:
    def __init__(self, case: Case) -> None:
        self.detector = case.detector.fit(case.train)
        self.rows = case.rows
        self.session = session(to_onnx(self.detector))


@pytest.fixture(scope="module")
def exported() -> dict[str, Exported]:
    """Each case fitted and exported when it is asked for first; the tests must not change them."""
    return {}


def get(exported: dict[str, Exported], name: str) -> Exported:
    if name not in exported:
        exported[name] = Exported(CASES[name])
    return exported[name]


def check(model: onnxruntime.InferenceSession, detector: SubAdjacentDetector, rows: Any) -> None:
    score, by_channel, alarm = model.run(None, {"rows": rows})
    wanted = detector.assess(rows)
    # scores are rounded to six decimals of what they are before they are in units: rounding may
    # fall to the other side
    step = 1e-6 / detector.models_.pooled.unit
    np.testing.assert_allclose(score, wanted.scores, rtol=1e-9, atol=1.01 * step)
    np.testing.assert_allclose(score / step, np.round(score / step), rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(by_channel, wanted.by_channel, rtol=1e-4, atol=1e-4)
    missing = wanted.series[0].missing_rows
    above = score > detector.threshold_
    assert (alarm == (above if missing is None else above | missing)).all()
    assert (score.dtype, by_channel.dtype, alarm.dtype) == (np.float64, np.float32, bool)


@pytest.mark.parametrize("name", CASES)
def test_scores_channels_and_alarms_are_those_of_the_detector(
    exported: dict[str, Exported], name: str
) -> None:
    model = get(exported, name)
    for n in (*LENGTHS, len(model.rows)):
        check(model.session, model.detector, model.rows[:n])


@pytest.mark.parametrize("name", ["full", "causal", "odd channels"])
def test_missing_values_are_filled_and_long_gaps_are_alarms(
    exported: dict[str, Exported], name: str
) -> None:
    model = get(exported, name)
    rows = model.rows.copy()
    rows[:3, 0] = rows[100:110, 1] = rows[200:211, 0] = np.nan
    rows[205:260, 2] = np.inf
    rows[-1] = np.nan
    for n in (1, 205, 230, len(rows)):
        check(model.session, model.detector, rows[:n])
    (alarm,) = model.session.run(["alarm"], {"rows": rows})
    assert alarm[200:260].all()


def test_a_typical_row_scores_nothing_and_no_channel_is_to_blame(
    exported: dict[str, Exported],
) -> None:
    model = get(exported, "level")
    center = model.detector.models_.pooled.typical_values
    score, by_channel, alarm = model.session.run(None, {"rows": np.tile(center, (30, 1))})
    assert score.tolist() == [0.0] * 30
    assert by_channel.tolist() == [[0.0] * 3] * 30
    assert not alarm.any()


def test_many_pieces_are_scored_as_one(
    exported: dict[str, Exported], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = get(exported, "full")
    # less than the rows around them
    monkeypatch.setattr(pieces, "ROWS", 150)
    monkeypatch.setattr(pieces, "TIMES", 0)
    in_pieces = session(to_onnx(whole.detector))
    rows = np.tile(whole.rows, (2, 1))
    rows[700:730, 1] = np.nan
    for one, other in zip(
        whole.session.run(None, {"rows": rows}),
        in_pieces.run(None, {"rows": rows}),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)


def test_no_rows_have_no_scores(exported: dict[str, Exported]) -> None:
    score, by_channel, alarm = get(exported, "full").session.run(None, {"rows": np.zeros((0, 3))})
    assert (score.shape, by_channel.shape, alarm.shape) == ((0,), (0, 3), (0,))
