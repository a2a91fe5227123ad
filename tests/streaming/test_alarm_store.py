"""What is told of an alarm: once when it opens, then only what is news."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from subadjacent.streaming.alarm_store import MAX_ALARMS_KEPT, AlarmStore, _same
from subadjacent.streaming.alarms import (
    CLOSED,
    OPENED,
    UPDATED,
    AlarmChange,
    LiveAlarm,
    OngoingEvent,
)
from subadjacent.streaming.explanation import profiles_before
from subadjacent.streaming.recent_rows import RecentBuffer, RecentRows

from live_plant import CHANNELS, plant
from subadjacent import InputError
from subadjacent.data.series import TrainSeries
from subadjacent.scoring.baseline_profile import learn_profiles


def spiked() -> RecentBuffer:
    """600 rows, with a jump of the third channel in the last but 10 of them."""
    values = plant(600)
    values[590:592, 2] += 50
    by_channel = np.where(np.abs(values) > 40, 2500.0, 1.0)
    none, rows = np.zeros(values.shape, bool), np.zeros(600, bool)
    recent = RecentBuffer(3)
    recent.add(RecentRows(values, by_channel, none, none, rows, rows), None)
    return recent


def tell(book: AlarmStore, row: int, what: str, severity: float = 2.0, **more: Any) -> Any:
    event = OngoingEvent(590, min(row, 591), severity, number=len(book.alarms) or 1)
    return book.update(AlarmChange(row, what, event, **more), spiked(), None)


def test_an_alarm_says_what_happened_in_the_words_of_a_batch() -> None:
    book = AlarmStore(CHANNELS, "pump")
    alarm = tell(book, 590, OPENED)
    assert isinstance(alarm, LiveAlarm)
    assert (alarm.entity, alarm.first, alarm.kind) == ("pump", 590, "spike")
    assert alarm.sentence == alarm.causes[0].sentence
    assert alarm.sentence.startswith("speed jumped to ")
    assert [cause.at for cause in alarm.causes[:1]] == [590]
    assert book.alarms == [alarm]


def test_a_few_great_steps_are_a_jump_and_no_noise() -> None:
    """A channel with a rhythm, odd for some rows, then far off in one of them and back."""
    values = plant(600)
    values[560:590, 0] += 2.0
    values[590, 0] += 12.0
    by_channel = np.where(np.arange(600)[:, None] >= 590, [50.0, 1, 1], 1.0)
    none, rows = np.zeros(values.shape, bool), np.zeros(600, bool)
    recent = RecentBuffer(3)
    recent.add(RecentRows(values, by_channel, none, none, rows, rows), None)
    book = AlarmStore(CHANNELS, None)
    opened = book.update(
        AlarmChange(590, OPENED, OngoingEvent(590, 590, 2.0, number=1)), recent, None
    )
    closed = book.update(
        AlarmChange(599, CLOSED, OngoingEvent(590, 592, 2.0, number=1)), recent, None
    )
    for alarm in (opened, closed):
        assert alarm is not None
        (cause, *_) = alarm.causes
        assert (alarm.kind, cause.at, cause.seen) == ("spike", 590, values[590, 0])
        assert alarm.sentence.startswith(f"pressure jumped to {values[590, 0]:.1f}")


def test_what_has_no_other_name_is_unlike_the_past_not_unlike_training() -> None:
    book = AlarmStore(CHANNELS, None)
    values = plant(600)
    none, rows = np.zeros(values.shape, bool), np.zeros(600, bool)
    recent = RecentBuffer(3)
    recent.add(RecentRows(values, np.ones(values.shape), none, none, rows, rows), None)
    alarm = book.update(
        AlarmChange(599, OPENED, OngoingEvent(595, 599, 2.0, number=1)), recent, None
    )
    assert alarm is not None
    assert alarm.kind == "unusual"
    assert " was unlike anything before: " in alarm.sentence


def test_only_what_is_news_is_told_again() -> None:
    book = AlarmStore(CHANNELS, None)
    opened = tell(book, 590, OPENED)
    assert tell(book, 591, UPDATED, severity=3.9) is None
    assert book.alarms == [opened]
    assert tell(book, 592, UPDATED, severity=4.0).severity == 4.0
    closed = tell(book, 599, CLOSED, severity=4.0, permanent=True)
    assert (closed.state, closed.last, closed.permanent) == (CLOSED, 591, True)
    assert book.alarms == [closed]


def test_an_alarm_does_not_become_vaguer() -> None:
    book = AlarmStore(CHANNELS, None)
    opened = tell(book, 590, OPENED)
    quiet = spiked()
    for column in (quiet._room.values, quiet._room.by_channel):
        column[:600] = plant(600) if column is quiet._room.values else 1.0
    event = OngoingEvent(590, 599, 2.0, number=1)
    closed = book.update(AlarmChange(599, CLOSED, event), quiet, None)
    assert closed is not None
    assert (closed.kind, closed.sentence) == (opened.kind, opened.sentence)


def test_what_is_usual_is_learned_before_each_alarm_or_known() -> None:
    book = AlarmStore(CHANNELS, None)
    tell(book, 590, OPENED)
    learned = book._learned
    assert learned is not None
    known = AlarmStore(CHANNELS, None, learned)
    assert tell(known, 590, OPENED).sentence == book.alarms[0].sentence
    assert known._learned is None
    again = AlarmStore(CHANNELS, None)
    again.restore(*book.state())
    assert again.alarms == book.alarms
    np.testing.assert_array_equal(again._learned.table, learned.table)


def test_causes_are_those_of_the_rows_of_the_event_alone_and_of_all_its_channels() -> None:
    book = AlarmStore(CHANNELS, None)
    tell(book, 590, OPENED)
    closed = tell(book, 599, CLOSED)
    assert [cause.channel for cause in closed.causes[:1]] == ["speed"]
    assert closed.causes[0].score == 2500.0
    assert {cause.channel for cause in closed.causes} == set(CHANNELS)


def test_another_kind_or_another_first_channel_is_news() -> None:
    book = AlarmStore(CHANNELS, None)
    opened = tell(book, 590, OPENED)
    assert _same(opened, opened)
    assert not _same(opened, replace(opened, kind="drift"))
    assert not _same(opened, replace(opened, causes=opened.causes[::-1]))
    assert not _same(opened, replace(opened, severity=2 * opened.severity))


def test_what_is_usual_is_what_was_before_where_that_is_enough() -> None:
    rows = spiked().until(599)
    few = profiles_before(rows, 39).table
    np.testing.assert_array_equal(few, learn_profiles(TrainSeries(rows.values)).table)
    known = profiles_before(rows, 40).table
    np.testing.assert_array_equal(known, learn_profiles(TrainSeries(rows.values[:40])).table)


def test_rows_of_earlier_alarms_are_not_what_is_usual() -> None:
    values = plant(600)
    values[450:550, 2] += 50
    values[590, 2] -= 50
    by_channel = np.where(np.abs(values) > 40, 2500.0, 1.0)
    none, starts, alarmed = np.zeros(values.shape, bool), np.zeros(600, bool), np.zeros(600, bool)
    alarmed[450:550] = True
    expected = []
    for anomalous in (alarmed, starts):
        recent = RecentBuffer(3)
        recent.add(RecentRows(values, by_channel, none, none, anomalous, starts), None)
        book = AlarmStore(CHANNELS, None, profiles_before(spiked().until(599), 590))
        alarm = book.update(
            AlarmChange(590, OPENED, OngoingEvent(590, 590, 2.0, number=1)), recent, None
        )
        assert alarm is not None
        expected.append(abs(alarm.causes[0].expected))
    assert expected[0] < 5 < expected[1]


def test_what_is_usual_is_learned_anew_before_the_next_alarm() -> None:
    book = AlarmStore(CHANNELS, None)
    tell(book, 590, OPENED)
    first = book._learned
    book.update(AlarmChange(592, UPDATED, OngoingEvent(590, 591, 9.0, number=1)), spiked(), None)
    assert book._learned is first
    tell(book, 590, OPENED)
    assert book._learned is not first


def test_an_alarm_began_when_it_began_though_its_first_row_is_forgotten() -> None:
    book, recent = AlarmStore(CHANNELS, None), spiked()
    opened = book.update(
        AlarmChange(590, OPENED, OngoingEvent(590, 590, 2.0, number=1)), recent, None
    )
    values = plant(1000)
    none, rows = np.zeros(values.shape, bool), np.zeros(1000, bool)
    recent.add(RecentRows(values, np.ones(values.shape), none, none, rows, rows), None)
    event = OngoingEvent(590, 1590, 2.0, number=1)
    closed = book.update(AlarmChange(1599, CLOSED, event), recent, None)
    assert opened is not None
    assert closed is not None
    assert (closed.first, closed.start, closed.end) == (590, 590, 1590)


def test_the_last_hundred_are_remembered_and_found_by_number() -> None:
    book = AlarmStore(CHANNELS, None)
    for number in range(1, MAX_ALARMS_KEPT + 3):
        event = OngoingEvent(590, 590, 2.0, number=number)
        book.update(AlarmChange(590, OPENED, event), spiked(), None)
    assert len(book.alarms) == MAX_ALARMS_KEPT
    assert book.find(3).number == 3
    with pytest.raises(InputError, match=r"\(3 to 102\); got 2"):
        book.find(2)
