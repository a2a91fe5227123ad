"""The alarms of a stream against those of a batch over the same rows."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from subadjacent import Alarm, Fixed, InputError, StreamScorer, SubAdjacentDetector
from subadjacent.decision.calibration import fit_threshold
from subadjacent.decision.threshold import choose_threshold
from subadjacent.streaming.answer import Answer

TIMES = pd.date_range("2026-01-01", periods=3_000, freq="1min")


def waves(rows: int, channels: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    return np.sin(time / (8 + np.arange(channels))) + 0.2 * rng.normal(size=(rows, channels))


def faults(channels: int, *, gaps: bool = False, segments: bool = False) -> pd.DataFrame:
    """Two thousand rows with three faults, and on request missing values and missing rows."""
    values = waves(2_000, channels, seed=1)
    values[400:430, 0] += 5
    values[1_000:1_005, -1] -= 12
    values[1_600:1_700, 0] *= 0.01
    if gaps:
        values[200:204, 0] = values[700:760, -1] = np.nan
    frame = pd.DataFrame(values, index=TIMES[:2_000]).rename(columns=str)
    return frame.drop(TIMES[[*range(600, 650), *range(1_020, 1_100)]]) if segments else frame


@cache
def fitted(channels: int, lookahead: int | str = "full") -> SubAdjacentDetector:
    frame = pd.DataFrame(waves(2_000, channels, seed=0), index=TIMES[:2_000]).rename(columns=str)
    return SubAdjacentDetector(lookahead=lookahead).fit(frame)


def follow(scorer: StreamScorer, frame: pd.DataFrame, size: int) -> list[Answer]:
    answers = []
    for begin in range(0, len(frame), size):
        part = frame[begin : begin + size]
        answers += scorer.score_many(part.to_numpy(), list(part.index))
    return answers


def confirmed(alarms: Iterable[Alarm]) -> list[Alarm]:
    return sorted((one for one in alarms if one.status == "confirmed"), key=lambda one: one.first)


def same_events(found: list[Alarm], expected: list[Alarm]) -> None:
    assert expected
    assert [f"{one.severity:.9g}" for one in found] == [f"{one.severity:.9g}" for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.first <= other.last
        assert other.first <= one.last


@pytest.mark.parametrize("channels", [1, 4, 20])
@pytest.mark.parametrize("kind", [{}, {"gaps": True}, {"segments": True}])
def test_confirmed_alarms_are_those_of_a_batch(channels: int, kind: dict[str, bool]) -> None:
    frame, detector = faults(channels, **kind), fitted(channels)
    scorer = detector.stream()
    follow(scorer, frame, 333)
    scorer.finish()
    same_events(confirmed(scorer.alarms), detector.alarms(frame))
    assert not [one for one in scorer.alarms if one.status == "provisional"]


def told(answers: list[Answer]) -> list[tuple[Any, ...]]:
    return [
        (one.row, one.alarm.number, one.alarm.state, one.alarm.status, f"{one.alarm.severity:.9g}")
        for one in answers
        if one.alarm is not None
    ]


@pytest.mark.parametrize("lookahead", ["full", 0])
def test_grouping_and_a_stop_change_no_alarm(lookahead: int | str, tmp_path: Path) -> None:
    frame, detector = faults(4, gaps=True, segments=True), fitted(4, lookahead)
    expected_scorer = detector.stream()
    expected = follow(expected_scorer, frame, 2_000) + expected_scorer.finish()
    one_by_one = detector.stream()
    found = follow(one_by_one, frame[:1_000], 1)
    one_by_one.save(tmp_path / "state")
    again = StreamScorer.restore(tmp_path / "state", detector)
    found += follow(again, frame[1_000:], 1) + again.finish()
    assert told(found) == told(expected)
    first, second = ({(a.row, a.final): a.score for a in many} for many in (found, expected))
    np.testing.assert_allclose([first[key] for key in second], list(second.values()), rtol=1e-6)


def test_without_a_look_ahead_alarms_are_confirmed_at_once() -> None:
    answers = follow(fitted(4, 0).stream(), faults(4), 100)
    assert {one.alarm.status for one in answers if one.alarm is not None} == {"confirmed"}


@pytest.mark.parametrize("contamination", ["auto", "1/day", 0.01, Fixed(1.5)])
def test_without_a_look_ahead_alarms_are_those_of_a_batch(contamination: Any) -> None:
    detector = copy.copy(fitted(4, 0))
    detector.contamination = contamination
    (held_out,) = detector.held_out_scores_
    threshold = choose_threshold(contamination, 60.0)
    detector.threshold_, detector.threshold_rule_ = fit_threshold(threshold, held_out)
    for kind in ({}, {"segments": True}):
        frame, scorer = faults(4, **kind), detector.stream()
        follow(scorer, frame, 100)
        found, expected = scorer.alarms, detector.alarms(frame)[-100:]
        if contamination == 0.01:
            # of single rows, which are explained by those around them
            severities = [[f"{one.severity:.9g}" for one in each] for each in (found, expected)]
            assert severities[0] == severities[1]
        else:
            same_events(confirmed(found), expected)


def test_without_a_look_ahead_missing_values_change_severities_little() -> None:
    # a batch knows from its first row on that a gap is long
    frame, detector = faults(4, gaps=True, segments=True), fitted(4, 0)
    scorer = detector.stream()
    follow(scorer, frame, 100)
    found, expected = confirmed(scorer.alarms), detector.alarms(frame)
    assert [one.severity for one in found] == pytest.approx(
        [one.severity for one in expected], rel=0.05
    )
    assert all(
        a.first <= b.last and b.first <= a.last for a, b in zip(found, expected, strict=True)
    )


def test_more_requested_false_alarms_are_more_alarms_from_then_on() -> None:
    rows = waves(3_000, 3, seed=4)
    counts = {}
    for rate in (0.2, 1e-4):
        scorer = StreamScorer(contamination=rate)
        scorer.score_many(rows)
        counts[rate] = sum(one.severity >= 1 for one in scorer.alarms)
    assert counts[0.2] > counts[1e-4] + 5
    changed = StreamScorer(contamination=1e-4)
    changed.score_many(rows[:1_500])
    before = changed.opened
    changed.contamination = 0.2
    changed.score_many(rows[1_500:])
    assert changed.contamination == 0.2
    assert changed.opened > before + 2
    changed.contamination = "1/week"
    with pytest.raises(InputError, match=r"^contamination must be a share of the rows where"):
        changed.score_many(rows[:3])


@pytest.mark.parametrize("channels", [1, 5])
@pytest.mark.parametrize("memory", [0.0, 0.5])
def test_false_alarms_are_about_as_many_as_requested(channels: int, memory: float) -> None:
    rng = np.random.default_rng(channels)
    rows = rng.normal(size=(7_000, channels))
    for row in range(1, len(rows)):
        rows[row] += memory * rows[row - 1]
    share = StreamScorer(contamination=0.01)
    flagged = np.mean([one.anomalous for one in share.score_many(rows)][2_000:])
    # a single channel has about a quarter of what was requested
    assert 0.01 / (6 if channels == 1 else 3) <= flagged <= 0.03
    rare = StreamScorer()
    rare.score_many(rows)
    # 1.4 are expected
    assert rare.opened <= 5
