"""Lines of channels, and which of them are drawn of an alarm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduce.cases.planted import planted_case
from subadjacent import SubAdjacentDetector
from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.baseline_profile import CHANGE_ROWS, BaselineProfiles, ChannelProfile
from subadjacent.decision.causes import Cause, Explainer
from subadjacent.decision.evidence import Evidence
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.channels import MAX_CHANNELS, channel_lines, charts_of, missing_segments
from subadjacent.report.marks import AlarmRow, alarm_rows
from subadjacent.report.timeline import timelines

# of a channel without a cycle: expected is the level before, from 1 below it to 2 above
STEADY = ChannelProfile(
    median=5.0, low=3.0, high=8.0, minimum=0.0, maximum=9.0, floor=-1e9, ceiling=1e9, decimals=-1,
    cycle=0, memory=6, below=-1.0, above=2.0, below_drift=0.0, above_drift=0.0, error=1.0,
    min_step=0.1, median_step=0.2, max_step=0.3, max_run=1, partner=-1, slope=0, partner_error=1.0,
    partner_below=-1.0, partner_above=1.0, max_changes=(1.0,) * len(CHANGE_ROWS),
)  # fmt: skip
LEVEL = 1e6 / 3


def explainer(values: np.ndarray, starts: tuple[int, ...] = (0,)) -> Explainer:
    rows = len(values)
    series = TrainSeries(values[:, None], starts=starts)
    evidence = Evidence(np.zeros(rows), np.zeros((rows, 1)), None, {})
    profiles = BaselineProfiles(np.array([[*STEADY[:-2], *STEADY.max_changes]]).T)
    return Explainer.of(series, evidence, profiles, np.zeros(rows, dtype=bool))


def test_the_lines_of_a_channel_by_hand() -> None:
    values = np.full(200, LEVEL)
    values[150] = 0
    seen, expected, below, above = channel_lines(explainer(values), 0)
    np.testing.assert_array_equal(seen, values)
    np.testing.assert_array_equal(expected, np.full(200, LEVEL))
    # the very same number in all rows, though sums are seldom exact
    for distance, size in ((below, -1.0), (above, 2.0)):
        assert len(distance) == 200
        assert len(set(distance.tolist())) == 1
        np.testing.assert_allclose(distance, size, atol=1e-9)
    # what is usual is found when it is asked for
    lines = channel_lines(replace(explainer(np.ones(50)), profiles=Any), 0)
    assert next(lines).tolist() == [1.0] * 50


def test_distances_that_differ_are_kept_as_they_are() -> None:
    found = explainer(np.full(200, LEVEL))
    left_out = np.arange(200) < 100
    # two segments, the first of which says nothing of what is usual
    halves = replace(found.series, starts=(0, 100))
    _, expected, below, above = channel_lines(replace(found, series=halves, left_out=left_out), 0)
    assert set(expected.tolist()) == {5.0, LEVEL}
    np.testing.assert_allclose(below, np.where(left_out, -2.0, -1.0), atol=1e-9)
    np.testing.assert_allclose(above, np.where(left_out, 3.0, 2.0), atol=1e-9)


def cause(channel: str, at: Any, seen: float, partner: str | None = None) -> Cause:
    told = f"{channel} went away"
    return Cause(channel, 9.0, at, 0.0, seen, -1.0, 1.0, "out of range", told, partner)


def row_of(*causes: Cause) -> AlarmRow:
    alarm = Alarm(1, None, 0, 9, 0, first=0, last=9, severity=2.0, score=2.0, causes=causes)
    (found,) = alarm_rows([alarm], [series_of()], timelines([series_of()]))
    return found


def series_of() -> TrainSeries:
    values = np.arange(20.0)[:, None] + 100 * np.arange(4)
    values[7, 1] = values[3, 1]
    return TrainSeries(values, channels=("Pump A", "b", "c\nd", "e"))


def test_the_charts_of_an_alarm_by_hand() -> None:
    row = row_of(cause("b", at=7, seen=103.0), cause("Pump A", at=2, seen=2.0))
    assert charts_of(row, series_of()) == [
        {"channel": 1, "told": "went away", "row": 7, "seen": 103.0},
        {"channel": 0, "told": "went away", "row": 2, "seen": 2.0},
    ]
    assert charts_of(row_of(), series_of()) == []


def test_a_cause_whose_value_was_not_seen_there_has_a_chart_without_a_row() -> None:
    missing = replace(cause("b", at=2, seen=102.0), kind="missing")
    by_hand = (cause("b", at=at, seen=seen) for at, seen in ((2, 104.0), (12, 112.0), (3, 104.0)))
    for told in (missing, *by_hand):
        assert charts_of(row_of(told), series_of()) == [{"channel": 1, "told": "went away"}]
    # a name over two lines is not written twice
    over_two = replace(cause("c\nd", 3, 203.0), sentence="c d went away")
    assert [one["told"] for one in charts_of(row_of(over_two), series_of())] == ["went away"]


def test_what_a_channel_parted_from_is_drawn_below_it() -> None:
    parted = cause("Pump A", at=2, seen=2.0, partner="e")
    first, partner, other = charts_of(row_of(parted, cause("b", 3, 103.0)), series_of())
    # with what is usual beside that channel
    assert first == {"channel": 0, "told": "went away", "row": 2, "seen": 2.0, "low": -1, "high": 1}
    assert partner == {"channel": 3, "told": "is what Pump A normally goes with"}
    assert other["channel"] == 1
    # once, and with its own words where it is a cause as well
    both = charts_of(row_of(parted, cause("e", 3, 303.0)), series_of())
    assert [(one["channel"], one["told"]) for one in both] == [(0, "went away"), (3, "went away")]
    again = charts_of(row_of(cause("e", 3, 303.0), parted), series_of())
    assert [one["channel"] for one in again] == [3, 0]


def test_missing_segments_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_segments(series_of()) == {}
    missing = np.zeros((20, 4), dtype=bool)
    missing[2:5, 3] = missing[10:12, 3] = missing[18:, 1] = True
    some = replace(series_of(), missing=missing)
    assert missing_segments(some) == {"1": [(18, 20)], "3": [(2, 5), (10, 12)]}
    monkeypatch.setattr("subadjacent.report.channels.MAX_MISSING_SEGMENTS", 1)
    assert missing_segments(some) == {"3": [(2, 5)]}


def test_there_are_no_more_charts_than_places() -> None:
    names = [f"n{number}" for number in range(10)]
    series = TrainSeries(np.ones((20, 10)), channels=tuple(names))
    causes = [
        cause(name, 1, 9.0, partner=names[number + 5]) for number, name in enumerate(names[:5])
    ]
    row = replace(row_of(), causes=tuple(causes))
    assert len(charts_of(row, series)) == MAX_CHANNELS == 8


def test_charts_of_real_alarms_point_at_the_rows_of_their_sentences(
    assessed: Assessment, alarms: list[Alarm]
) -> None:
    (series,) = assessed.series
    for row in alarm_rows(alarms, [series], timelines([series])):
        charts = charts_of(row, series)
        assert len(charts) >= len(row.causes) > 0
        for one in row.causes:
            number = series.channels.index(one.channel)
            (chart,) = (chart for chart in charts if chart["channel"] == number)
            assert series.label(chart["row"]) == one.at
            assert series.values[chart["row"], number] == one.seen == chart["seen"]


@pytest.mark.parametrize("kind", ["return", "shape change"])
def test_the_band_at_the_row_that_is_told_is_the_range_of_the_sentence(kind: str) -> None:
    case = planted_case(kind, "taxi", 0, Path())
    assert case is not None
    values, fitted = case.background.values, case.background.fitted
    found = SubAdjacentDetector().fit(values[:fitted]).assess(values[fitted:])
    (series,), (evidence,), (profiles,), (decided,) = (
        found.series, found.evidence, found.profiles, found.decisions,
    )  # fmt: skip
    band = Explainer.of(series, evidence, profiles, decided.anomalous).expected_range(0)
    causes = [alarm.causes[0] for alarm in found.alarms()]
    assert causes
    for cause in causes:
        assert (cause.low, cause.high) == (band.low[cause.at], band.high[cause.at])
