"""One series as it comes, over the whole chain."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from live_plant import CHANNELS, broken, gappy, plant
from subadjacent import InputError
from subadjacent.decision.kinds import DECOUPLED
from subadjacent.decision.machine import CLOSED, OPENED
from subadjacent.decision.severity import SILENT_SEVERITY
from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.method import State
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.rules import AlarmRules
from subadjacent.streaming.series import SeriesStream

Detectors = dict[str, BaseDetector]
KINDS = [None, "default", "causal"]


def stop_and_go(stream: SeriesStream, detector: BaseDetector | None) -> SeriesStream:
    """The same stream after it was saved as files hold it, and restored."""
    state = stream.state()
    arrays = {name: array.copy() for name, array in state.arrays.items()}
    return SeriesStream.restore(State(arrays, json.loads(json.dumps(state.facts))), detector)


def follow(
    detector: BaseDetector | None, sizes: list[int], *, stops: bool = False
) -> tuple[list[Answer], SeriesStream]:
    rows, stream = broken(), SeriesStream(CHANNELS, detector)
    times = [f"2026-01-01T{n // 60:02d}:{n % 60:02d}" for n in range(len(rows))]
    answers: list[Answer] = []
    begin = turn = 0
    while begin < len(rows):
        part = slice(begin, begin + sizes[turn % len(sizes)])
        answers += stream.push(rows[part], times[part])
        if stops:
            stream = stop_and_go(stream, detector)
        begin, turn = part.stop, turn + 1
    return answers + stream.finish(), stream


def alike(found: list[Answer], expected: list[Answer]) -> None:
    """The same answers, in whatever order provisional and final ones come."""
    found, expected = (sorted(one, key=lambda a: (a.row, a.final)) for one in (found, expected))
    for name in ("row", "time", "entity", "final", "anomalous"):
        assert [getattr(one, name) for one in found] == [getattr(one, name) for one in expected]
    for name in ("score", "severity", "warm_up", "by_channel", "expected", "low", "high"):
        first, second = ([getattr(one, name) for one in many] for many in (found, expected))
        np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-9, err_msg=name)
    told = [[_told(one.alarm) for one in many if one.alarm] for many in (found, expected)]
    assert told[0] == told[1]


def _told(alarm: Any) -> tuple[Any, ...]:
    return (alarm.number, alarm.state, alarm.first, alarm.last, alarm.kind, alarm.sentence)


@pytest.mark.parametrize("kind", KINDS)
def test_grouping_and_stopping_change_nothing(kind: str | None, detectors: Detectors) -> None:
    detector = None if kind is None else detectors[kind]
    expected, whole = follow(detector, [10_000])
    found, parts = follow(detector, [1, 37, 300], stops=True)
    alike(found, expected)
    assert parts.counts == whole.counts
    assert [_told(alarm) for alarm in parts.alarms] == [_told(alarm) for alarm in whole.alarms]
    assert parts.rows == 1200


@pytest.mark.parametrize("kind", KINDS[:2])
def test_grouping_changes_nothing_where_there_are_long_gaps(
    kind: str | None, detectors: Detectors
) -> None:
    detector = None if kind is None else detectors[kind]
    frame = gappy()
    whole, parts = SeriesStream(CHANNELS, detector), SeriesStream(CHANNELS, detector)
    expected = whole.push(frame.to_numpy(), list(frame.index)) + whole.finish()
    found = [
        answer
        for time, row in zip(frame.index, frame.to_numpy(), strict=True)
        for answer in parts.push(row, [time])
    ]
    alike(found + parts.finish(), expected)


def test_a_row_has_an_answer_at_once_and_a_final_one(detectors: Detectors) -> None:
    stream = SeriesStream(CHANNELS, detectors["default"])
    answers = stream.push(plant(5))
    assert [(one.row, one.final) for one in answers] == [(row, False) for row in range(5)]
    assert [(one.row, one.final) for one in stream.finish()] == [(row, True) for row in range(5)]
    assert stream.finish() == []


def test_without_a_final_model_every_answer_is_final(detectors: Detectors) -> None:
    rows = plant(4)
    rows[1, 0] = np.nan
    for detector in (None, detectors["causal"]):
        answers = SeriesStream(CHANNELS, detector, entity="pump").push(rows)
        assert [(one.final, one.entity, one.time) for one in answers] == [(True, "pump", None)] * 4
        assert answers[0].by_channel.shape == answers[0].low.shape == (3,)


def calm_then(*rows: Any, **options: Any) -> tuple[SeriesStream, list[Answer]]:
    """500 normal rows, whatever the learner makes of the first of them, then others."""
    stream = SeriesStream(CHANNELS, **options)
    stream.push(plant(500))
    return stream, [answer for part in rows for answer in stream.push(part)]


def opened(answers: list[Answer]) -> list[Any]:
    return [one.alarm for one in answers if one.alarm and one.alarm.state == OPENED]


def test_a_spike_is_an_alarm_that_opens_and_closes_with_a_sentence() -> None:
    rows = plant(620)[500:]
    rows[2, 2] += 60
    _, answers = calm_then(rows)
    (alarm,) = opened(answers)
    assert (alarm.first, alarm.start, alarm.kind) == (502, 502, "spike")
    assert alarm.sentence.startswith("speed jumped to")
    assert answers[2].alarm is alarm
    assert answers[2].anomalous
    assert not answers[1].anomalous
    (closed,) = [one.alarm for one in answers if one.alarm and one.alarm.state == CLOSED]
    assert (closed.number, closed.first, closed.permanent) == (alarm.number, 502, False)


def test_a_channel_that_is_missing_for_long_is_an_alarm_from_its_first_missing_row() -> None:
    rows = plant(530)[500:]
    rows[3:, 1] = np.nan
    stream, answers = calm_then(rows)
    (alarm,) = opened(answers)
    assert (alarm.kind, alarm.first, alarm.last) == ("missing", 503, 513)
    assert alarm.sentence == "flow was missing for 11 rows"
    assert [one.anomalous for one in answers[11:16]] == [False, False, True, True, True]
    assert answers[13].severity == pytest.approx(2, abs=1)
    assert all(one.by_channel[1] == 0 for one in answers[13:])
    assert stream.alarms[-1].causes[0].channel == "flow"


def test_a_short_gap_is_no_alarm() -> None:
    rows = plant(530)[500:]
    rows[3:13, 1] = rows[2, 1]
    rows[3:13, 1] = np.nan
    _, answers = calm_then(rows[:13])
    assert opened(answers) == []


def test_a_whole_row_without_values_is_taken() -> None:
    _, answers = calm_then(np.full((5, 3), np.nan))
    assert [one.row for one in answers] == list(range(500, 505))
    assert opened(answers) == []


def test_a_stuck_channel_is_an_alarm_from_its_first_equal_row() -> None:
    rows = plant(540)[500:]
    rows[:, 2] = 0.5
    _, answers = calm_then(rows)
    (alarm,) = opened(answers)
    assert (alarm.kind, alarm.first) == ("stuck", 500)
    assert alarm.sentence == "speed flatlined at 0.5 for 20 rows"
    assert answers[19].alarm is alarm


def test_a_channel_that_says_nothing_is_news_once_and_its_alarm_stays_open() -> None:
    rows = plant(560)[500:]
    rows[:, 2] = 0.5
    _, answers = calm_then(rows)
    severe = [one.row for one in answers if one.severity >= SILENT_SEVERITY]
    assert severe == [519]
    assert all(one.anomalous for one in answers[19:])


def test_what_lasts_is_closed_for_good_and_normal_from_then_on() -> None:
    rows = plant(2000)[500:]
    rows[:, 2] += 60
    stream, answers = calm_then(rows)
    (alarm,) = opened(answers)
    closed = stream.alarms[-1]
    assert (closed.first, closed.state) == (500, CLOSED)
    # 300 rows until it is normal, 30 until it is closed
    assert not any(one.anomalous for one in answers[340:])
    assert closed.sentence.startswith("speed shifted up to 6")
    assert alarm.number == closed.number


def test_an_open_alarm_that_is_accepted_is_closed_and_learned_from() -> None:
    rows = plant(1000)[500:]
    rows[:, 2] += 60
    stream, answers = calm_then(rows[:100])
    (alarm,) = opened(answers)
    accepted = stream.accept(alarm.number)
    assert (accepted.state, accepted.permanent, accepted.last) == (CLOSED, True, 599)
    assert stream.alarms[-1] == accepted
    assert opened(stream.push(rows[100:])) == []


def test_a_closed_alarm_that_is_accepted_is_no_alarm_again() -> None:
    rows = plant(800)[500:]
    rows[:100, 2] += 60
    stream, answers = calm_then(rows)
    (alarm,) = opened(answers)
    assert stream.alarms[-1].state == CLOSED
    assert stream.accept(alarm.number).permanent
    with pytest.raises(InputError, match=r"^number must be that of an alarm"):
        stream.accept(99)


def test_rows_of_a_closed_alarm_that_is_accepted_are_learned_from() -> None:
    rows = plant(900)[500:]
    rows[:100, 2] += 60
    stream, answers = calm_then(rows[:200])
    before = stream.state().arrays
    stream.accept(opened(answers)[0].number)
    after = stream.state().arrays
    assert any(not np.array_equal(before[name], after[name]) for name in before)


def test_what_is_missing_now_is_not_normal_because_an_older_alarm_is() -> None:
    rows = plant(2700)[500:]
    rows[2, 2] += 60
    rows[2100:, 1] = np.nan
    # 11 rows: one more than may be missing
    stream, answers = calm_then(rows[:2111])
    spike, missing = opened(answers)
    assert missing.kind == "missing"
    stream.accept(spike.number)
    found = stream.push(rows[2111:])
    assert all(one.anomalous for one in found)


def test_what_comes_after_training_may_come_any_time_after_it(detectors: Detectors) -> None:
    rows = plant(40)
    rows[:, 2] += 500
    answers = SeriesStream(CHANNELS, detectors["pca"]).push(rows)
    assert {one.severity for one in answers if one.row < 16} == {0.0}


def test_in_rows_before_its_first_value_a_channel_is_what_it_is_then() -> None:
    rows = plant(200)
    rows[:150, 1] = np.nan
    stream = SeriesStream(CHANNELS)
    stream.push(rows)
    kept = stream._assessor.recent.until(199).values
    np.testing.assert_array_equal(kept[:150, 1], np.full(150, rows[150, 1]))


def test_a_budget_by_time_needs_dates() -> None:
    stream = SeriesStream(CHANNELS, rules=AlarmRules(contamination="1/week"))
    for times in (None, [1, 2, 3]):
        with pytest.raises(InputError, match=r"^contamination must be a share of the rows where"):
            stream.push(plant(3), times)
    assert stream.rows == 0
    assert len(stream.push(plant(3), ["2026-01-01", "2026-01-02", "2026-01-03"])) == 3


def test_an_alarm_says_how_long_in_time_where_rows_have_dates() -> None:
    rows = plant(530)
    rows[503:, 1] = np.nan
    stream = SeriesStream(CHANNELS)
    (alarm,) = opened(
        stream.push(rows, list(pd.date_range("2026-01-01", periods=530, freq="1min")))
    )
    assert alarm.sentence == "flow was missing for 11 min"


def test_a_channel_that_speaks_late_raises_no_alarm() -> None:
    rows = plant(900)
    rows[:400, 1] = np.nan
    stream = SeriesStream(CHANNELS, rules=AlarmRules(adapt_after=50))
    answers = stream.push(rows)
    assert [alarm for alarm in opened(answers) if alarm.first >= 100] == []
    one_by_one = SeriesStream(CHANNELS, rules=AlarmRules(adapt_after=50))
    alike([answer for row in rows for answer in one_by_one.push(row)], answers)


def test_late_rows_and_duplicates_have_no_answer_and_are_counted() -> None:
    stream = SeriesStream(CHANNELS)
    answers = stream.push(plant(5), [1, 2, 2, 1, 3])
    assert [(one.row, one.time) for one in answers] == [(0, 1), (1, 2), (2, 3)]
    assert (stream.counts.late, stream.counts.duplicates) == (1, 1)


def test_infinite_values_are_missing_ones() -> None:
    rows = plant(3)
    rows[1, 2] = np.inf
    missing = rows.copy()
    missing[1, 2] = np.nan
    alike(SeriesStream(CHANNELS).push(rows), SeriesStream(CHANNELS).push(missing))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[1, 2, 1e101]], "1e\\+100 in magnitude; column 'speed' is 1e\\+101 at row 0"),
        ([[1, 2]], "must have 3 values each"),
        ([[1, 2, "x"]], "must hold numbers"),
        ([[[1, 2, 3]]], "must have 3 values each"),
    ],
)
def test_bad_rows_are_refused_and_none_is_taken(rows: Any, said: str) -> None:
    stream = SeriesStream(CHANNELS)
    with pytest.raises(InputError, match=said):
        stream.push(rows)
    assert stream.rows == 0


def test_a_refused_time_names_the_series() -> None:
    stream = SeriesStream(CHANNELS, entity="pump")
    stream.push(plant(1), [1])
    with pytest.raises(InputError, match="one kind for all rows of 'pump'; got none"):
        stream.push(plant(1))
    assert stream.push(np.zeros((0, 3))) == []


def test_no_rows_have_no_answers() -> None:
    assert SeriesStream(CHANNELS).push(np.zeros((0, 3))) == []
    assert SeriesStream(CHANNELS).push([]) == []


def test_state_does_not_grow_with_rows(detectors: Detectors) -> None:
    def size(stream: SeriesStream) -> int:
        state = stream.state()
        return sum(array.nbytes for array in state.arrays.values()) + len(json.dumps(state.facts))

    for detector in (None, detectors["default"]):
        stream = SeriesStream(CHANNELS, detector)
        stream.push(plant(4200))
        before = size(stream)
        stream.push(plant(800, seed=5))
        assert size(stream) < 1.02 * before


def test_a_stream_is_restored_with_a_detector_if_it_had_one(detectors: Detectors) -> None:
    with_one = SeriesStream(CHANNELS, detectors["pca"]).state()
    with pytest.raises(InputError, match=r"^detector must be there"):
        SeriesStream.restore(with_one)
    with pytest.raises(InputError, match=r"^detector must be there"):
        SeriesStream.restore(SeriesStream(CHANNELS).state(), detectors["pca"])


def test_a_detector_of_other_channels_is_refused(detectors: Detectors) -> None:
    with pytest.raises(InputError, match=r"^channels must be the 3 that"):
        SeriesStream(["a"], detectors["pca"])


@pytest.mark.parametrize("kind", KINDS)
def test_an_alarm_quotes_the_range_that_was_answered(
    kind: str | None, detectors: Detectors
) -> None:
    answers, _ = follow(None if kind is None else detectors[kind], [100])
    ranges = {answer.time: (answer.low, answer.high) for answer in answers}
    alarms = [answer.alarm for answer in answers if answer.alarm is not None]
    causes = [cause for alarm in alarms for cause in alarm.causes if cause.kind != DECOUPLED]
    # a model's range is told before it is known which rows were anomalous
    beside = 0.0 if kind is None else 0.5
    assert causes
    for cause in causes:
        low, high = (edge[CHANNELS.index(cause.channel)] for edge in ranges[cause.at])
        nearly = beside * (cause.high - cause.low) + 1e-9
        assert (cause.low, cause.high) == (
            pytest.approx(low, abs=nearly),
            pytest.approx(high, abs=nearly),
        )
        if cause.seen > cause.high:
            assert cause.seen > high
